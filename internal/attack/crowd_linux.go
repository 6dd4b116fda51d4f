package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/histogram"
)

// The real sessions: each sends a message every 50 ms, which the server sends back.

const (
	realEvery = 50 * time.Millisecond
	realSize  = 100
	// probeEvery is how often a new client connects while an attack goes on, and probeTime the
	// longest that one is waited for.
	probeEvery = 250 * time.Millisecond
	probeTime  = 5 * time.Second
	// answerTime is how long a session may take to answer when the attack is over: a message
	// that was lost is sent again until it arrives.
	answerTime = 10 * time.Second
)

// Crowd is what real sessions saw since the last time they were asked.
type Crowd struct {
	Messages      uint64
	P50, P99, Max time.Duration
	Lost          []string // why sessions ended
	// Joins are the new clients that tried to connect, Failed those that could not, and Slowest
	// the longest that one took.
	Joins, Failed int
	Slowest       time.Duration
	JoinError     string  `json:",omitempty"`
	Silent        int     // sessions that did not answer within answerTime
	Stuck         []Stuck `json:",omitempty"` // what these say
}

// Stuck is what both ends say of a session that does not answer.
type Stuck struct {
	Address string // the client's
	Says    string
}

type crowd struct {
	target   string
	times    histogram.Histogram
	sessions []*realSession
	began    time.Time

	mu      sync.Mutex
	probing context.CancelFunc
	probed  sync.WaitGroup
	joins   Crowd
}

type realSession struct {
	conn   *raknet.Conn
	heard  atomic.Int64 // when the message was sent whose echo came last, since the crowd began
	dead   bool         // its end was told
	silent bool         // it did not answer when it was checked
}

func (c *crowd) obey(o *Order) (Answer, error) {
	switch o.Op {
	case "connect":
		c.target, c.began = o.Target, time.Now()
		c.sessions = make([]*realSession, o.Sessions)
		return c.mend()
	case "mend":
		return c.mend()
	case "ask":
		return c.ask(o.Probe), nil
	case "check":
		return c.check(), nil
	}
	return Answer{}, errors.New("no such order")
}

func (c *crowd) close() {
	c.ask(false)
	for _, s := range c.sessions {
		if s != nil {
			s.conn.Close()
		}
	}
}

// mend replaces sessions that ended and returns the addresses of all.
func (c *crowd) mend() (a Answer, err error) {
	for i, s := range c.sessions {
		if s != nil && s.silent {
			s.conn.Close() // it was counted, and must not be counted again
		}
		if s == nil || s.silent || s.conn.Context().Err() != nil {
			if c.sessions[i], err = c.join(); err != nil {
				return a, err
			}
		}
		a.List = append(a.List, c.sessions[i].conn.LocalAddr().String())
	}
	return a, nil
}

// shared dials from ports that others may bind to as well: those who forge this address.
type shared struct{ net.Dialer }

func newShared() *shared {
	d := &shared{}
	d.LocalAddr = &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}
	d.Control = reusePort
	return d
}

func reusePort(_, _ string, rc syscall.RawConn) error {
	var failed error
	err := rc.Control(func(fd uintptr) { failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
	return errors.Join(err, failed)
}

// join connects a session, which then talks until it ends.
func (c *crowd) join() (*realSession, error) {
	conn, err := raknet.Dialer{UpstreamDialer: newShared()}.Dial(c.target)
	if err != nil {
		return nil, err
	}
	s := &realSession{conn: conn}
	conn.Handle(func(m raknet.Message) {
		if len(m.Data) != realSize {
			return
		}
		at := time.Duration(binary.BigEndian.Uint64(m.Data[len(sayReal):]))
		c.times.Add(time.Since(c.began) - at)
		s.heard.Store(int64(at))
	})
	go func() {
		b := make([]byte, realSize)
		copy(b, sayReal)
		tick := time.NewTicker(realEvery)
		defer tick.Stop()
		for {
			binary.BigEndian.PutUint64(b[len(sayReal):], uint64(time.Since(c.began)))
			if _, err := conn.Write(b); err != nil {
				return
			}
			select {
			case <-tick.C:
			case <-conn.Context().Done():
				return
			}
		}
	}()
	return s, nil
}

// ask returns what was seen since the last time, and lets new clients come from now on, or no more.
func (c *crowd) ask(probe bool) Answer {
	if c.probing != nil {
		c.probing()
		c.probed.Wait()
		c.probing = nil
	}
	t := c.times.Take()
	c.mu.Lock()
	r := c.joins
	c.joins = Crowd{}
	c.mu.Unlock()
	r.Messages, r.P50, r.P99, r.Max = uint64(t.Count()), t.Quantile(0.5), t.Quantile(0.99), t.Quantile(1)
	r.Lost = c.lost()
	if probe {
		ctx, cancel := context.WithCancel(context.Background())
		c.probing = cancel
		c.probed.Go(func() { c.probe(ctx) })
	}
	return Answer{Crowd: &r}
}

// lost returns why sessions ended since it was last asked.
func (c *crowd) lost() (why []string) {
	for _, s := range c.sessions {
		if !s.dead && s.conn.Context().Err() != nil {
			s.dead = true
			why = append(why, context.Cause(s.conn.Context()).Error())
		}
	}
	return why
}

// probe lets new clients connect one after the other.
func (c *crowd) probe(ctx context.Context) {
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for {
		dialing, cancel := context.WithTimeout(context.Background(), probeTime)
		began := time.Now()
		conn, err := raknet.Dialer{}.DialContext(dialing, c.target)
		took := time.Since(began)
		cancel()
		c.mu.Lock()
		c.joins.Joins++
		c.joins.Slowest = max(c.joins.Slowest, took)
		if err != nil {
			c.joins.Failed++
			c.joins.JoinError = err.Error()
		}
		c.mu.Unlock()
		if err == nil {
			conn.Close()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// check waits until every session has an answer to something that it sent from now on.
func (c *crowd) check() Answer {
	now := int64(time.Since(c.began))
	silent := 0
	for until := time.Now().Add(answerTime); ; time.Sleep(5 * time.Millisecond) {
		silent = 0
		for _, s := range c.sessions {
			if s.conn.Context().Err() == nil && s.heard.Load() < now {
				silent++
			}
		}
		if silent == 0 || time.Now().After(until) {
			break
		}
	}
	answer := &Crowd{Silent: silent}
	for _, s := range c.sessions {
		if s.silent = silent > 0 && s.conn.Context().Err() == nil && s.heard.Load() < now; s.silent {
			answer.Stuck = append(answer.Stuck, Stuck{
				Address: s.conn.LocalAddr().String(),
				Says:    fmt.Sprintf("last answered %v ago, %+v", time.Since(c.began)-time.Duration(s.heard.Load()), s.conn.Stats()),
			})
		}
	}
	answer.Lost = c.lost()
	return Answer{Crowd: answer}
}
