package main

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/raknet-go/raknet"
)

// idleServer holds connections on which nothing happens.
type idleServer struct {
	counted
	held []net.Conn
	l    *raknet.Listener
}

func newIdleServer(c *Cell) (string, end, error) {
	l, err := raknet.ListenConfig{AcceptBacklog: 1024}.Listen("127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	s := &idleServer{l: l, held: make([]net.Conn, 0, c.Count)}
	s.failed = make(chan error, 1)
	go func() {
		for range c.Count {
			conn, err := l.Accept()
			if err != nil {
				s.fail(err)
				return
			}
			s.held = append(s.held, conn)
			if c.Reads {
				go s.read(conn)
			}
			s.messages.Add(1)
		}
	}()
	return l.Addr().String(), s, nil
}

// read waits for messages, as every program with a goroutine for each connection does.
func (s *idleServer) read(conn net.Conn) {
	var b [64]byte
	if _, err := conn.Read(b[:]); err != nil {
		s.fail(fmt.Errorf("an idle connection ended: %w", err))
	}
}

func (s *idleServer) stop() error { return nil }

func (s *idleServer) settle(expect int64) error {
	if n := int64(s.l.Stats().Connections); n != expect {
		return fmt.Errorf("of %d connections %d are alive", expect, n)
	}
	return nil
}

// idlers are the clients.
type idlers struct {
	counted
	held []*raknet.Conn
}

// dialsAtOnce is how many clients connect at a time, fewer than a server lets one address do.
const dialsAtOnce = 16

// dialAll opens connections, and says where each begins.
func dialAll(address string, n int, opened func(i int, c *raknet.Conn)) error {
	ctx, cancel := context.WithTimeout(context.Background(), helloTime)
	defer cancel()
	var dials sync.WaitGroup
	errs := make(chan error, dialsAtOnce)
	for w := range dialsAtOnce {
		dials.Go(func() {
			for i := w; i < n; i += dialsAtOnce {
				c, err := raknet.DialContext(ctx, address)
				if err != nil {
					errs <- fmt.Errorf("connection %d: %w", i, err)
					return
				}
				opened(i, c)
			}
		})
	}
	dials.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return nil
	}
}

func newIdlers(c *Cell) (end, error) {
	k := &idlers{held: make([]*raknet.Conn, c.Count)}
	k.failed = make(chan error, 1)
	err := dialAll(c.Address, c.Count, func(i int, conn *raknet.Conn) { k.held[i] = conn })
	k.messages.Store(int64(c.Count))
	return k, err
}

func (k *idlers) look(l *Look) {
	k.counted.look(l)
	l.Sent = l.Messages
}

func (k *idlers) stop() error        { return nil }
func (k *idlers) settle(int64) error { return nil }
