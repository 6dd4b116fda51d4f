package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/netsim"
)

// drainLimit is how long the last messages get to arrive. With half of all datagrams
// lost, the last of many resends takes seconds.
const drainLimit = 15 * time.Second

// show is one run of the demo.
type show struct {
	settings
	network *netsim.Network
	start   time.Time
	tallies [modes]*tally

	mu     sync.Mutex
	conns  []*raknet.Conn // both ends of every connection
	served map[*raknet.Conn]bool
	failed error
}

func newShow(s settings) *show {
	sh := &show{settings: s, network: netsim.New(s.seed), start: time.Now(), served: make(map[*raknet.Conn]bool)}
	sh.network.SetDefault(s.link)
	for i := range sh.tallies {
		sh.tallies[i] = newTally(raknet.Reliability(i), s.clients)
	}
	return sh
}

// play runs the server and the clients and redraws the screen until all is said.
func (sh *show) play(ctx context.Context, sc *screen) error {
	defer sh.network.Close()
	listener, err := raknet.ListenConfig{UpstreamPacketListener: sh.network, Tracer: sh.tracer}.Listen(":19132")
	if err != nil {
		return err
	}
	var server sync.WaitGroup
	server.Go(func() { sh.serve(&server, listener) })
	defer server.Wait()
	defer listener.Close()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var clients sync.WaitGroup
		for i := range sh.clients {
			clients.Go(func() {
				if err := sh.client(ctx, i, listener.Addr().String()); err != nil {
					cancel(fmt.Errorf("client %d: %w", i, err))
				}
			})
		}
		clients.Wait()
	}()

	redraw := time.NewTicker(sc.interval())
	defer redraw.Stop()
	for {
		select {
		case <-redraw.C:
			sc.draw(sh.snapshot())
		case <-done:
			if err := context.Cause(ctx); err != nil {
				return err
			}
			for _, t := range sh.tallies {
				t.end(int(sh.messages()) * sh.clients)
			}
			return nil
		}
	}
}

// client connects, sends in every mode until the time is up, and leaves when all that
// has to arrive has arrived.
func (sh *show) client(ctx context.Context, id int, address string) error {
	conn, err := raknet.Dialer{UpstreamDialer: sh.network, Tracer: sh.tracer}.DialContext(ctx, address)
	if err != nil {
		return err
	}
	sh.note(conn, false)
	var receipts sync.WaitGroup
	defer receipts.Wait()
	defer conn.Close() // which ends the wait for receipts that are still open
	ticker := time.NewTicker(time.Second / time.Duration(sh.rate))
	defer ticker.Stop()
	for n := range sh.messages() {
		for i, t := range sh.tallies {
			// A channel for each mode: none waits for what another has lost.
			receipt, err := conn.Send(ctx, appendMessage(nil, id, i, n, time.Since(sh.start)),
				raknet.SendOptions{Reliability: t.mode, Channel: uint8(i)})
			if err != nil {
				return err
			}
			t.sent()
			if receipt != nil {
				receipts.Go(func() {
					<-receipt.Done()
					t.receipt(id, n, receipt.Err() == nil)
				})
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return sh.drain(ctx, conn)
}

// messages is how many messages each client sends in each mode.
func (sh *show) messages() uint32 {
	return uint32(max(1, sh.duration*time.Duration(sh.rate)/time.Second))
}

// drain waits until nothing is on its way any more that has to arrive.
func (sh *show) drain(ctx context.Context, conn *raknet.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, drainLimit)
	defer cancel()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for !sh.complete() {
		select {
		case <-poll.C:
		case <-ctx.Done():
			return nil // the verdict names what is missing
		case <-conn.Context().Done():
			return context.Cause(conn.Context())
		}
	}
	return nil
}

func (sh *show) complete() bool {
	for _, t := range sh.tallies {
		if !t.complete(int(sh.messages()) * sh.clients) {
			return false
		}
	}
	return true
}

// serve accepts the clients and counts what they send.
func (sh *show) serve(wg *sync.WaitGroup, listener *raknet.Listener) {
	for {
		conn, err := listener.AcceptContext(context.Background())
		if err != nil {
			return // closed: the show is over
		}
		sh.note(conn, true)
		wg.Go(func() {
			if err := sh.receive(conn); err != nil {
				sh.fail(err)
			}
		})
	}
}

// receive counts the messages of one client until it says good-bye.
func (sh *show) receive(conn *raknet.Conn) error {
	for {
		m, err := conn.Receive(context.Background())
		if err != nil {
			var left *raknet.DisconnectError
			if errors.As(err, &left) {
				return nil // an orderly close, by the client or of the listener
			}
			return err
		}
		client, mode, n, sent, err := parseMessage(m.Data)
		if err != nil {
			return err
		}
		sh.tallies[mode].arrived(client, n, time.Since(sh.start)-sent)
	}
}

func (sh *show) note(conn *raknet.Conn, server bool) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.conns = append(sh.conns, conn)
	sh.served[conn] = server
}

func (sh *show) fail(err error) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.failed == nil {
		sh.failed = err
	}
}

// picture is everything that the screen shows.
type picture struct {
	elapsed, total time.Duration
	rows           [modes]row
	outdated       int // sequenced messages that came too late to be delivered
	rtt            time.Duration
	datagrams      uint64 // sent by both sides
	lost           uint64 // of those, by the network
	doubled        uint64
	resent         uint64
}

func (sh *show) snapshot() picture {
	p := picture{elapsed: time.Since(sh.start), total: sh.duration}
	for i, t := range sh.tallies {
		p.rows[i] = t.snapshot()
	}
	count := sh.network.Count()
	p.datagrams, p.lost, p.doubled = count.Sent, count.Lost, count.Duplicated
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for _, c := range sh.conns {
		stats := c.Stats()
		p.resent += stats.FramesResent
		if sh.served[c] {
			p.outdated += int(stats.OutdatedReceived)
		} else {
			p.rtt += stats.RTT / time.Duration(sh.clients)
		}
	}
	return p
}

// verdict is nil if every promise was kept.
func (sh *show) verdict() error {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.failed != nil {
		return sh.failed
	}
	for _, t := range sh.tallies {
		if r := t.snapshot(); r.broken != "" {
			return fmt.Errorf("%v broke its promise: %s", t.mode, r.broken)
		}
	}
	return nil
}
