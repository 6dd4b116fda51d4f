package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

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
		for {
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
	if _, err := conn.Read(b[:]); err != nil && !errors.Is(err, io.EOF) {
		s.fail(fmt.Errorf("an idle connection ended: %w", err))
	}
}

func (s *idleServer) stop() error { return nil }

// settle waits until as many connections are alive.
func (s *idleServer) settle(expect int64) error {
	deadline := now() + settleTime
	for {
		select {
		case err := <-s.failed:
			return err
		default:
		}
		n := int64(s.l.Stats().Connections)
		if n == expect {
			return nil
		}
		if now() > deadline {
			return fmt.Errorf("%d connections are alive instead of %d", n, expect)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// idlers are the clients.
type idlers struct {
	counted
	held   []*raknet.Conn
	leaves bool
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
	k := &idlers{held: make([]*raknet.Conn, c.Count), leaves: c.Leaves}
	k.failed = make(chan error, 1)
	err := dialAll(c.Address, c.Count, func(i int, conn *raknet.Conn) { k.held[i] = conn })
	k.messages.Store(int64(c.Count))
	return k, err
}

func (k *idlers) look(l *Look) {
	k.counted.look(l)
	l.Sent = l.Messages
}

// stop closes nothing that is measured: that all connections are alive is looked at afterwards.
func (k *idlers) stop() error {
	if k.leaves {
		for _, c := range k.held {
			_ = c.Close()
		}
	}
	return nil
}

func (k *idlers) settle(int64) error { return nil }
