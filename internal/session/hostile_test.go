package session

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/hostile"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

func connectedVectors(t testing.TB) []hostile.Vector {
	t.Helper()
	all, err := hostile.Load(hostile.ServerConnected, hostile.ClientConnected)
	require.NoError(t, err)
	require.Greater(t, len(all), 90)
	return all
}

// stage is a connection in the state that a vector asks for, see the file's states.
type stage struct {
	*rig
	first uint32 // datagram number of the oldest of the user messages sent
	user  int    // how many user messages are out, unacknowledged, one in a datagram each
}

func stageOf(t testing.TB, v *hostile.Vector, limits arq.Limits) *stage {
	t.Helper()
	switch {
	case v.Context == hostile.ClientConnected:
		r := newRig(t, Config{Side: Client, ARQ: arq.Config{Limits: limits}})
		r.forget()
		return &stage{rig: r}
	case v.State == "handshaking":
		return &stage{rig: newRig(t, Config{Side: Server, ARQ: arq.Config{Limits: limits}})}
	}
	var cfg Config
	s := &stage{first: 2, user: 2}
	acked := 1 // user messages that were acknowledged
	switch v.State {
	case "next datagram fffffe, reliable fffffe, order fffffe":
		cfg.ARQ = arq.Config{FirstDatagram: 0xfffffc, FirstReliable: 0xfffffc, FirstOrder: 0xfffffc}
		s.first = 0xfffffe
	case "sent fffffe..000001 outstanding":
		cfg.ARQ = arq.Config{FirstDatagram: 0xfffffd, FirstReliable: 0xfffffd}
		s.first, s.user, acked = 0xfffffe, 4, 0
	case "":
	default:
		t.Fatalf("unknown state %q", v.State)
	}
	cfg.ARQ.Limits = limits
	s.rig = connectedServer(t, cfg)
	s.autoAck = false
	for i := range acked + s.user {
		m := arq.Message{Payload: []byte{0xfe, 'u', byte(i)}, Reliability: protocol.Reliable}
		require.NoError(t, s.Send(s.now, &m))
		s.settle()
		if i < acked {
			s.raw(ack((s.first - uint32(acked) + uint32(i)) & 0xffffff))
		}
	}
	require.Len(t, s.frames, acked+s.user)
	s.forget()
	return s
}

func TestHostileVectors(t *testing.T) {
	for _, v := range connectedVectors(t) {
		t.Run(v.ID, func(t *testing.T) {
			s := stageOf(t, &v, arq.Limits{})
			o := outcome{stage: s, vector: &v, before: s.State(), heard: s.LastHeard()}
			s.now = s.now.Add(time.Millisecond)
			for _, d := range v.Datagrams {
				o.verdicts = append(o.verdicts, s.raw(d))
			}
			o.atOnce = len(s.frames)
			s.after(20 * time.Millisecond) // delayed ACKs
			if !o.judge(t, v.Expect) {
				t.Errorf("%s\nexpect %s\nverdicts %v, acked %x, delivered %x, state %v (%v), nacks %d, frames %s", v.Why, v.Expect,
					o.verdicts, s.acked, s.messages, s.State(), s.Err(), s.nacks, ids(s.frames))
			}
		})
	}
}

func ids(frames []wire.Frame) string {
	s := ""
	for _, f := range frames {
		s += fmt.Sprintf(" %02x", f.Payload[0])
	}
	return s
}

// outcome is what came of a vector.
type outcome struct {
	*stage
	vector   *hostile.Vector
	verdicts []arq.Verdict
	before   State
	heard    monotime.Time
	atOnce   int // frames sent in direct answer
}

// judge evaluates an expectation: parts joined by ";" must all hold, of parts
// joined by "|" one must, and "," joins again what must all hold.
func (o *outcome) judge(t *testing.T, expect string) bool {
	for _, part := range strings.Split(expect, ";") {
		if !slices.ContainsFunc(strings.Split(part, "|"), func(alternative string) bool {
			return o.all(t, alternative)
		}) {
			return false
		}
	}
	return true
}

var listItem = regexp.MustCompile(`^([0-9a-f]{2})+$|^\d$`)

func (o *outcome) all(t *testing.T, alternative string) bool {
	alternative = strings.ReplaceAll(alternative, " then ", ",")
	var terms []string
	for _, term := range strings.Split(alternative, ",") {
		term = strings.TrimSpace(term)
		if listItem.MatchString(term) && len(terms) > 0 { // the next item of a list
			terms[len(terms)-1] += "," + term
		} else {
			terms = append(terms, term)
		}
	}
	for _, term := range terms {
		if !o.holds(t, term) {
			return false
		}
	}
	return true
}

func (o *outcome) holds(t *testing.T, term string) bool {
	alive := o.State() == Handshaking || o.State() == Connected
	name, arg, _ := strings.Cut(term, ":")
	switch {
	case name == "ack" || name == "reack":
		return alive && o.acksAll(true)
	case name == "drop-datagram":
		return alive && o.acksAll(false) && len(o.messages) == 0 && o.counted()
	case name == "drop-message":
		return o.State() == o.before && o.acksAll(true) && len(o.messages) == 0 && (len(o.vector.Datagrams) > 1 || o.atOnce == 0)
	case name == "deliver-none":
		return len(o.messages) == 0
	case name == "deliver":
		var got []string
		for _, m := range o.messages {
			got = append(got, hex.EncodeToString([]byte(m)))
		}
		return slices.Equal(got, strings.Split(arg, ","))
	case name == "frame":
		return o.sends(arg)
	case term == "session lives":
		return alive
	case term == "connected":
		return o.State() == Connected && len(o.events) == 1
	case term == "close":
		return o.closedWith() == ErrDisconnected
	case term == "error:refused":
		return o.closedWith() == ErrRefused
	case term == "nack<=1 datagram":
		return o.nacks <= 1
	case name == "release":
		return o.releases(t, strings.Split(arg, ","))
	case term == "ignore":
		return alive && len(o.frames) == 0 && len(o.messages) == 0
	case name == "reply" || term == "drop": // not for a connection: no effect, no sign of life
		return alive && len(o.out) == 0 && o.LastHeard() == o.heard
	case strings.HasPrefix(term, "resend"): // within the window, and each once
		return alive && len(o.frames) <= o.user
	case term == "bounded":
		return true // finish checks that memory comes back; the engine's tests measure it
	}
	t.Fatalf("unknown term %q", term)
	return false
}

// acksAll reports whether all frame sets of the vector were acknowledged, or none.
func (o *outcome) acksAll(want bool) bool {
	for _, d := range o.vector.Datagrams {
		if wire.Classify(d) == wire.KindFrameSet && slices.Contains(o.acked, wire.Uint24(d[1:])) != want {
			return false
		}
	}
	return true
}

// counted reports whether the drop shows in a counter.
func (o *outcome) counted() bool {
	var s Stats
	o.Stats(&s)
	return s.Violations+s.DatagramsRefused > 0
}

func (o *outcome) sends(arg string) bool {
	id, rest, _ := strings.Cut(arg, " ")
	number, _ := strconv.ParseUint(id, 16, 8)
	n := o.count(protocol.ID(number))
	switch rest {
	case "":
		return n >= 1
	case "once":
		return n == 1
	case "at most 2":
		return n == 1 || n == 2
	case "once or again":
		return n >= 1 && n <= maxRepeats
	case "rate-limited":
		return n >= 1 && n <= pongBurst+1
	}
	return false
}

// releases reports whether exactly the given datagrams' frames are not sent again.
func (o *outcome) releases(t *testing.T, numbers []string) bool {
	want := map[uint32]bool{}
	for _, s := range numbers {
		n, err := strconv.ParseUint(s, 16, 24)
		require.NoError(t, err)
		want[uint32(n)] = true
	}
	o.after(3 * time.Second)
	resent := map[byte]bool{}
	for _, f := range o.frames {
		if f.Payload[0] == 0xfe {
			resent[f.Payload[2]] = true
		}
	}
	oldest := byte(1)
	if o.user == 4 {
		oldest = 0
	}
	for i := range o.user {
		if resent[oldest+byte(i)] == want[(o.first+uint32(i))&0xffffff] {
			return false
		}
	}
	return true
}
