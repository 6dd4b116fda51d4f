package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/raknet-go/raknet/internal/udp"
)

// bareUDP is the bound of servers and their clients: as many datagrams, of about the same sizes, and nothing
// else. There is no connection, nothing is sent again, and what is lost is lost. The server's socket and its ways to read
// and write are this library's.
const bareUDP = "UDP, as many datagrams"

const (
	bareHello = 0x01 // a player says that it is there, and is told the same
	bareACK   = 0xc0
	// bareTrips is how many round trips a connect takes, the first of them with as large a datagram as a path takes.
	bareTrips = 4
	bareFirst = 1464
	bareNext  = 60
	bareReply = 32
	// bareAgain is how long a client waits until it sends a datagram again.
	bareAgain = 200 * time.Millisecond
	bareBatch = 64
	bareNap   = 250 * time.Microsecond // as in this library's rush
)

var bareAcknowledged = []byte{bareACK, 0, 1, 1, 0, 0, 0, 0, 0, 0} // ten bytes, as an ACK of a range

// bareSocket receives and sends in batches.
type bareSocket struct {
	udp.Socket
	mu   sync.Mutex
	out  []udp.Outbound
	room [bareBatch][512]byte
}

func listenBare() (*bareSocket, error) {
	sock, err := udp.Listen("127.0.0.1:0", udp.Options{})
	if err != nil {
		return nil, err
	}
	return &bareSocket{Socket: sock, out: make([]udp.Outbound, 0, bareBatch)}, nil
}

// send puts a datagram into the batch.
func (s *bareSocket) send(to udp.Peer, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := copy(s.room[len(s.out)][:], data)
	s.out = append(s.out, udp.Outbound{Data: s.room[len(s.out)][:n], To: to})
	if len(s.out) == bareBatch {
		s.write()
	}
}

func (s *bareSocket) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write()
}

func (s *bareSocket) write() {
	if len(s.out) > 0 {
		_, _ = s.WriteBatch(s.out) // what does not leave is lost
		s.out = s.out[:0]
	}
}

// receive gives each datagram that comes to a function. Told to nap, it does between two reads, where it can.
func (s *bareSocket) receive(nap bool, each func(from udp.Peer, data []byte)) error {
	in := make([]udp.Inbound, bareBatch)
	poller, _ := s.Socket.(udp.Poller)
	if nap = nap && poller != nil; nap {
		poller.Silence(true)
	}
	for {
		var n int
		var err error
		if nap {
			if !poller.More() {
				s.flush()
				poller.Nap(bareNap)
			}
			n, err = poller.Poll(in)
		} else {
			s.flush()
			n, err = s.ReadBatch(in)
		}
		if udp.IsClosed(err) {
			return err
		}
		for i := range n {
			data := in[i].Bytes()
			for size := in[i].Segment; size > 0 && len(data) > size; data = data[size:] {
				each(in[i].From, data[:size])
			}
			each(in[i].From, data)
		}
	}
}

// bareConnects answers the datagrams of connects.
type bareConnects struct{ counted }

func newBareConnects() (string, end, error) {
	sock, err := listenBare()
	if err != nil {
		return "", nil, err
	}
	s := &bareConnects{}
	s.failed = make(chan error, 1)
	go func() {
		s.fail(sock.receive(false, func(from udp.Peer, data []byte) {
			if len(data) < bareReply {
				return
			}
			if data[0] == 0 {
				s.messages.Add(1)
			}
			sock.send(from, data[:bareReply])
		}))
	}()
	return sock.LocalAddr().String(), s, nil
}

func (s *bareConnects) stop() error        { return nil }
func (s *bareConnects) settle(int64) error { return nil }

// connectBare makes the round trips of a connect from a socket of its own.
func connectBare(ctx context.Context, dialer *net.Dialer, address string) error {
	conn, err := dialer.DialContext(ctx, "udp4", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	b, answer := make([]byte, bareFirst), make([]byte, bareFirst)
	for trip := range byte(bareTrips) {
		for answered := false; !answered; {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			b[0] = trip
			if _, err := conn.Write(b); err != nil {
				return err
			}
			if err := conn.SetReadDeadline(time.Now().Add(bareAgain)); err != nil {
				return err
			}
			n, err := conn.Read(answer)
			if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
				return err
			}
			answered = bytes.Equal(answer[:n], b[:bareReply])
		}
		b = b[:bareNext]
	}
	return nil
}

// bareTurns are turns some of which may be lost.
type bareTurns struct{ *turns }

func (t bareTurns) settle(int64) error { return nil }

// got takes a message, whichever it is.
func (t bareTurns) got(b []byte, size int) {
	f := flow{binary.BigEndian.Uint32(b[2:])}
	t.turns.got(&f, b, size)
}

// barePlayer is a player as its server sees it.
type barePlayer struct {
	sock *bareSocket
	peer udp.Peer
}

func (p *barePlayer) Write(b []byte) (int, error) {
	p.sock.send(p.peer, b)
	return len(b), nil
}

// newBareGame acknowledges each message, as this library does that of a player who sends twenty in a second.
func newBareGame(phase func(t *turns) time.Duration) (string, end, error) {
	sock, err := listenBare()
	if err != nil {
		return "", nil, err
	}
	t := bareTurns{newTurns()}
	t.flush = sock.flush
	go t.run(downRate, downSize)
	go func() {
		known := map[netip.AddrPort]bool{}
		t.fail(sock.receive(true, func(from udp.Peer, data []byte) {
			switch {
			case len(data) == upSize:
				t.got(data, upSize)
				sock.send(from, bareAcknowledged)
			case len(data) == 1 && data[0] == bareHello:
				if !known[from.AddrPort] {
					known[from.AddrPort] = true
					t.join(&barePlayer{sock, from}, phase(t.turns))
				}
				sock.send(from, data)
			}
		}))
	}()
	return sock.LocalAddr().String(), t, nil
}

// newBarePlayers acknowledge each message, too.
func newBarePlayers(address string, count int, phase func(i int) time.Duration) (end, error) {
	t := bareTurns{newTurns()}
	for i := range count {
		conn, err := net.Dial("udp4", address)
		if err != nil {
			return nil, err
		}
		if err := greetBare(conn); err != nil {
			return nil, err
		}
		go func() {
			b := make([]byte, 2048)
			for {
				n, err := conn.Read(b)
				if err != nil {
					t.fail(err)
					return
				}
				if n == downSize {
					t.got(b[:n], downSize)
					_, _ = conn.Write(bareAcknowledged)
				}
			}
		}()
		t.join(conn, phase(i))
	}
	go t.run(upRate, upSize)
	return t, nil
}

// greetBare tells the server that a player is there, until it says so itself.
func greetBare(conn net.Conn) error {
	b := make([]byte, 2048)
	for began := now(); ; {
		if _, err := conn.Write([]byte{bareHello}); err != nil {
			return err
		}
		if err := conn.SetReadDeadline(time.Now().Add(bareAgain)); err != nil {
			return err
		}
		n, err := conn.Read(b)
		switch {
		case n == 1 || n == downSize:
			return conn.SetReadDeadline(time.Time{})
		case now()-began > helloTime:
			return err
		}
	}
}
