package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/attack/forge"
)

// judged returns what the rows of a plan fall short of.
func judged(p *Plan, r Row) (failed []requirement) {
	r.judge(p)
	for _, v := range r.Verdicts {
		if v.Judged && !v.OK {
			failed = append(failed, v.What)
		}
	}
	return failed
}

// calm is a row in which nothing is wrong.
func calm(kind attackKind) Row {
	return Row{
		Spec: Spec{Kind: kind, Name: "an attack", Rate: 10_000}, Arrived: 10_000, CPU: time.Microsecond, Took: time.Second,
		Before: time.Millisecond, During: 2 * time.Millisecond, Joins: 3, Slowest: time.Millisecond,
	}
}

func TestEveryHarmIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		kind attackKind
		harm func(r *Row)
		want requirement
	}{
		"a crash":              {byPeer, func(r *Row) { r.Broken = "it is gone" }, reqBroken},
		"a lost session":       {byStranger, func(r *Row) { r.Lost = []string{"why"} }, reqLost},
		"a forged end":         {byForger, func(r *Row) { r.Lost = []string{"why"} }, reqForged},
		"a silent session":     {byVector, func(r *Row) { r.Silent = 1 }, reqAnswers},
		"too long an answer":   {byStranger, func(r *Row) { r.Answered, r.OutPerIn = forge.Handshake, 1.01 }, reqOut},
		"too many pongs":       {byStranger, func(r *Row) { r.Answered, r.Pongs = forge.Pong, 90 }, reqPongs},
		"spoofed pongs":        {byStranger, func(r *Row) { r.Answered, r.Spoofed, r.Pongs = forge.Pong, true, 8001 }, reqPongs},
		"memory of strangers":  {byStranger, func(r *Row) { r.Left = 6 << 20 }, reqSources},
		"half-open handshakes": {byStranger, func(r *Row) { r.Name, r.HalfOpen = "half-open", 4097 }, reqHalfOpen},
		"slow lorises":         {byLoris, func(r *Row) { r.Connects, r.HalfOpen = 5000, 100 }, reqHalfOpen},
		"dear datagrams":       {byPeer, func(r *Row) { r.CPU = 51 * time.Microsecond }, reqCPU},
		"a slow flood":         {byStranger, func(r *Row) { r.During = 4 * time.Millisecond }, reqDelayFlood},
		"a slow peer":          {byPeer, func(r *Row) { r.During = 7 * time.Millisecond }, reqDelayPeer},
		"a shut door":          {byStranger, func(r *Row) { r.Failed = 1 }, reqJoin},
		"a slow door":          {byStranger, func(r *Row) { r.Slowest = 2 * time.Second }, reqJoin},
		"too much resent":      {byPeer, func(r *Row) { r.Resent = 1.1 }, reqResent},
		"a fat session":        {byPeer, func(r *Row) { r.Fills, r.Heap = forge.Unread, 9<<20 }, reqMemory},
		"no end":               {byPeer, func(r *Row) { r.MustEnd = "an error" }, reqEnds},
		"a dead dialer":        {byServer, func(*Row) {}, reqVictim},
		"a fat dialer":         {byServer, func(r *Row) { r.Dial = &Dial{Clear: true, Peak: 90 << 20} }, reqVictimMemory},
		"an unclear error":     {byServer, func(r *Row) { r.Dial = &Dial{Error: "hm"} }, reqClear},
	} {
		r := calm(c.kind)
		if c.kind == byLoris {
			r.Connects = 5000
		}
		if c.kind != byServer {
			require.Empty(t, judged(fullPlan(), r), name)
		}
		c.harm(&r)
		require.Equal(t, []requirement{c.want}, judged(fullPlan(), r), name)
		r.judge(fullPlan())
		require.False(t, r.ok())
		require.NotEmpty(t, r.failures())
	}
}

// On a shared machine nobody is blamed for what its speed decides.
func TestTheShortFormJudgesNoTimes(t *testing.T) {
	r := calm(byStranger)
	r.CPU, r.During, r.Slowest = time.Second, time.Second, time.Minute
	require.Equal(t, []requirement{reqCPU, reqDelayFlood, reqJoin}, judged(fullPlan(), r))
	require.Empty(t, judged(quickPlan(), r))
}

// As fast as it goes, attackers take the server's processors: then sessions must live, and no more.
func TestDelaysAreNotJudgedAtTheHighestRate(t *testing.T) {
	r := calm(byStranger)
	r.Rate, r.During = 0, time.Second
	require.Empty(t, judged(fullPlan(), r))
	r.Lost = []string{"why"}
	require.Equal(t, []requirement{reqLost}, judged(fullPlan(), r))
}

func TestWhatAFewDatagramsCostIsNotJudged(t *testing.T) {
	r := calm(byPeer)
	r.CPU, r.Arrived, r.Took = time.Millisecond, 2400, 36*time.Second
	require.Empty(t, judged(fullPlan(), r))
	r.Took = 2 * time.Second
	require.Equal(t, []requirement{reqCPU}, judged(fullPlan(), r))
}
