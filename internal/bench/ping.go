package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/benchnet/rivals"
	"github.com/raknet-go/raknet/internal/histogram"
)

// A message goes there and back at a time: what a program waits for that asks and is answered.

// stamp writes the number of a ping, which the answer must have.
func stamp(b []byte, n uint32) {
	b[0] = messageID
	binary.BigEndian.PutUint32(b[2:], n)
}

func checkStamp(b []byte, size int, n uint32) error {
	if len(b) != size || b[0] != messageID || binary.BigEndian.Uint32(b[2:]) != n {
		return fmt.Errorf(corruption+"an answer of %d bytes came that is not that to message %d", len(b), n)
	}
	return nil
}

// pingServer sends every message back.
type pingServer struct{ counted }

func newPingServer(c *Cell) (string, end, error) {
	s := &pingServer{}
	s.failed = make(chan error, 1)
	switch c.Library {
	case udpSingle:
		l, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			return "", nil, err
		}
		go func() {
			b := make([]byte, 2048)
			for {
				n, from, err := l.ReadFromUDPAddrPort(b)
				if err == nil {
					_, err = l.WriteToUDPAddrPort(b[:n], from)
				}
				if err != nil {
					s.failed <- err
					return
				}
				s.messages.Add(1)
			}
		}()
		return l.LocalAddr().String(), s, nil
	case oursHandlers:
		l, err := raknet.ListenConfig{Handler: func(conn *raknet.Conn, m raknet.Message) {
			if _, err := conn.Write(m.Data); err != nil {
				s.fail(err)
			}
			s.messages.Add(1)
		}}.Listen("127.0.0.1:0")
		if err != nil {
			return "", nil, err
		}
		return l.Addr().String(), s, nil
	}
	lib, err := find(c.Library)
	if err != nil {
		return "", nil, err
	}
	server, err := lib.Listen(rivals.Game)
	if err != nil {
		return "", nil, err
	}
	go func() {
		conn, err := server.Accept(context.Background())
		for err == nil {
			var m []byte
			if m, err = conn.Receive(); err == nil {
				if err = conn.Send(m); err == nil {
					err = conn.Flush()
				}
				s.messages.Add(1)
			}
		}
		s.fail(err)
	}()
	return server.Address(), s, nil
}

// fail notes the first failure.
func (c *counted) fail(err error) {
	select {
	case c.failed <- err:
	default:
	}
}

func (s *pingServer) stop() error        { return nil }
func (s *pingServer) settle(int64) error { return nil }

// pinger asks.
type pinger struct {
	counted
	times   histogram.Histogram
	halt    chan struct{}
	stopped chan struct{}
}

func newPinger(c *Cell) (end, error) {
	p := &pinger{halt: make(chan struct{}), stopped: make(chan struct{})}
	p.failed = make(chan error, 1)
	var once func(m, answer []byte) ([]byte, error)
	switch c.Library {
	case udpSingle:
		conn, err := net.Dial("udp4", c.Address)
		if err != nil {
			return nil, err
		}
		once = func(m, buf []byte) ([]byte, error) {
			if _, err := conn.Write(m); err != nil {
				return nil, err
			}
			n, err := conn.Read(buf)
			return buf[:n], err
		}
	case oursHandlers:
		return p, p.handle(c)
	default:
		lib, err := find(c.Library)
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(context.Background(), helloTime)
		defer cancel()
		conn, err := lib.Dial(ctx, c.Address, rivals.Game)
		if err != nil {
			return nil, err
		}
		once = func(m, _ []byte) ([]byte, error) {
			if err := conn.Send(m); err != nil {
				return nil, err
			}
			if err := conn.Flush(); err != nil {
				return nil, err
			}
			return conn.Receive()
		}
	}
	go p.run(c.Size, once)
	return p, nil
}

func (p *pinger) run(size int, once func(m, answer []byte) ([]byte, error)) {
	defer close(p.stopped)
	m, buf := make([]byte, size), make([]byte, size)
	for n := uint32(0); ; n++ {
		select {
		case <-p.halt:
			return
		default:
		}
		stamp(m, n)
		began := now()
		answer, err := once(m, buf)
		took := now() - began
		if err == nil {
			err = checkStamp(answer, size, n)
		}
		if err != nil {
			p.fail(err)
			return
		}
		p.times.Add(took)
		p.messages.Add(1)
	}
}

// handle asks the next question in the handler of the answer before.
func (p *pinger) handle(c *Cell) error {
	conn, err := raknet.Dial(c.Address)
	if err != nil {
		return err
	}
	m, n := make([]byte, c.Size), uint32(0)
	stamp(m, n)
	began := now()
	conn.Handle(func(answer raknet.Message) {
		at := now()
		p.times.Add(at - began)
		if err := checkStamp(answer.Data, c.Size, n); err != nil {
			p.fail(err)
			return
		}
		p.messages.Add(1)
		select {
		case <-p.halt:
			close(p.stopped)
			return
		default:
		}
		n++
		stamp(m, n)
		began = now()
		if _, err := conn.Write(m); err != nil {
			p.fail(err)
		}
	})
	_, err = conn.Write(m)
	return err
}

func (p *pinger) look(l *Look) {
	p.counted.look(l)
	l.Latencies = p.times.Counts()
}

func (p *pinger) stop() error {
	close(p.halt)
	select {
	case <-p.stopped:
		return nil
	case err := <-p.failed:
		return err
	case <-time.After(settleTime):
		return errors.New("the last answer did not come")
	}
}

func (p *pinger) settle(int64) error { return nil }
