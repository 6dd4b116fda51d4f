package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	goraknet "github.com/sandertv/go-raknet"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/histogram"
)

// A game: every player sends some messages a second and is sent more. Whoever sends has one
// goroutine that wakes every millisecond and serves those whose turn it is; the turns are
// spread evenly. Clients are always this library's, so that every server has the same players, but those of bareUDP.
const (
	upRate, upSize     = 20, 100
	downRate, downSize = 60, 300
	gameTick           = time.Millisecond
	gameHeader         = 14 // identifier, nothing, number, when it was sent
	// gameBehind is how many turns a sender makes up for when it was held up.
	gameBehind = 8
)

// flow checks the messages of one direction of a player.
type flow struct{ next uint32 }

func composeTurn(b []byte, number uint32) {
	b[0] = messageID
	binary.BigEndian.PutUint32(b[2:], number)
	binary.BigEndian.PutUint64(b[6:], uint64(time.Now().UnixNano()))
	b[len(b)-1] = byte(number)
}

// take checks a message and returns how long it took.
func (f *flow) take(b []byte, size int) (time.Duration, error) {
	if len(b) != size || b[0] != messageID || binary.BigEndian.Uint32(b[2:]) != f.next || b[size-1] != byte(f.next) {
		return 0, fmt.Errorf(corruption+"a message of %d bytes came when message %d was next", len(b), f.next)
	}
	f.next++
	return time.Duration(time.Now().UnixNano() - int64(binary.BigEndian.Uint64(b[6:]))), nil
}

// writer is what both libraries' connections are.
type writer interface{ Write([]byte) (int, error) }

// player is one that is sent to, with where in its period its turn is.
type player struct {
	conn   writer
	number uint32
	due    time.Duration
}

// turns sends to players as their turns come.
type turns struct {
	counted
	times   histogram.Histogram
	mu      sync.Mutex
	players []*player
	sent    atomic.Int64
	halt    atomic.Bool
	stopped chan struct{}
	flush   func() // sends what was written to players; nil: that leaves by itself
}

func newTurns() *turns {
	t := &turns{stopped: make(chan struct{})}
	t.failed = make(chan error, 1)
	return t
}

func (t *turns) join(conn writer, phase time.Duration) {
	t.mu.Lock()
	t.players = append(t.players, &player{conn: conn, due: now() + phase})
	t.mu.Unlock()
}

func (t *turns) run(rate, size int) {
	defer close(t.stopped)
	period := time.Second / time.Duration(rate)
	m := make([]byte, size)
	tick := time.NewTicker(gameTick)
	defer tick.Stop()
	for !t.halt.Load() {
		<-tick.C
		t.mu.Lock()
		players := t.players
		t.mu.Unlock()
		at := now()
		for _, p := range players {
			if p.due > at {
				continue
			}
			p.due = max(p.due+period, at-gameBehind*period)
			composeTurn(m, p.number)
			p.number++
			if _, err := p.conn.Write(m); err != nil {
				t.fail(fmt.Errorf("sending message %d: %w", p.number, err))
				return
			}
			t.sent.Add(1)
		}
		if t.flush != nil {
			t.flush()
		}
	}
}

// got takes a received message.
func (t *turns) got(f *flow, b []byte, size int) {
	took, err := f.take(b, size)
	if err != nil {
		t.fail(err)
		return
	}
	t.times.Add(took)
	t.messages.Add(1)
}

func (t *turns) look(l *Look) {
	t.counted.look(l)
	l.Latencies = t.times.Counts()
	l.Sent = t.sent.Load()
}

func (t *turns) stop() error {
	t.halt.Store(true)
	select {
	case <-t.stopped:
		return nil
	case <-time.After(settleTime):
		return errors.New("the last messages found no room")
	}
}

// settle waits until as many have come.
func (t *turns) settle(expect int64) error {
	deadline := now() + settleTime
	for t.messages.Load() != expect {
		select {
		case err := <-t.failed:
			return err
		default:
		}
		if now() > deadline {
			return fmt.Errorf("of %d messages %d came within %v", expect, t.messages.Load(), settleTime)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil
}

func newGameServer(c *Cell) (string, end, error) {
	phaseOf := func(t *turns) time.Duration {
		return time.Duration(len(t.players)) * (time.Second / downRate) / time.Duration(c.Count)
	}
	if c.Library == bareUDP {
		return newBareGame(phaseOf)
	}
	t := newTurns()
	phase := func() time.Duration { return phaseOf(t) }
	go t.run(downRate, downSize)
	if c.Library == goRaknet {
		l, err := goraknet.Listen("127.0.0.1:0")
		if err != nil {
			return "", nil, err
		}
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					t.fail(err)
					return
				}
				go readPlayer(t, conn)
				t.join(conn, phase())
			}
		}()
		return l.Addr().String(), t, nil
	}
	var flows sync.Map // of connections; its reads take no lock
	conf := raknet.ListenConfig{AcceptBacklog: 1024, Handler: func(conn *raknet.Conn, m raknet.Message) {
		f, ok := flows.Load(conn)
		if !ok {
			f, _ = flows.LoadOrStore(conn, new(flow))
		}
		t.got(f.(*flow), m.Data, upSize)
	}}
	l, err := conf.Listen("127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				t.fail(err)
				return
			}
			t.join(conn, phase())
		}
	}()
	return l.Addr().String(), t, nil
}

func readPlayer(t *turns, conn net.Conn) {
	var f flow
	b := make([]byte, 2048)
	for {
		n, err := conn.Read(b)
		if err != nil {
			t.fail(err)
			return
		}
		t.got(&f, b[:n], upSize)
	}
}

func newGameClients(c *Cell) (end, error) {
	phase := func(i int) time.Duration { return time.Duration(i) * (time.Second / upRate) / time.Duration(c.Count) }
	if c.Library == bareUDP {
		return newBarePlayers(c.Address, c.Count, phase)
	}
	t := newTurns()
	err := dialAll(c.Address, c.Count, func(i int, conn *raknet.Conn) {
		f := new(flow)
		conn.Handle(func(m raknet.Message) { t.got(f, m.Data, downSize) })
		t.join(conn, phase(i))
	})
	if err != nil {
		return nil, err
	}
	go t.run(upRate, upSize)
	return t, nil
}
