package main

import (
	"errors"
	"time"

	"github.com/raknet-go/raknet/internal/benchnet/relay"
	"github.com/raknet-go/raknet/internal/histogram"
)

// pair is both ends at a moment.
type pair struct {
	server, client Look
	all            time.Duration // processor time of the whole machine
}

// rig is both ends of a measurement.
type rig struct{ server, client *process }

func (r *rig) look(collect bool) (p pair, err error) {
	p.all = relay.AllCPUTime()
	var err1, err2 error
	if p.server, err1 = r.server.order(Order{Do: "look", Collect: collect}); r.client != nil {
		p.client, err2 = r.client.order(Order{Do: "look"})
	}
	return p, errors.Join(err1, err2)
}

// measure makes a measurement.
func measure(c Cell) *Result {
	res := &Result{Cell: c, Values: Values{}}
	if err := res.measure(); errors.As(err, new(skip)) {
		res.Skipped = err.Error()
	} else if err != nil {
		res.Error = err.Error()
	}
	return res
}

// skip is a reason why something cannot be measured on this machine.
type skip struct{ reason string }

func (s skip) Error() string { return s.reason }

func (res *Result) measure() error {
	c := &res.Cell
	server, err := start(*c, "server", "")
	if err != nil {
		return err
	}
	defer server.end()
	r := rig{server: server}
	if c.Work == Idle {
		if err := r.warmUp(*c); err != nil {
			return err
		}
	}
	empty, err := r.look(c.Work == Idle)
	if err != nil {
		return err
	}
	if r.client, err = start(*c, "client", server.hello.Address); err != nil {
		return err
	}
	defer r.client.end()
	time.Sleep(c.Warm)
	a, err := r.look(c.Work == Idle)
	if err != nil {
		return err
	}
	time.Sleep(c.Measure)
	b, err := r.look(false)
	if err != nil {
		return err
	}
	res.evaluate(&empty, &a, &b)
	res.Note = b.client.Note
	return r.finish(c.Work == Players)
}

// warmUp lets some clients connect and leave, so that what a server needs once counts for no
// connection.
func (r *rig) warmUp(c Cell) error {
	c.Count, c.Leaves = warmConnections, true
	client, err := start(c, "client", r.server.hello.Address)
	if err != nil {
		return err
	}
	defer client.end()
	if _, err = client.order(Order{Do: "stop"}); err != nil {
		return err
	}
	_, err = r.server.order(Order{Do: "settle"})
	return err
}

const warmConnections = 64

// finish ends a measurement: what was sent must have arrived.
func (r *rig) finish(bothWays bool) error {
	client, err := r.client.order(Order{Do: "stop"})
	if err != nil {
		return err
	}
	if bothWays {
		server, err := r.server.order(Order{Do: "stop"})
		if err != nil {
			return err
		}
		if _, err = r.client.order(Order{Do: "settle", Expect: server.Sent}); err != nil {
			return err
		}
	}
	_, err = r.server.order(Order{Do: "settle", Expect: client.Sent})
	return err
}

// evaluate says what happened between two looks.
func (res *Result) evaluate(empty, a, b *pair) {
	v := res.Values
	wall := (b.server.At - a.server.At).Seconds()
	server, client := b.server.CPU-a.server.CPU, b.client.CPU-a.client.CPU
	v[mServerCPU] = server.Seconds() / wall
	v[mClientCPU] = client.Seconds() / wall
	v[mOthers] = max((b.all-a.all).Seconds()/wall-v[mServerCPU]-v[mClientCPU], 0)
	serverAllocs, clientAllocs := float64(b.server.Mallocs-a.server.Mallocs), float64(b.client.Mallocs-a.client.Mallocs)
	switch n := float64(b.server.Messages - a.server.Messages); res.Cell.Work {
	case Bulk:
		bytes := float64(b.server.Bytes - a.server.Bytes)
		v[mRate], v[mMessages] = bytes/wall/1e6, n/wall
		v[mDone] = n
		if n > 0 {
			v[mCPU] = (server + client).Seconds() / bytes * 1e9
			v[mServerGB] = server.Seconds() / bytes * 1e9
			if res.Cell.Library != enetName {
				v[mAllocs] = (serverAllocs + clientAllocs) / n
			}
		}
	case Ping, Players:
		var t histogram.Tally
		for _, side := range []struct{ before, after *Look }{{&a.server, &b.server}, {&a.client, &b.client}} {
			t.Add(side.after.Latencies, 1)
			t.Add(side.before.Latencies, -1)
		}
		v.latencies(&t)
		if n > 0 {
			v[mPerSecond] = n / wall
			v[mServerUS] = server.Seconds() / n * 1e6
		}
	case Connect, Pong:
		n := float64(b.client.Messages - a.client.Messages)
		v[mPerSecond] = n / (b.client.At - a.client.At).Seconds()
		if n > 0 {
			v[mServerUS] = server.Seconds() / n * 1e6
			v[mSrvAllocs] = serverAllocs / n
		}
	case Idle:
		each := func(before, after int64) float64 { return float64(after-before) / float64(res.Cell.Count) }
		v[mHeap], v[mStack], v[mRSS] = each(empty.server.Heap, a.server.Heap), each(empty.server.Stack, a.server.Stack), each(empty.server.RSS, a.server.RSS)
	}
}

// latencies notes the quantiles of times, in microseconds, if there are any.
func (v Values) latencies(t *histogram.Tally) {
	if t.Count() <= 0 {
		return
	}
	for metric, q := range map[string]float64{mP50: 0.5, mP99: 0.99, mP999: 0.999, mMax: 1} {
		v[metric] = float64(t.Quantile(q)) / float64(time.Microsecond)
	}
}
