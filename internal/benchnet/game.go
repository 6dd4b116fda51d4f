package main

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// gameInterval is the time between two messages of a game flow.
const gameInterval = time.Second / 60

// drainTime is how long what was sent may take to arrive in the end.
const drainTime = 20 * time.Second

// game measures how long messages are under way that are sent with a rhythm.
func game(res *Result) error {
	c := &res.Cell
	r, err := openRig(c)
	if err != nil {
		return err
	}
	from := now() + c.Warm
	until := from + c.Measure
	var mu sync.Mutex
	var latencies []time.Duration
	for _, s := range r.sinks {
		s.arrived = func(sent, at time.Duration) {
			if sent >= from && sent < until {
				mu.Lock()
				latencies = append(latencies, at-sent)
				mu.Unlock()
			}
		}
	}
	var sent atomic.Int64
	var senders sync.WaitGroup
	errs := make([]error, c.Flows)
	start := now()
	for i, s := range r.senders {
		senders.Go(func() {
			m := make([]byte, c.Size)
			// Flows take turns, and no two of them keep the same distance.
			next := start + gameInterval*time.Duration(i)/time.Duration(c.Flows)
			for number := uint32(0); next < until; number++ {
				sleepUntil(next)
				compose(m, byte(i), number, now())
				if errs[i] = s.Send(m); errs[i] != nil {
					return
				}
				sent.Add(1)
				next += gameInterval
			}
		})
	}
	sleepUntil(from)
	a, err := r.look()
	if err != nil {
		return err
	}
	sleepUntil(until)
	b, err := r.look()
	if err != nil {
		return err
	}
	senders.Wait()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("sending: %w", err)
	}
	err = r.drain(sent.Load(), drainTime)
	between(&a, &b, res)
	wire := b.report.Up.Bytes - a.report.Up.Bytes + b.report.Down.Bytes - a.report.Down.Bytes
	res.Values[mWire] = float64(wire) / (float64(c.Flows*c.Size) * (b.at - a.at).Seconds() * 60)
	mu.Lock()
	res.Values.latencies(latencies)
	res.Values["messages"] = float64(len(latencies))
	mu.Unlock()
	return errors.Join(err, r.finish(res))
}
