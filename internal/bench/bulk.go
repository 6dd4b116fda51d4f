package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/raknet-go/raknet/internal/benchnet/rivals"
)

// end is one end of a measurement, in its process.
type end interface {
	// look adds what the work counts.
	look(l *Look)
	// stop makes an end send no more. What it sent is known afterwards.
	stop() error
	// settle waits until an end has got as many messages.
	settle(expect int64) error
}

// publishEvery is how many small messages are counted before the count is told: telling
// costs as much as a tenth of receiving one. Large ones are told each.
const (
	publishEvery = 64
	publishSize  = 1 << 10
)

// counted is how far an end is.
type counted struct {
	messages, bytes atomic.Int64
	failed          chan error
}

func (c *counted) look(l *Look) {
	l.Messages, l.Bytes = c.messages.Load(), c.bytes.Load()
	select {
	case err := <-c.failed:
		l.Error = err.Error()
	default:
	}
}

// bulkServer receives.
type bulkServer struct {
	counted
	server rivals.Server
	done   chan struct{} // closed after the last message
}

func newBulkServer(c *Cell) (string, end, error) {
	lib, err := find(c.Library)
	if err != nil {
		return "", nil, err
	}
	server, err := lib.Listen(rivals.Bulk)
	if err != nil {
		return "", nil, err
	}
	s := &bulkServer{server: server, done: make(chan struct{})}
	s.failed = make(chan error, 1)
	go func() {
		if err := s.receive(newMessages(c.Size)); err != nil {
			s.failed <- err
		}
	}()
	return server.Address(), s, nil
}

func (s *bulkServer) receive(all *messages) error {
	conn, err := s.server.Accept(context.Background())
	if err != nil {
		return err
	}
	for number := uint32(0); ; number++ {
		m, err := conn.Receive()
		if err != nil {
			return fmt.Errorf("receiving after %d messages: %w", number, err)
		}
		last, err := all.check(m, number)
		if err != nil {
			return err
		}
		if n := int64(number) + 1; last || n%publishEvery == 0 || all.size >= publishSize {
			s.messages.Store(n)
			s.bytes.Store(n * int64(all.size))
		}
		if last {
			close(s.done)
			return nil
		}
	}
}

func (s *bulkServer) stop() error { return nil }

func (s *bulkServer) settle(expect int64) error {
	select {
	case <-s.done:
	case err := <-s.failed:
		return err
	case <-time.After(settleTime):
	}
	if n := s.messages.Load(); n != expect {
		return fmt.Errorf("of %d messages %d came within %v", expect, n, settleTime)
	}
	return nil
}

// bulkClient sends.
type bulkClient struct {
	counted
	conn    rivals.Conn
	halt    atomic.Bool
	stopped chan struct{}
}

func newBulkClient(c *Cell) (end, error) {
	lib, err := find(c.Library)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), helloTime)
	defer cancel()
	conn, err := lib.Dial(ctx, c.Address, rivals.Bulk)
	if err != nil {
		return nil, err
	}
	b := &bulkClient{conn: conn, stopped: make(chan struct{})}
	b.failed = make(chan error, 1)
	go func() {
		defer close(b.stopped)
		if err := b.send(newMessages(c.Size)); err != nil {
			b.failed <- err
		}
	}()
	return b, nil
}

func (b *bulkClient) send(all *messages) error {
	for number := uint32(0); ; number++ {
		last := b.halt.Load()
		if err := b.conn.Send(all.make(number, last)); err != nil {
			return fmt.Errorf("sending after %d messages: %w", number, err)
		}
		if last {
			b.messages.Store(int64(number) + 1)
			return b.conn.Flush()
		}
	}
}

func (b *bulkClient) look(l *Look) {
	b.counted.look(l)
	l.Sent, l.Messages = l.Messages, 0
	l.Note = b.conn.Note()
}

func (b *bulkClient) stop() error {
	b.halt.Store(true)
	select {
	case <-b.stopped:
		return nil
	case <-time.After(settleTime):
		return errors.New("the last messages found no room")
	}
}

func (b *bulkClient) settle(int64) error { return nil }
