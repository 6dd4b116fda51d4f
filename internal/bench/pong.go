package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/raknet-go/raknet/internal/guard"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/siphash"
	"github.com/raknet-go/raknet/internal/udp"
	"github.com/raknet-go/raknet/internal/wire"
)

// Questions of server lists, by many pingers of one server. A listener answers 2,000 a
// second and no more, so that nobody can use it to flood others; what is measured here
// is how fast it could. So the server is what a listener answers pings with (the socket, the
// parser, the limiter, the pong), without the limit, and without the tables of connections.

const (
	pongBatch = 64
	// pingsAtOnce is how many questions a pinger has open: enough to keep the server busy.
	pingsAtOnce = 8
	pingTimeout = 200 * time.Millisecond
	// pongData is what a Bedrock server says of itself.
	pongData = "MCPE;Dedicated Server;844;1.21.111;0;10;13253860892328930865;Bedrock level;Survival;1;19132;19133;0;"
)

// pongServer answers.
type pongServer struct {
	counted
}

func newPongServer(c *Cell) (string, end, error) {
	sock, err := udp.Listen("127.0.0.1:0", udp.Options{})
	if err != nil {
		return "", nil, err
	}
	s := &pongServer{}
	s.failed = make(chan error, 1)
	answer := echo
	if c.Library == ours {
		answer = newAnswerer().answer
	}
	go func() { s.fail(s.serve(sock, answer)) }()
	return sock.LocalAddr().String(), s, nil
}

// serve answers every batch with one.
func (s *pongServer) serve(sock udp.Socket, answer func(from netip.AddrPort, question, dst []byte) []byte) error {
	in, out := make([]udp.Inbound, pongBatch), make([]udp.Outbound, 0, pongBatch)
	buffers := make([]*pool.Buffer, pongBatch)
	for i := range buffers {
		buffers[i] = pool.Get(offline.ReplySize)
	}
	for {
		n, err := sock.ReadBatch(in)
		if udp.IsClosed(err) {
			return err
		}
		out = out[:0]
		for i := range n {
			if b := answer(in[i].From.AddrPort, in[i].Bytes(), buffers[i].B[:0]); len(b) > 0 {
				out = append(out, udp.Outbound{Data: b, To: in[i].From, Local: in[i].Local})
			}
		}
		if len(out) > 0 {
			if _, err := sock.WriteBatch(out); udp.IsClosed(err) {
				return err
			}
			s.messages.Add(int64(len(out)))
		}
	}
}

// echo is the bare answer.
func echo(_ netip.AddrPort, question, dst []byte) []byte { return append(dst, question...) }

// answerer is what a listener knows of pings.
type answerer struct {
	server  offline.Server
	limiter guard.Limiter
	clock   *monotime.Clock
	data    []byte
}

func newAnswerer() *answerer {
	a := &answerer{clock: monotime.NewClock(), data: []byte(pongData)}
	a.server.Init(a.clock.Now(), &offline.ServerConfig{GUID: 1, Key: siphash.Key{1}})
	a.limiter.Init(a.clock.Now(), &guard.LimiterConfig{Key: siphash.Key{2}, Rate: -1, GlobalRate: -1})
	return a
}

func (a *answerer) answer(from netip.AddrPort, question, dst []byte) []byte {
	at := a.clock.Now()
	_, out := a.server.Handle(at, from, question, dst)
	if out.Kind != offline.Ping || !a.limiter.Allow(at, from.Addr()) {
		return nil
	}
	return a.server.AppendPong(dst[:0], out.Time, a.data)
}

func (s *pongServer) stop() error        { return nil }
func (s *pongServer) settle(int64) error { return nil }

// pingers ask.
type pingers struct {
	counted
	halt    atomic.Bool
	stopped chan struct{}
}

func newPingers(c *Cell) (end, error) {
	p := &pingers{stopped: make(chan struct{})}
	p.failed = make(chan error, 1)
	var all sync.WaitGroup
	for range c.Count {
		conn, err := net.Dial("udp4", c.Address)
		if err != nil {
			return nil, err
		}
		sock := udp.WrapConn(conn, udp.Options{Path: udp.Batch})
		all.Go(func() {
			defer sock.Close()
			if err := p.ask(sock, c.Library == ours); err != nil {
				p.fail(err)
			}
		})
	}
	go func() {
		all.Wait()
		close(p.stopped)
	}()
	return p, nil
}

// ask keeps as many questions open as are asked at once.
func (p *pingers) ask(sock udp.Socket, pongs bool) error {
	in, out := make([]udp.Inbound, pingsAtOnce), make([]udp.Outbound, pingsAtOnce)
	defer udp.Release(in)
	question := (&wire.UnconnectedPing{Time: 1, HasGUID: true, GUID: 2}).Append(nil)
	for i := range out {
		out[i].Data = question
	}
	for more := pingsAtOnce; !p.halt.Load(); {
		if _, err := sock.WriteBatch(out[:more]); err != nil && !udp.IsTransient(err) {
			return err
		}
		_ = sock.SetReadDeadline(time.Now().Add(pingTimeout))
		n, err := sock.ReadBatch(in)
		if err != nil { // what was open is lost
			more = pingsAtOnce
			continue
		}
		for i := range n {
			var pong wire.UnconnectedPong
			b := in[i].Bytes()
			if pongs {
				if err := pong.Parse(b); err != nil || pong.Time != 1 || string(pong.Data) != pongData {
					return fmt.Errorf(corruption+"an answer of %d bytes is no pong: %w", len(b), err)
				}
			} else if string(b) != string(question) {
				return errors.New(corruption + "an echo came with other bytes")
			}
		}
		p.messages.Add(int64(n))
		more = n
	}
	return nil
}

func (p *pingers) stop() error {
	p.halt.Store(true)
	select {
	case <-p.stopped:
		return nil
	case <-time.After(settleTime):
		return errors.New("a pinger did not end")
	}
}

func (p *pingers) settle(int64) error { return nil }
