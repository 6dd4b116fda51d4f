package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/attack/forge"
)

// Plan says what is run, and for how long.
type Plan struct {
	Quick    bool
	Only     string // a part of the names of what is run; empty: everything
	Verbose  bool
	Sessions int
	Quiet    time.Duration // what is measured when nobody attacks
	Flood    time.Duration // of an attack with a rate
	Rates    []int         // of strangers; 0 is as fast as it goes
	PeerRate []int         // of peers and forgers
	Vector   uint64        // datagrams of each vector, at least
	Play     time.Duration // of each vector, at least
	Sources  uint64        // addresses that send a request each
	Slow     Timeouts      // of the server that is attacked by patience
	Lure     time.Duration // how long a dialer stays with a hostile server
	LureDial time.Duration // how long it tries to connect
	LureSent uint64

	recruit recruit
}

func fullPlan() *Plan {
	return &Plan{
		Sessions: 100, Quiet: 500 * time.Millisecond, Flood: 2 * time.Second,
		Rates: []int{10_000, 50_000, 100_000, 0}, PeerRate: []int{10_000, 50_000, 0},
		Vector: 100_000, Play: time.Second, Sources: 1_000_000, Slow: Timeouts{Stall: 10 * time.Second, Unacked: 60 * time.Second, Greet: 10 * time.Second},
		Lure: 1500 * time.Millisecond, LureDial: 2 * time.Second, LureSent: 30_000,
		recruit: startProcess,
	}
}

func quickPlan() *Plan {
	return &Plan{
		Quick: true, Sessions: 100, Quiet: 150 * time.Millisecond, Flood: 400 * time.Millisecond,
		Rates: []int{10_000, 0}, PeerRate: []int{10_000},
		Vector: 1000, Sources: 50_000, Slow: Timeouts{Stall: 1500 * time.Millisecond, Unacked: 5 * time.Second, Greet: 3 * time.Second},
		Lure: 500 * time.Millisecond, LureDial: time.Second, LureSent: 10_000,
		recruit: startProcess,
	}
}

// Spec is an attack to be run.
type Spec struct {
	Kind     attackKind
	Name     string
	Rate     int
	Count    uint64
	Time     time.Duration
	Least    time.Duration // not less, however many datagrams that makes
	Fills    forge.Bound
	Answered forge.Answered
	Spoofed  bool
	Once     bool // when the connection is closed, the attack ends
	Probe    bool // new clients connect meanwhile
	// Unchecked: that real sessions still answer is seen after one of the next attacks.
	Unchecked bool
	Brief     bool   // nothing is measured before, and memory is not
	Pours     bool   // the server sends much: what that costs is counted for each datagram in or out
	Sources   bool   // judged by what is left of each source
	MustEnd   string // the error with which the hostile session must end
}

// vectorsChecked is after how many vectors of the short form the real sessions must answer.
const vectorsChecked = 8

// vectorTime is how long a vector may be played at most.
const vectorTime = 5 * time.Second

// floods are the attacks with a rate.
func (p *Plan) floods() (all []Spec, err error) {
	for _, s := range forge.Strangers() {
		for _, rate := range p.Rates {
			all = append(all, Spec{Kind: byStranger, Name: s.Name, Rate: rate, Time: p.Flood, Answered: s.Answered, Spoofed: s.Spoofed, Probe: true})
		}
		if s.Name == "spoofed request 1" || s.Name == "spoofed bad cookies" {
			all = append(all, Spec{Kind: byStranger, Name: s.Name, Count: p.Sources, Time: time.Minute, Answered: s.Answered, Spoofed: true, Sources: true})
		}
	}
	for _, f := range forge.Forgeries() {
		for _, rate := range p.PeerRate {
			all = append(all, Spec{Kind: byForger, Name: f.Name, Rate: rate, Time: p.Flood, Probe: true})
		}
	}
	for _, q := range forge.Peers() {
		for _, rate := range p.PeerRate {
			// Behind ACKs that come late there must be some round trips to see anything.
			spec := Spec{Kind: byPeer, Name: q.Name, Rate: rate, Time: max(p.Flood, 20*time.Duration(q.LateMS)*time.Millisecond), Fills: q.Fills, Probe: true}
			spec.Pours = q.Say == forge.SayPour
			all = append(all, spec)
		}
	}
	list, err := vectors()
	for i, v := range list {
		unchecked := p.Quick && i%vectorsChecked != 0 && i < len(list)-1
		all = append(all, Spec{Kind: byVector, Name: v.Name, Count: p.Vector, Time: vectorTime, Least: p.Play, Brief: p.Quick, Unchecked: unchecked})
	}
	return all, err
}

// slow are the attacks that take patience.
func (p *Plan) slow() []Spec {
	reads, acks := forge.NeverRead(), forge.NeverAcks()
	return []Spec{
		{Kind: byPeer, Name: reads.Name, Rate: 10_000, Time: p.Slow.Stall + 3*time.Second, Fills: reads.Fills, Once: true, Probe: true, MustEnd: raknet.ErrReceiveOverflow.Error()},
		{Kind: byLoris, Name: "slow loris", Time: p.Slow.Greet + 3*time.Second, Probe: true},
		{Kind: byPeer, Name: acks.Name, Rate: 50, Time: p.Slow.Unacked + 5*time.Second, Fills: acks.Fills, Once: true, Pours: true, Probe: true, MustEnd: raknet.ErrUnacknowledged.Error()},
	}
}

// run runs everything and reports rows as they come.
func (p *Plan) run(report func(r *Row)) ([]Row, error) {
	floods, err := p.floods()
	if err != nil {
		return nil, err
	}
	rows, err := p.battle(floods, Timeouts{}, report)
	if err != nil {
		return rows, err
	}
	slow, err := p.battle(p.slow(), p.Slow, report)
	if rows = append(rows, slow...); err != nil {
		return rows, err
	}
	lured, err := p.hostileServers(report)
	return append(rows, lured...), err
}

// battle runs attacks against a server with the given timeouts. After one that breaks
// something, everything is started anew.
func (p *Plan) battle(specs []Spec, t Timeouts, report func(r *Row)) (rows []Row, err error) {
	var f *field
	defer func() {
		if f != nil {
			f.end()
		}
	}()
	for i := range specs {
		if !p.wanted(specs[i].Name) {
			continue
		}
		if f == nil {
			if f, err = p.newField(t); err != nil {
				return rows, err
			}
		}
		var tries []Row
		for again := true; again; {
			var r Row
			if r, err = f.attack(&specs[i]); err != nil {
				r.Broken, err = err.Error()+f.end(), nil
				f = nil
			}
			tries = append(tries, r)
			r = middle(tries)
			r.judge(p)
			// Three times or once: the better of two would be no median.
			if again = f != nil && len(tries) < measurements && specs[i].Time <= againTime && (len(tries) > 1 || r.unlucky()); again {
				continue
			}
			report(&r)
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// dialers is how many dial hostile servers at once, each in a process of its own.
const dialers = 4

// hostileServers lets dialers with little memory dial hostile servers.
func (p *Plan) hostileServers(report func(r *Row)) (rows []Row, err error) {
	servers, err := hostileServers()
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var group sync.WaitGroup
	work := make(chan *forge.Server)
	for range min(dialers, 2*runtime.NumCPU()) {
		group.Go(func() {
			d := &duel{plan: p}
			defer d.end()
			for s := range work {
				r := d.row(s)
				r.judge(p)
				mu.Lock()
				report(&r)
				rows = append(rows, r)
				mu.Unlock()
			}
		})
	}
	for i := range servers {
		if p.wanted(servers[i].Name) {
			work <- &servers[i]
		}
	}
	close(work)
	group.Wait()
	return rows, nil
}

// duel is a hostile server and a dialer.
type duel struct {
	plan             *Plan
	attacker, victim *agent
}

func (d *duel) end() (said string) {
	for _, a := range []*agent{d.attacker, d.victim} {
		if a != nil {
			said += a.end()
		}
	}
	d.attacker, d.victim = nil, nil
	return said
}

func (d *duel) row(s *forge.Server) Row {
	r := Row{Spec: Spec{Kind: byServer, Name: s.Name, Fills: s.Fills}}
	if err := d.fight(s, &r); err != nil {
		r.Broken = err.Error() + d.end()
	}
	return r
}

// lureRate is how many datagrams a second a hostile server sends to whoever dials it.
const lureRate = 20_000

func (d *duel) fight(s *forge.Server, r *Row) (err error) {
	if d.attacker == nil {
		if d.attacker, err = d.plan.recruit(roleAttacker, true); err != nil {
			return err
		}
	}
	if d.victim == nil { // a new one each time, so that its memory is what this server made it use
		if d.victim, err = d.plan.recruit(roleVictim, false, "GOMEMLIMIT="+victimMemory); err != nil {
			return err
		}
	}
	a, err := d.attacker.order(Order{Op: "lure", Name: s.Name, Rate: lureRate, Count: d.plan.LureSent})
	if err != nil {
		return err
	}
	o := Order{Op: "dial", Target: a.Address, Time: d.plan.Lure, Greet: d.plan.LureDial, Probe: s.Deaf}
	if s.Stage == forge.AtPing {
		o.Op = "ping"
	}
	answer, err := d.victim.order(o)
	if err != nil {
		return err
	}
	r.Dial = answer.Dial
	d.victim.end()
	d.victim = nil
	_, err = d.attacker.order(Order{Op: "stop"})
	return err
}

func (p *Plan) wanted(name string) bool { return p.Only == "" || strings.Contains(name, p.Only) }

// revision is the commit of this library.
func revision() string {
	text := firstLine("git", "describe", "--always", "--dirty", "--abbrev=7", "--exclude", "*")
	if text == "" {
		return "unknown"
	}
	return text
}

// machine says where this was measured.
func machine() string {
	cpu := ""
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		cpu = modelName(string(text))
	}
	return fmt.Sprintf("%d cores of %s, %s, %s/%s, commit %s", runtime.NumCPU(), cpu, runtime.Version(), runtime.GOOS, runtime.GOARCH, revision())
}
