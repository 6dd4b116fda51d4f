package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// field is a server, its real sessions and an attacker.
type field struct {
	plan                    *Plan
	server, crowd, attacker *agent
	address                 string
	victims                 []string // where the real sessions are
	idle                    float64  // processors that the server uses when nobody attacks
	before                  Crowd    // what the real sessions saw then
}

// Timeouts are those of the attacked server.
type Timeouts struct{ Stall, Unacked, Greet time.Duration }

// newField starts everything. It must be ended.
func (p *Plan) newField(t Timeouts) (f *field, err error) {
	f = &field{plan: p}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w%s", err, f.end())
		}
	}()
	for _, a := range []struct {
		to   **agent
		role string
		idle bool // an attacker would have processors of its own
	}{{&f.server, roleServer, false}, {&f.crowd, roleCrowd, false}, {&f.attacker, roleAttacker, true}} {
		if *a.to, err = p.recruit(a.role, a.idle); err != nil {
			return f, err
		}
	}
	a, err := f.server.order(Order{Op: "listen", Stall: t.Stall, Unacked: t.Unacked, Greet: t.Greet})
	if err != nil {
		return f, err
	}
	f.address = a.Address
	if a, err = f.crowd.order(Order{Op: "connect", Target: f.address, Sessions: p.Sessions}); err != nil {
		return f, err
	}
	f.victims = a.List
	time.Sleep(p.Quiet)
	return f, f.rest()
}

// end ends everything and returns what it complained of.
func (f *field) end() (said string) {
	for _, a := range []*agent{f.attacker, f.crowd, f.server} {
		if a != nil {
			if s := a.end(); s != "" {
				said += "\n" + a.role + ": " + s
			}
		}
	}
	return said
}

// rest measures what goes on when nobody attacks.
func (f *field) rest() error {
	if _, err := f.crowd.order(Order{Op: "ask"}); err != nil {
		return err
	}
	a, err := f.look(false)
	if err != nil {
		return err
	}
	time.Sleep(f.plan.Quiet)
	b, err := f.look(false)
	if err != nil {
		return err
	}
	c, err := f.crowd.order(Order{Op: "ask"})
	if err != nil {
		return err
	}
	f.idle, f.before = float64(b.CPU-a.CPU)/float64(b.At-a.At), *c.Crowd
	return nil
}

func (f *field) look(collect bool) (*Look, error) {
	a, err := f.server.order(Order{Op: "look", Collect: collect})
	return a.Look, err
}

// attack lets an attack happen and measures it.
func (f *field) attack(s *Spec) (r Row, err error) {
	r = Row{Spec: *s}
	if !s.Brief {
		if err = f.rest(); err != nil {
			return r, err
		}
	}
	a, err := f.look(!s.Brief)
	if err != nil {
		return r, err
	}
	if _, err = f.crowd.order(Order{Op: "ask", Probe: s.Probe}); err != nil {
		return r, err
	}
	o := Order{Op: "attack", Target: f.address, Kind: s.Kind, Name: s.Name, Rate: s.Rate, Count: s.Count, Time: s.Time, Least: s.Least, Once: s.Once}
	if s.Kind == byForger {
		o.Victims = f.victims[:min(len(f.victims), forgedSessions)]
	}
	done, err := f.attacker.order(o)
	if err != nil {
		return r, err
	}
	during, err := f.crowd.order(Order{Op: "ask"})
	if err != nil {
		return r, err
	}
	time.Sleep(20 * time.Millisecond) // what waits in the socket is read
	b, err := f.look(false)
	if err != nil {
		return r, err
	}
	for until := time.Now().Add(endTime); s.MustEnd != "" && b.Ends[s.MustEnd] == a.Ends[s.MustEnd] && time.Now().Before(until); {
		time.Sleep(20 * time.Millisecond) // the application learns of the end a moment after the attacker
		if b, err = f.look(false); err != nil {
			return r, err
		}
	}
	after := b
	if !s.Brief {
		if after, err = f.look(true); err != nil {
			return r, err
		}
	}
	if _, err = f.attacker.order(Order{Op: "stop"}); err != nil {
		return r, err
	}
	checked := Answer{Crowd: &Crowd{}}
	if !s.Unchecked {
		if checked, err = f.crowd.order(Order{Op: "check"}); err != nil {
			return r, err
		}
	}
	r.measured(f, a, b, after, done.Attack, during.Crowd, checked.Crowd)
	if r.Stuck, err = f.stuck(checked.Crowd.Stuck); err != nil {
		return r, err
	}
	if len(r.Lost)+r.Silent > 0 {
		mended, err := f.crowd.order(Order{Op: "mend"})
		if err != nil {
			return r, err
		}
		f.victims = mended.List
	}
	return r, nil
}

// stuck adds what the server says of sessions that do not answer, to find out why.
func (f *field) stuck(list []Stuck) ([]Stuck, error) {
	if len(list) == 0 {
		return nil, nil
	}
	o := Order{Op: "tell"}
	for _, s := range list {
		o.Victims = append(o.Victims, s.Address)
	}
	told, err := f.server.order(o)
	for i := range told.List {
		list[i].Says += "; the server: " + told.List[i]
	}
	return list, err
}

// endTime is how long an application may take to notice that a session has ended.
const endTime = 5 * time.Second

// forgedSessions is how many sessions are the victims of those who forge addresses.
const forgedSessions = 8

// Row is what came of an attack.
type Row struct {
	Spec
	Again                     int     // how often more it was measured: what is timed are medians
	Connects                  int     // of hostile clients
	Sent, Arrived             uint64  // datagrams
	PerSecond                 float64 // that arrived
	OutPerIn                  float64 // bytes of UDP payload that left, to everybody but the real sessions, for each that came
	CPU                       time.Duration
	Heap, Left, Peak          int64 // growth of what lives, of memory at the end, and at most
	Before, During            time.Duration
	Lost                      []string
	Silent                    int
	Stuck                     []Stuck
	Joins, Failed             int
	Slowest                   time.Duration
	JoinError                 string
	Pongs, Overflows, Evicted uint64
	Took                      time.Duration
	HalfOpen                  int
	Resent                    float64
	Ends                      map[string]int
	Broken                    string // why there is nothing
	Dial                      *Dial
	Verdicts                  []Verdict
}

func (r *Row) measured(f *field, a, b, after *Look, done *Attack, during, checked *Crowd) {
	took := b.At - a.At
	r.Sent, r.Connects, r.Took = done.Sent, done.Connects, took
	r.Arrived = uint64(max(b.DatagramsIn-a.DatagramsIn, 0))
	if r.Kind == byForger { // what comes from a session's address counts as the session's
		r.Arrived = r.Sent - min(r.Sent, b.Overflows-a.Overflows)
	}
	each := r.Arrived
	if r.Pours {
		each += uint64(max(b.DatagramsOut-a.DatagramsOut, 0))
	}
	r.PerSecond = float64(r.Arrived) / done.Time.Seconds()
	r.OutPerIn = float64(b.BytesOut-a.BytesOut) / float64(max(b.BytesIn-a.BytesIn, 1))
	r.CPU = time.Duration((float64(b.CPU-a.CPU) - f.idle*float64(took)) / float64(max(each, 1)))
	r.Heap, r.Left, r.Peak = after.Heap-a.Heap, after.RSS-a.RSS, b.Peak-a.RSS
	r.Before, r.During = f.before.P99, during.P99
	r.Lost, r.Silent = append(during.Lost, checked.Lost...), checked.Silent
	r.Joins, r.Failed, r.Slowest, r.JoinError = during.Joins, during.Failed, during.Slowest, during.JoinError
	r.Pongs, r.Overflows, r.Evicted = b.Pongs-a.Pongs, b.Overflows-a.Overflows, b.Evicted-a.Evicted
	r.HalfOpen, r.Resent = b.HalfOpen, b.Resent
	r.Ends = map[string]int{}
	for why, n := range b.Ends {
		if n -= a.Ends[why]; n > 0 {
			r.Ends[why] = n
		}
	}
}

// ends says why hostile sessions ended.
func (r *Row) ends() string {
	var all []string
	for why, n := range r.Ends {
		all = append(all, fmt.Sprintf("%s (%d)", why, n))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}
