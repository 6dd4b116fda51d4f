package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/raknet-go/raknet/internal/attack/forge"
)

// What must be reached.
const (
	// mostOut is how many bytes may leave for one that came from an address without a session.
	mostOut = 1.0
	// sourceMemory is how much the memory of the process may have grown after floods from strangers,
	// however many addresses they came from: nothing is remembered of any. It is what the
	// runtime and the system do by themselves.
	sourceMemory = 5 << 20
	// mostCPU is what one datagram may cost, and leastArrived how many a second must have come to say so: half a
	// percent of a processor, by which the same server differs from itself, is 5 us of each of these.
	mostCPU      = 50 * time.Microsecond
	leastArrived = 1000
	// slowdown is how much longer the delay of real sessions may become during a flood of strangers, and
	// addedDelay how much longer in absolute terms while a peer attacks. Below leastDelay the
	// clock and the scheduler of the machine say more than the library.
	slowdown   = 3
	addedDelay = 5 * time.Millisecond
	leastDelay = time.Millisecond
	// slowestJoin is how long a new client may take.
	slowestJoin = time.Second
	// judgedRate is the highest rate at which delays are judged. Faster attackers take the
	// processors that the server would have.
	judgedRate = 100_000
	// mostHalfOpen is the bound on half-open connections.
	mostHalfOpen = 4096
	// halfOpenMemory is what one of them may take.
	halfOpenMemory = 4 << 10
	// memorySlack is by how much the memory of a session may exceed its budget: the send buffer counts bytes, whose
	// buffers and records take a fifth more. memoryFree is what nobody counts: the receive buffers that the first
	// unread messages lie in, and what the program itself needs for the attack.
	memorySlack = 1.2
	memoryFree  = 2 << 20
	// runtimeMemory is what a process needs beside what GOMEMLIMIT counts: the program itself.
	runtimeMemory = 16 << 20
)

// budget is what a session may take whose limit of this kind is full. With none it may be any of them.
func budget(b forge.Bound) int64 {
	// The defaults of raknet.Limits; the send buffer grows as far as acknowledgements allow.
	const reassembly, held, unread, unacked = 12 << 20, 28 << 20, 4 << 20, 20 << 20
	switch b {
	case forge.Reassembly:
		return reassembly
	case forge.Held:
		return held
	case forge.Unread:
		return unread
	case forge.Unacked:
		return unacked
	}
	return reassembly + held + unread + unacked
}

func allowed(b forge.Bound) int64 { return int64(float64(budget(b))*memorySlack) + memoryFree }

// Verdict is whether something that must be reached was.
type Verdict struct {
	What   requirement
	Value  float64 // what was measured
	OK     bool
	Judged bool // else it depends on the machine, and is only shown
}

// requirement is one of the things that must be reached, by its number in requirements.
type requirement int

const (
	reqBroken requirement = iota
	reqLost
	reqAnswers
	reqOut
	reqPongs
	reqSources
	reqHalfOpen
	reqCPU
	reqDelayFlood
	reqDelayPeer
	reqJoin
	reqResent
	reqMemory
	reqEnds
	reqForged
	reqVictim
	reqVictimMemory
	reqClear
)

// requirements tells each in words, with the unit of its value.
var requirements = []struct{ text, unit string }{
	reqBroken:       {"no process crashed or stopped answering", ""},
	reqLost:         {"real sessions lost", ""},
	reqAnswers:      {"real sessions that got no answer afterwards", ""},
	reqOut:          {"bytes out for one in, before an address is proven: at most 1", ""},
	reqPongs:        {"pongs, as a share of what their budget allows: at most 1", ""},
	reqSources:      {"memory left by strangers, from however many addresses: at most 5 MB", "MB"},
	reqHalfOpen:     {"half-open connections: at most 4096, of at most 4 KiB", ""},
	reqCPU:          {"CPU for one hostile datagram: at most 50 us", "us"},
	reqDelayFlood:   {"p99 of real sessions during a flood of strangers: at most 3 times that before (or 3 ms)", "x"},
	reqDelayPeer:    {"p99 of real sessions while a peer attacks: at most 5 ms more than before", "ms"},
	reqJoin:         {"the slowest new client during a flood: at most 1 s", "s"},
	reqResent:       {"bytes resent within a round trip, as a share of the congestion window: at most 1", ""},
	reqMemory:       {"memory of a hostile session, as a share of its budget: at most 1", ""},
	reqEnds:         {"a session that is not read, or not acknowledged, ends with an error of its own", ""},
	reqForged:       {"real sessions lost to forged datagrams", ""},
	reqVictim:       {"dialers that crashed", ""},
	reqVictimMemory: {"memory of a dialer: at most 64 MiB, and the program", "MB"},
	reqClear:        {"dials that ended without an error that a program can tell", ""},
}

const mega = 1e6

// judge says what was reached.
func (r *Row) judge(p *Plan) {
	add := func(what requirement, value float64, ok bool) {
		r.Verdicts = append(r.Verdicts, Verdict{what, value, ok, true})
	}
	timed := func(what requirement, value float64, ok bool) {
		r.Verdicts = append(r.Verdicts, Verdict{what, value, ok, !p.Quick})
	}
	if r.Kind == byServer {
		r.judgeVictim(add)
		return
	}
	add(reqBroken, float64(count(r.Broken != "")), r.Broken == "")
	if r.Broken != "" {
		return
	}
	lost := reqLost
	if r.Kind == byForger {
		lost = reqForged
	}
	add(lost, float64(len(r.Lost)), len(r.Lost) == 0)
	add(reqAnswers, float64(r.Silent), r.Silent == 0)
	if float64(r.Arrived) >= leastArrived*r.Took.Seconds() {
		us := float64(r.CPU) / float64(time.Microsecond)
		timed(reqCPU, us, r.CPU <= mostCPU)
	}
	fast := r.Rate == 0 || r.Rate > judgedRate
	switch r.Kind {
	case byStranger, byForger:
		r.judgeStranger(add)
		before := max(r.Before, leastDelay)
		if !fast {
			timed(reqDelayFlood, float64(r.During)/float64(before), r.During <= slowdown*before)
		}
	default:
		added := r.During - r.Before
		if !r.Brief && r.During > 0 {
			timed(reqDelayPeer, float64(added)/float64(time.Millisecond), added <= addedDelay)
		}
		if !r.Brief {
			add(reqMemory, float64(r.Heap)/float64(allowed(r.Fills)), r.Heap <= allowed(r.Fills))
		}
		if r.Resent > 0 {
			add(reqResent, r.Resent, r.Resent <= 1)
		}
	}
	if r.Joins > 0 && !fast {
		timed(reqJoin, r.Slowest.Seconds(), r.Failed == 0 && r.Slowest <= slowestJoin)
	}
	if r.Kind == byLoris {
		judge := add
		if r.Connects < mostHalfOpen {
			judge = timed // how many come in the time is a matter of the machine
		}
		judge(reqHalfOpen, float64(r.HalfOpen), r.HalfOpen <= 1 && r.Connects >= mostHalfOpen) // a new client may be one
	}
	if r.MustEnd != "" {
		add(reqEnds, float64(r.Ends[r.MustEnd]), r.Ends[r.MustEnd] > 0)
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// judgeStranger judges what an address got without proof.
func (r *Row) judgeStranger(add func(what requirement, value float64, ok bool)) {
	switch {
	case r.Kind == byForger && strings.Contains(r.Name, "requests"):
		// pings are among them, so that their budget is what bounds the bytes
	case r.Answered == forge.Pong:
		rate, burst := 20.0, 40.0 // of one network
		if r.Spoofed {
			rate, burst = 2000, 4000
		}
		most := burst + rate*math.Ceil(r.Took.Seconds()+0.1)
		add(reqPongs, float64(r.Pongs)/most, float64(r.Pongs) <= most)
	case r.Kind == byStranger:
		add(reqOut, r.OutPerIn, r.OutPerIn <= mostOut)
	}
	switch {
	case r.Kind != byStranger:
	case r.Name == "half-open":
		memory := int64(mostHalfOpen*halfOpenMemory + sourceMemory)
		add(reqHalfOpen, float64(r.HalfOpen), r.HalfOpen <= mostHalfOpen && r.Heap <= memory)
	default:
		add(reqSources, float64(r.Left)/mega, r.Left <= sourceMemory)
	}
}

// judgeVictim judges what became of a dialer.
func (r *Row) judgeVictim(add func(what requirement, value float64, ok bool)) {
	add(reqVictim, float64(count(r.Dial == nil)), r.Dial != nil)
	if d := r.Dial; d != nil {
		add(reqVictimMemory, float64(d.Peak)/mega, d.Peak <= victimMemoryBytes+runtimeMemory)
		add(reqClear, float64(count(!d.Clear)), d.Clear)
	}
}

// ok reports whether everything judged was reached.
func (r *Row) ok() bool {
	for _, v := range r.Verdicts {
		if v.Judged && !v.OK {
			return false
		}
	}
	return true
}

// failures tells what was not reached.
func (r *Row) failures() (all []string) {
	for _, v := range r.Verdicts {
		if v.OK {
			continue
		}
		text := fmt.Sprintf("%s: %s: %s%s", r.title(), requirements[v.What].text, digits(v.Value), requirements[v.What].unit)
		switch {
		case v.What == reqBroken || v.What == reqVictim:
			text += ": " + r.Broken
		case len(r.Lost) > 0 && (v.What == reqLost || v.What == reqForged):
			text += ": " + r.Lost[0]
		case v.What == reqAnswers:
			for _, s := range r.Stuck {
				text += fmt.Sprintf("\n  %s: %s", s.Address, s.Says)
			}
		case v.What == reqEnds:
			text += ": " + r.ends()
		case v.What == reqJoin && r.JoinError != "":
			text += ": " + r.JoinError
		case v.What == reqClear:
			text += ": " + r.Dial.Error
		}
		if !v.Judged {
			text += " (not judged)"
		}
		all = append(all, text)
	}
	return all
}
