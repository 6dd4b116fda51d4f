package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
	goraknet "github.com/sandertv/go-raknet"
	"github.com/xtaci/kcp-go/v5"

	"github.com/raknet-go/raknet"

	"github.com/raknet-go/raknet/internal/benchnet/rivals"
)

// connectServer accepts, and lets go of what the client closes.
type connectServer struct {
	counted
	seen func() int64 // the server's own count of connections, nil if it keeps none
}

// acceptor accepts a connection and returns how to read from it until it ends.
type acceptor func() (read func() error, err error)

func newConnectServer(c *Cell) (string, end, error) {
	if c.Library == bareUDP {
		return newBareConnects()
	}
	s := &connectServer{}
	s.failed = make(chan error, 1)
	address, accept, err := s.listen(c)
	if err != nil {
		return "", nil, err
	}
	go func() {
		for {
			read, err := accept()
			if err != nil {
				s.fail(err)
				return
			}
			s.messages.Add(1)
			if read != nil {
				go func() {
					for read() == nil {
					}
				}()
			}
		}
	}()
	return address, s, nil
}

func (s *connectServer) listen(c *Cell) (string, acceptor, error) {
	if c.Library == ours {
		l, err := raknet.ListenConfig{AcceptBacklog: 1024}.Listen("127.0.0.1:0")
		if err != nil {
			return "", nil, err
		}
		// Who closed before Accept is not accepted.
		s.seen = func() int64 { return int64(l.Stats().Accepted) }
		// Nobody need read: the library itself sees the close.
		return l.Addr().String(), func() (func() error, error) { _, err := l.Accept(); return nil, err }, nil
	}
	if c.Library == goRaknet {
		l, err := goraknet.Listen("127.0.0.1:0")
		if err != nil {
			return "", nil, err
		}
		return l.Addr().String(), func() (func() error, error) { _, err := l.Accept(); return nil, err }, nil
	}
	lib, err := find(c.Library)
	if err != nil {
		return "", nil, err
	}
	server, err := lib.Listen(rivals.Game)
	if err != nil {
		return "", nil, err
	}
	return server.Address(), func() (func() error, error) {
		conn, err := server.Accept(context.Background())
		if err != nil {
			return nil, err
		}
		return func() error {
			m, err := conn.Receive()
			if err == nil { // kcp-go's clients
				err = conn.Send(m)
			}
			if err != nil {
				conn.Close()
			}
			return err
		}, nil
	}, nil
}

func (s *connectServer) stop() error { return nil }

// settle waits until the server has seen as many connections, if it can tell.
func (s *connectServer) settle(expect int64) error {
	if s.seen == nil {
		return nil
	}
	deadline := now() + settleTime
	for s.seen() < expect {
		select {
		case err := <-s.failed:
			return err
		default:
		}
		if now() > deadline {
			return fmt.Errorf("of %d connections the server saw %d", expect, s.seen())
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil
}

// connector opens one connection after the other, some at once, each with a socket of its own.
type connector struct {
	counted
	library string
	halt    atomic.Bool
	stopped chan struct{}
	ctx     context.Context
	cancel  context.CancelFunc
}

// lastConnect is how long those that are under way at the end may take. Some libraries'
// would wait for a lost datagram's timeout, which is nothing that is measured.
const lastConnect = 3 * time.Second

// sharedHost is how many connect from one address: servers bound the handshakes of one.
const sharedHost = 16

func newConnector(c *Cell) (end, error) {
	k := &connector{library: c.Library, stopped: make(chan struct{})}
	k.failed = make(chan error, 1)
	k.ctx, k.cancel = context.WithCancel(context.Background())
	var workers sync.WaitGroup
	for i := range c.Count {
		from := net.IPv4(127, 0, 1, byte(1+i/sharedHost))
		workers.Go(func() {
			for !k.halt.Load() {
				if err := connect(k.ctx, c, from); err != nil {
					if k.ctx.Err() != nil {
						return
					}
					k.fail(fmt.Errorf("connecting after %d times: %w", k.messages.Load(), err))
					return
				}
				k.messages.Add(1)
			}
		})
	}
	go func() {
		workers.Wait()
		close(k.stopped)
	}()
	return k, nil
}

// connect connects once from an address.
func connect(ctx context.Context, c *Cell, from net.IP) error {
	ctx, cancel := context.WithTimeout(ctx, helloTime)
	defer cancel()
	udp := &net.Dialer{LocalAddr: &net.UDPAddr{IP: from}}
	switch c.Library {
	case ours:
		conn, err := raknet.Dialer{UpstreamDialer: udp}.DialContext(ctx, c.Address)
		if err != nil {
			return err
		}
		return conn.Close()
	case goRaknet:
		conn, err := goraknet.Dialer{UpstreamDialer: udp}.DialContext(ctx, c.Address)
		if err != nil {
			return err
		}
		return conn.Close()
	case tcp:
		conn, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}).DialContext(ctx, "tcp4", c.Address)
		if err != nil {
			return err
		}
		_ = conn.(*net.TCPConn).SetLinger(0) // the ports would run out
		return conn.Close()
	case bareUDP:
		return connectBare(ctx, udp, c.Address)
	}
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: from})
	if err != nil {
		return err
	}
	defer socket.Close()
	to, err := net.ResolveUDPAddr("udp4", c.Address)
	if err != nil {
		return err
	}
	if c.Library == quicGo {
		conn, err := quic.Dial(ctx, socket, to, rivals.ClientTLS(), rivals.QUICConfig())
		if err != nil {
			return err
		}
		return conn.CloseWithError(0, "")
	}
	conn, err := kcp.NewConn2(to, nil, 0, 0, socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	// A connection is there with its first message.
	one := rivals.NewKCPConn(conn, rivals.Game)
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if err := one.Send([]byte{messageID}); err != nil {
		return err
	}
	if _, err := one.Receive(); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func (k *connector) stop() error {
	k.halt.Store(true)
	time.AfterFunc(lastConnect, k.cancel)
	select {
	case <-k.stopped:
		return nil
	case <-time.After(2 * lastConnect):
		if k.library != ours { // some do not mind being cancelled
			return nil
		}
		return errors.New("the last connection was not made")
	}
}

func (k *connector) look(l *Look) {
	k.counted.look(l)
	l.Sent = l.Messages
}

func (k *connector) settle(int64) error { return nil }
