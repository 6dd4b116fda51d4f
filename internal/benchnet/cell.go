package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/raknet-go/raknet/internal/benchnet/relay"
	"github.com/raknet-go/raknet/internal/benchnet/rivals"
	"github.com/raknet-go/raknet/internal/netsim"
)

// Cell is one measurement of one library. It is made in a process of its own, so that
// none is troubled by what another left behind.
type Cell struct {
	Kind     string // game, bulk, transfer, raw or lab
	Name     string // of its row
	Library  string
	Link     string // both ways, as netsim.ParseLink reads it
	Size     int    // of a message
	Flows    int    // connections at once
	Warm     time.Duration
	Measure  time.Duration
	Total    int64         // bytes that a transfer has
	Limit    time.Duration // of a transfer
	Scenario string        // of the laboratory
	Seed     uint64
	Profile  string // directory to write a CPU profile to
}

// Values are what a cell measured, by metric. What was not measured is not there.
type Values map[string]float64

// Result is a cell and what came of it.
type Result struct {
	Cell   Cell
	Error  string `json:",omitempty"`
	Values Values
	Series []float64 `json:",omitempty"` // MB/s in each quarter of a second, from the first message on
	Note   string    `json:",omitempty"` // what the library tells of its sender
	Relay  relay.Report
}

// The metrics. Times are in milliseconds, but for "seconds", and shares in percent.
const (
	mP50, mP99, mP999, mMax = "p50", "p99", "p99.9", "max"

	mRate     = "MB/s"
	mWire     = "wire bytes per payload byte" // both ways, headers of IP and UDP included
	mDropped  = "dropped at the queue"        // of the datagrams sent
	mLater    = "dropped later"               // the same, in the measured time only
	mWaitP95  = "queue p95"
	mSeconds  = "seconds"
	mDone     = "MB arrived"
	mComplete = "complete" // 1 or 0
	mEnds     = "CPU of both ends"
	mRelayCPU = "CPU of the relay"
	mOthers   = "CPU of other programs"
	mUnread   = "datagrams that receive buffers had no room for"
	mLate     = "relay late p99"
	mPackets  = "datagrams/s"
)

// dialTime is how long connecting may take, whatever is lost.
const dialTime = 20 * time.Second

// clock is the time of this process.
var clock = time.Now()

func now() time.Duration { return time.Since(clock) }

func sleepUntil(at time.Duration) { time.Sleep(at - now()) }

// runCell measures, and prints the result.
func runCell(text string) error {
	var c Cell
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return err
	}
	r := &Result{Cell: c, Values: Values{}}
	measure := map[string]func(*Result) error{"game": game, "bulk": bulk, "transfer": transfer, "raw": raw, "lab": laboratory}[c.Kind]
	if measure == nil {
		return fmt.Errorf("no kind of cell %q", c.Kind)
	}
	if c.Profile != "" {
		f, err := os.Create(filepath.Join(c.Profile, fmt.Sprintf("%s-%s-%s-%d.pprof", c.Kind, c.Name, c.Library, c.Seed)))
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	if err := measure(r); err != nil {
		r.Error = err.Error()
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

// rig is a server, its clients, and the relay between them.
type rig struct {
	cell    *Cell
	server  rivals.Server
	relay   *relay.Process
	senders []rivals.Sender
	sinks   []*sink
	failed  chan error
}

// sink is the receiving end of a flow.
type sink struct {
	flow     byte
	size     int
	messages atomic.Int64
	bytes    atomic.Int64
	arrived  func(sent, at time.Duration) // called for each message, if not nil
}

// openRig connects. The sinks receive from then on.
func openRig(c *Cell) (*rig, error) {
	link, err := netsim.ParseLink(c.Link)
	if err != nil {
		return nil, err
	}
	lib, err := rivals.Find(c.Library)
	if err != nil {
		return nil, err
	}
	job := rivals.Bulk
	if c.Kind == "game" {
		job = rivals.Game
	}
	r := &rig{cell: c, failed: make(chan error, 4*max(c.Flows, 1))}
	if r.server, err = lib.Listen(job); err != nil {
		return nil, err
	}
	w := relay.Way{Link: link}
	if r.relay, err = relay.Start(relay.Config{Target: r.server.Address(), Up: w, Down: w, Seed: c.Seed, Own: true}, "relay"); err != nil {
		return nil, err
	}
	for i := range c.Flows {
		r.sinks = append(r.sinks, &sink{flow: byte(i), size: c.Size})
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialTime)
	defer cancel()
	go r.accept()
	var dials sync.WaitGroup
	r.senders = make([]rivals.Sender, c.Flows)
	errs := make([]error, c.Flows)
	for i := range r.senders {
		dials.Go(func() { r.senders[i], errs[i] = lib.Dial(ctx, r.relay.Addr, job) })
	}
	dials.Wait()
	for _, err := range errs {
		if err != nil {
			r.relay.Stop()
			return nil, err
		}
	}
	return r, nil
}

func (r *rig) accept() {
	for range r.cell.Flows {
		rec, err := r.server.Accept(context.Background())
		if err != nil {
			r.failed <- err
			return
		}
		go r.receive(rec)
	}
}

// receive reads a connection. Its first message tells which flow it is.
func (r *rig) receive(rec rivals.Receiver) {
	var s *sink
	for number := uint32(0); ; number++ {
		m, err := rec.Receive()
		if err != nil {
			r.failed <- fmt.Errorf("receiving: %w", err)
			return
		}
		if s == nil {
			if len(m) < 2 || int(m[1]) >= len(r.sinks) {
				r.failed <- fmt.Errorf("the first message is of no flow")
				return
			}
			s = r.sinks[m[1]]
		}
		at := now()
		sent, err := check(m, s.size, s.flow, number)
		if err != nil {
			r.failed <- err
			return
		}
		if s.arrived != nil {
			s.arrived(sent, at)
		}
		s.messages.Add(1)
		s.bytes.Add(int64(len(m)))
	}
}

// failure returns what went wrong so far, nil if nothing did.
func (r *rig) failure() error {
	select {
	case err := <-r.failed:
		return err
	default:
		return nil
	}
}

// drain waits until as many messages have come as were sent.
func (r *rig) drain(sent int64, limit time.Duration) error {
	deadline := now() + limit
	for {
		if err := r.failure(); err != nil {
			return err
		}
		var got int64
		for _, s := range r.sinks {
			got += s.messages.Load()
		}
		switch {
		case got == sent:
			return nil
		case now() >= deadline:
			return fmt.Errorf("of %d messages %d had not come %v after the last one was sent", sent, sent-got, limit)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// span is the time between two looks at the relay and the processors.
type span struct {
	at     time.Duration
	cpu    time.Duration
	all    time.Duration // what the whole machine used
	report relay.Report
}

func (r *rig) look() (s span, err error) {
	s.at, s.cpu, s.all = now(), relay.CPUTime(), relay.AllCPUTime()
	s.report, err = r.relay.Report()
	return s, err
}

// between writes down what happened between two looks.
func between(a, b *span, res *Result) {
	wall := (b.at - a.at).Seconds()
	v := res.Values
	v[mEnds] = (b.cpu - a.cpu).Seconds() / wall
	v[mRelayCPU] = (b.report.CPU - a.report.CPU) / wall
	v[mOthers] = max((b.all-a.all).Seconds()/wall-v[mEnds]-v[mRelayCPU], 0)
	v[mLate] = b.report.LateP99
	if sent := b.report.Up.Sent - a.report.Up.Sent; sent > 0 {
		v[mLater] = 100 * float64(b.report.Up.QueueFull-a.report.Up.QueueFull) / float64(sent)
	}
	v[mPackets] = float64(b.report.Up.Sent-a.report.Up.Sent) / wall
	res.Relay = b.report
}

// finish writes down the counters of the whole run and ends the relay.
func (r *rig) finish(res *Result) error {
	defer r.relay.Stop()
	rep, err := r.relay.Report()
	if err != nil {
		return err
	}
	if rep.Up.Sent > 0 {
		res.Values[mDropped] = 100 * float64(rep.Up.QueueFull) / float64(rep.Up.Sent)
	}
	var drops uint64
	for _, n := range relay.SocketDrops() {
		drops += n
	}
	res.Values[mUnread] = float64(drops)
	if len(r.senders) > 0 {
		res.Note = r.senders[0].Note()
	}
	return nil
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// quantile returns the q-quantile of sorted times by the nearest rank.
func quantile(sorted []time.Duration, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	rank := int(math.Ceil(q*float64(len(sorted))-1e-9)) - 1
	return millis(sorted[min(max(rank, 0), len(sorted)-1)])
}

func (v Values) latencies(all []time.Duration) {
	slices.Sort(all)
	v[mP50], v[mP99], v[mP999], v[mMax] = quantile(all, 0.5), quantile(all, 0.99), quantile(all, 0.999), quantile(all, 1)
}
