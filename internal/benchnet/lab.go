package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/benchnet/relay"
	"github.com/raknet-go/raknet/internal/benchnet/rivals"
	"github.com/raknet-go/raknet/internal/lab"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// The scenarios of the laboratory over real sockets. What the simulation knows of each
// datagram's fate is taken from the library's own counters here: "resent" are datagrams
// given up as lost, "needless" those of them that had arrived, of all that were sent.

const (
	labMTU = 1492
	// gameCopies are played at once, each on a link of its own, in place of a long time.
	gameCopies = 16
	// labBin is the width of the bins that goodput over time is counted in.
	labBin = 50 * time.Millisecond
	// sendBuffer is the library's default, reserve what a bulk source leaves of it to others,
	// and reserveCheck after how many messages it looks.
	sendBuffer   = 4 << 20
	reserve      = 256 << 10
	reserveCheck = 8
)

// labRun is one run of a scenario.
type labRun struct {
	sc          *lab.Scenario
	from, until time.Duration
	dark, light time.Duration
	flows       []*labFlow
	failed      chan error
	stop        atomic.Bool
	writers     sync.WaitGroup
}

// labFlow is one connection.
type labFlow struct {
	run      *labRun
	index    int
	conn     *raknet.Conn
	sent     atomic.Int64
	received atomic.Int64

	mu        sync.Mutex
	next      map[byte]uint32
	latencies []time.Duration
	bulk      int64 // bytes in the measured time
	bins      map[int]int
	after     time.Duration // when the first message came after the blackout
}

func laboratory(res *Result) error {
	sc, ok := lab.Find(res.Cell.Scenario)
	if !ok {
		return fmt.Errorf("no scenario %q", res.Cell.Scenario)
	}
	server, err := raknet.Listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	up, down := relay.Way{Link: sc.Up, Spread: sc.Spread}, relay.Way{Link: sc.Down, Spread: sc.Spread, Every: sc.AckEvery}
	plans := sc.Flows
	game := sc.Up.Bandwidth == 0 && sc.Blackout == 0 && sc.Flows[0].Sources[0].Every > 0
	if game {
		plans = slices.Repeat(plans, gameCopies)
	}
	p, err := relay.Start(relay.Config{Target: server.Addr().(*net.UDPAddr).String(), Up: up, Down: down, Seed: res.Cell.Seed, Own: game}, "relay")
	if err != nil {
		return err
	}
	defer p.Stop()
	r := &labRun{sc: sc, failed: make(chan error, 4*len(plans))}
	rng := rand.New(rand.NewPCG(res.Cell.Seed, 1))
	start := now()
	r.from = start + sc.From
	r.until = r.from + min(res.Cell.Measure, sc.Until-sc.From)
	if sc.Blackout > 0 {
		r.until = start + sc.Until // it ends when the scenario does
		r.dark = start + sc.BlackoutAt + time.Duration(rng.Int64N(int64(time.Second)))
		r.light = r.dark + sc.Blackout + time.Duration(rng.Int64N(int64(sc.Blackout/10)))
	}
	var connected sync.WaitGroup
	for i, plan := range plans {
		f := &labFlow{run: r, index: i, next: map[byte]uint32{}, bins: map[int]int{}}
		r.flows = append(r.flows, f)
		connected.Go(func() {
			sleepUntil(start + plan.Start)
			f.connect(server, p.Addr, plan.Sources)
		})
	}
	if sc.Blackout > 0 {
		sleepUntil(r.dark)
		if err := p.Darken(r.light - now()); err != nil {
			return err
		}
	}
	rg := &rig{cell: &res.Cell, relay: p}
	sleepUntil(r.from)
	a, err := rg.look()
	if err != nil {
		return err
	}
	sleepUntil(r.until)
	b, err := rg.look()
	if err != nil {
		return err
	}
	for _, f := range r.flows {
		if f.conn != nil {
			rg.senders = append(rg.senders, rivals.OurSender{Conn: f.conn})
		}
	}
	r.stop.Store(true)
	connected.Wait()
	stats := r.total()
	err = r.finish()
	between(&a, &b, res)
	r.values(res, &a, &b, stats)
	note := ""
	if len(rg.senders) > 0 {
		note = rg.senders[0].Note()
	}
	rg.senders = nil
	err = errors.Join(err, rg.finish(res))
	res.Note = note
	return err
}

// connect opens the connection and starts what sends and receives on it.
func (f *labFlow) connect(server *raknet.Listener, address string, sources []lab.Source) {
	ctx, cancel := context.WithTimeout(context.Background(), dialTime)
	defer cancel()
	c, err := raknet.DialContext(ctx, address)
	if err != nil {
		f.run.failed <- err
		return
	}
	f.conn = c
	s, err := server.AcceptContext(ctx)
	if err != nil {
		f.run.failed <- err
		return
	}
	go f.run.receive(s)
	for i := range sources {
		f.run.writers.Go(func() { f.send(byte(i), &sources[i]) })
	}
}

// send is a source.
func (f *labFlow) send(channel byte, src *lab.Source) {
	r := f.run
	m := make([]byte, src.Size)
	next := now() + time.Duration(f.index)*gameInterval/gameCopies
	o := raknet.SendOptions{Reliability: raknet.ReliableOrdered, Channel: channel, Priority: src.Priority}
	for number := uint32(0); ; number++ {
		if src.Every > 0 {
			if next >= r.until {
				return
			}
			sleepUntil(next)
			next += src.Every
		} else if r.stop.Load() {
			return
		}
		if src.Every == 0 && number%reserveCheck == 0 && len(r.sources(f)) > 1 {
			f.leaveRoom()
		}
		compose(m, byte(f.index), number, now())
		binary.BigEndian.PutUint16(m[messageHeader:], uint16(channel)) // replaces two known bytes
		if _, err := f.conn.Send(context.Background(), m, o); err != nil {
			r.failed <- fmt.Errorf("sending: %w", err)
			return
		}
		f.sent.Add(1)
	}
}

// leaveRoom waits while the send buffer is nearly full. A full one makes everybody wait in
// line, urgent or not, and so an application with both kinds of messages does not fill it.
func (f *labFlow) leaveRoom() {
	for !f.run.stop.Load() {
		s := f.conn.Stats()
		if s.SendQueueBytes+s.BytesInFlight < sendBuffer-reserve {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// receive is the application of a server's connection.
func (r *labRun) receive(c *raknet.Conn) {
	for {
		msg, err := c.Receive(context.Background())
		if err != nil {
			r.failed <- fmt.Errorf("receiving: %w", err)
			return
		}
		m := msg.Data
		at := now()
		if len(m) < messageHeader+2 || int(m[1]) >= len(r.flows) {
			r.failed <- fmt.Errorf("a message of %d bytes came that was not sent", len(m))
			return
		}
		f := r.flows[m[1]]
		channel := m[messageHeader+1]
		number := f.next[channel] // only this goroutine uses it
		f.next[channel]++
		copy(m[messageHeader:messageHeader+2], body(m[1], number, len(m)-messageHeader))
		sent, err := check(m, len(m), m[1], number)
		if err != nil || channel != msg.Channel {
			r.failed <- fmt.Errorf("channel %d: %w", msg.Channel, err)
			return
		}
		f.take(len(m), sent, at, r.sources(f)[channel].Every > 0)
		f.received.Add(1)
	}
}

func (r *labRun) sources(f *labFlow) []lab.Source { return r.sc.Flows[f.index%len(r.sc.Flows)].Sources }

func (f *labFlow) take(n int, sent, at time.Duration, rhythm bool) {
	r := f.run
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.light > 0 && at >= r.light && f.after == 0 {
		f.after = at
	}
	if rhythm {
		if sent >= r.from && sent < r.until {
			f.latencies = append(f.latencies, at-sent)
		}
		return
	}
	if at >= r.from && at < r.until {
		f.bulk += int64(n)
	}
	f.bins[int(at/labBin)] += n
}

// finish waits until everything has arrived.
func (r *labRun) finish() error {
	deadline := now() + drainTime
	done := make(chan struct{})
	go func() { r.writers.Wait(); close(done) }()
	select {
	case <-done:
	case err := <-r.failed:
		return err
	case <-time.After(drainTime):
		return errors.New("the last messages found no room")
	}
	for {
		missing := int64(0)
		for _, f := range r.flows {
			missing += f.sent.Load() - f.received.Load()
		}
		select {
		case err := <-r.failed:
			return err
		default:
		}
		if missing == 0 {
			return nil
		}
		if now() > deadline {
			return fmt.Errorf("%d messages did not come", missing)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// total sums the counters of the senders up.
func (r *labRun) total() (t raknet.ConnStats) {
	for _, f := range r.flows {
		if f.conn == nil {
			continue
		}
		s := f.conn.Stats()
		t.DatagramsSent += s.DatagramsSent
		t.DatagramsLost += s.DatagramsLost
		t.SpuriousLosses += s.SpuriousLosses
	}
	return t
}

// values writes down the metrics of the laboratory, by their names there.
func (r *labRun) values(res *Result, a, b *span, stats raknet.ConnStats) {
	v := res.Values
	seconds := (r.until - r.from).Seconds()
	set := func(m lab.Metric, x float64) {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			v[m.String()] = x
		}
	}
	var latencies []time.Duration
	var rates []float64
	for i, f := range r.flows {
		f.mu.Lock()
		latencies = append(latencies, f.latencies...)
		bulk := false
		size := 0
		for _, s := range r.sources(f) {
			if s.Every == 0 {
				bulk, size = true, s.Size
			}
		}
		if bulk {
			rate := 8 * float64(f.bulk) / seconds / mega
			rates = append(rates, rate)
			payload, onLink := packing(size)
			if r.sc.Up.Bandwidth > 0 {
				v[lab.Share.String()] += 100 * rate / (8 * float64(r.sc.Up.Bandwidth) / mega * float64(payload) / float64(onLink))
			}
		}
		if r.light > 0 && i == 0 {
			if f.after > 0 {
				set(lab.Flowing, millis(f.after-r.light))
			}
			set(lab.Refilled, f.refilled())
		}
		f.mu.Unlock()
	}
	slices.Sort(latencies)
	for m, q := range map[lab.Metric]float64{lab.LatencyP50: 0.5, lab.LatencyP99: 0.99, lab.LatencyP999: 0.999, lab.LatencyMax: 1} {
		set(m, quantile(latencies, q))
	}
	if len(rates) > 0 {
		sum, squares := 0.0, 0.0
		for _, x := range rates {
			sum += x
			squares += x * x
		}
		set(lab.Goodput, sum)
		if len(rates) > 1 {
			set(lab.Jain, sum*sum/(float64(len(rates))*squares))
		}
	}
	if sent := float64(stats.DatagramsSent); sent > 0 {
		set(lab.Resent, 100*float64(stats.DatagramsLost)/sent)
		set(lab.Needless, 100*float64(stats.SpuriousLosses)/sent)
	}
	if b.report.Up.Sent > 0 {
		set(lab.Dropped, 100*float64(b.report.Up.QueueFull)/float64(b.report.Up.Sent))
	}
	set(lab.QueueP50, b.report.WaitP50)
	set(lab.QueueP95, b.report.WaitP95)
	set(lab.BytesRatio, float64(b.report.Up.Bytes-a.report.Up.Bytes)/seconds) // a ratio once there is a baseline
}

// refilled returns how long after the blackout nine tenths of the goodput before were back.
func (f *labFlow) refilled() float64 {
	r := f.run
	first, last := int(r.from/labBin)+1, int(r.dark/labBin)
	before := 0
	for i := first; i < last; i++ {
		before += f.bins[i]
	}
	if before == 0 {
		return math.NaN()
	}
	enough := 9 * before / (10 * (last - first))
	for i := int(r.light/labBin) + 1; i < int(r.until/labBin); i++ {
		if f.bins[i] >= enough {
			return millis(time.Duration(i+1)*labBin - r.light)
		}
	}
	return math.NaN()
}

// packing returns how many bytes of messages of a size go with how many bytes on the link.
func packing(size int) (payload, onLink int) {
	const overhead = 28 + wire.DatagramHeaderSize
	if part := arq.MaxFrame(labMTU); size > part {
		n := (size + part - 1) / part
		return size, size + n*(overhead+wire.FrameHeaderSize(protocol.ReliableOrdered, true))
	}
	frame := size + wire.FrameHeaderSize(protocol.ReliableOrdered, false)
	n := (labMTU - overhead) / frame
	return n * size, n*frame + overhead
}
