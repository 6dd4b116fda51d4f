package main

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/raknet-go/raknet/internal/benchnet/rivals"
)

const mega = 1e6

// seriesStep is the time between two values of Result.Series.
const seriesStep = 250 * time.Millisecond

// pump sends messages until it is stopped or has sent all.
type pump struct {
	sender rivals.Sender
	size   int
	flow   byte
	most   int64 // messages
	stop   atomic.Bool
	sent   int64
	done   chan error
}

func (p *pump) run() {
	m := make([]byte, p.size)
	for p.most == 0 || p.sent < p.most {
		if p.stop.Load() {
			break
		}
		compose(m, p.flow, uint32(p.sent), now())
		if err := p.sender.Send(m); err != nil {
			p.done <- fmt.Errorf("sending: %w", err)
			return
		}
		p.sent++
	}
	p.done <- p.sender.Flush()
}

// watch fills the series until the returned function is called.
func watch(s *sink, series *[]float64) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(seriesStep)
		defer tick.Stop()
		last := int64(0)
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				n := s.bytes.Load()
				*series = append(*series, float64(n-last)/seriesStep.Seconds()/mega)
				last = n
			}
		}
	}()
	return func() { close(end); <-ended }
}

// bulk measures how much gets through to one receiver.
func bulk(res *Result) error {
	c := &res.Cell
	r, err := openRig(c)
	if err != nil {
		return err
	}
	p := &pump{sender: r.senders[0], size: c.Size, done: make(chan error, 1)}
	start := now()
	stop := watch(r.sinks[0], &res.Series)
	go p.run()
	sleepUntil(start + c.Warm)
	a, err := r.look()
	if err != nil {
		return err
	}
	before := r.sinks[0].bytes.Load()
	sleepUntil(start + c.Warm + c.Measure)
	after := r.sinks[0].bytes.Load()
	b, err := r.look()
	if err != nil {
		return err
	}
	res.Note = p.sender.Note()
	p.stop.Store(true)
	between(&a, &b, res)
	res.Values[mRate] = float64(after-before) / (b.at - a.at).Seconds() / mega
	res.Values[mWaitP95] = b.report.WaitP95
	note := res.Note
	select {
	case err = <-p.done:
	case err = <-r.failed:
	case <-time.After(drainTime):
		err = errors.New("the last messages found no room")
	}
	stop()
	if err == nil {
		err = r.drain(p.sent, drainTime)
	}
	err = errors.Join(err, r.finish(res))
	res.Note = note
	return err
}

// transfer measures how long a number of bytes takes.
func transfer(res *Result) error {
	c := &res.Cell
	r, err := openRig(c)
	if err != nil {
		return err
	}
	p := &pump{sender: r.senders[0], size: c.Size, most: c.Total / int64(c.Size), done: make(chan error, 1)}
	last := make(chan time.Duration, 1)
	r.sinks[0].arrived = func(_, at time.Duration) {
		if r.sinks[0].messages.Load() == p.most-1 {
			last <- at
		}
	}
	a, err := r.look()
	if err != nil {
		return err
	}
	start := now()
	stop := watch(r.sinks[0], &res.Series)
	go p.run()
	timeout := time.NewTimer(c.Limit)
	defer timeout.Stop()
	var end time.Duration
	for end == 0 && err == nil {
		select {
		case end = <-last:
			res.Values[mComplete] = 1
		case err = <-r.failed:
		case err = <-p.done: // nil: all is sent, and will arrive
			p.done = nil
		case <-timeout.C:
			end = now()
			res.Values[mComplete] = 0
		}
	}
	stop()
	if err != nil {
		r.relay.Stop()
		return err
	}
	b, err := r.look()
	if err != nil {
		return err
	}
	between(&a, &b, res)
	res.Values[mSeconds] = (end - start).Seconds()
	res.Values[mDone] = float64(r.sinks[0].bytes.Load()) / mega
	return r.finish(res)
}
