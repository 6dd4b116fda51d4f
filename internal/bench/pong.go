package main

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/udp"
	"github.com/raknet-go/raknet/internal/wire"
)

// Questions of server lists, by many pingers of one server, whose limit on answers is off.

const (
	pongBatch = 64
	// pingsAtOnce is how many questions a pinger has open: enough to keep the server busy.
	pingsAtOnce = 8
	pingTimeout = 200 * time.Millisecond
	// pongData is what a Bedrock server says of itself.
	pongData = "MCPE;Dedicated Server;844;1.21.111;0;10;13253860892328930865;Bedrock level;Survival;1;19132;19133;0;"
)

// echoServer sends every datagram back.
type echoServer struct{ counted }

func newPongServer(c *Cell) (string, end, error) {
	if c.Library == ours {
		l, err := raknet.ListenConfig{PongRate: -1, PongRateTotal: -1}.Listen("127.0.0.1:0")
		if err != nil {
			return "", nil, err
		}
		l.PongData([]byte(pongData))
		return l.Addr().String(), &listenerServer{l}, nil
	}
	sock, err := udp.Listen("127.0.0.1:0", udp.Options{})
	if err != nil {
		return "", nil, err
	}
	s := &echoServer{}
	s.failed = make(chan error, 1)
	go func() { s.fail(s.serve(sock)) }()
	return sock.LocalAddr().String(), s, nil
}

// listenerServer is a listener that answers by itself.
type listenerServer struct{ l *raknet.Listener }

func (s *listenerServer) look(l *Look)       { l.Messages = int64(s.l.Stats().Pings) }
func (s *listenerServer) stop() error        { return nil }
func (s *listenerServer) settle(int64) error { return nil }

// serve answers every batch with one.
func (s *echoServer) serve(sock udp.Socket) error {
	in, out := make([]udp.Inbound, pongBatch), make([]udp.Outbound, 0, pongBatch)
	for {
		n, err := sock.ReadBatch(in)
		if udp.IsClosed(err) {
			return err
		}
		out = out[:0]
		for i := range n {
			data := in[i].Bytes()
			for size := in[i].Segment; size > 0 && len(data) > size; data = data[size:] {
				out = append(out, udp.Outbound{Data: data[:size], To: in[i].From, Local: in[i].Local})
			}
			out = append(out, udp.Outbound{Data: data, To: in[i].From, Local: in[i].Local})
		}
		if len(out) == 0 {
			continue
		}
		if _, err := sock.WriteBatch(out); udp.IsClosed(err) {
			return err
		}
		s.messages.Add(int64(len(out)))
	}
}

func (s *echoServer) stop() error        { return nil }
func (s *echoServer) settle(int64) error { return nil }

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
