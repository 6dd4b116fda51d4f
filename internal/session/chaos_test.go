package session

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/protocol"
)

// weather is what a path does to every datagram, by chance.
type weather struct {
	name           string
	loss, dup      float64
	jitter         time.Duration
	burst          time.Duration // for how long everything is lost once a loss begins
	partition      time.Duration
	partitionEvery time.Duration
}

func (w weather) path(p *pair, r *rand.Rand) path {
	var lostUntil [2]monotime.Time
	return func(from Side, _ int, _ []byte) fate {
		if w.partition > 0 && (p.now.Sub(start))%w.partitionEvery < w.partition && p.now.Sub(start) > w.partitionEvery {
			return fate{drop: true}
		}
		if p.now < lostUntil[from] {
			return fate{drop: true}
		}
		var f fate
		if r.Float64() < w.loss {
			lostUntil[from] = p.now.Add(w.burst)
			return fate{drop: true}
		}
		if r.Float64() < w.dup {
			f.copies = 1 + r.IntN(2)
		}
		if w.jitter > 0 {
			f.late = time.Duration(r.Int64N(int64(w.jitter)))
		}
		return f
	}
}

// post is a message of the chaos tests: it names its mode, channel and number.
func post(mode protocol.Reliability, channel uint8, number, size int) string {
	b := make([]byte, max(size, 7))
	b[0], b[1], b[2] = 0xfe, byte(mode), channel
	binary.BigEndian.PutUint32(b[3:], uint32(number))
	for i := 7; i < len(b); i++ {
		b[i] = byte(i * number)
	}
	return string(b)
}

// oracle checks what one side receives against what the other sent.
type oracle struct {
	sent    map[string]bool // message -> delivered
	newest  map[[2]byte]int // mode and channel -> number last delivered
	counts  map[[2]byte]int
	pending int // reliable messages not yet delivered
}

func newOracle() *oracle {
	return &oracle{sent: map[string]bool{}, newest: map[[2]byte]int{}, counts: map[[2]byte]int{}}
}

func (o *oracle) send(r *rand.Rand, n *node) error {
	mode := protocol.Reliability(r.IntN(5))
	channel := uint8(r.IntN(3))
	size := 7 + r.IntN(40)
	if r.IntN(10) == 0 {
		size = r.IntN(6000)
	}
	if mode < protocol.Reliable {
		size = min(size, 1000)
	}
	key := [2]byte{byte(mode), channel}
	m := post(mode, channel, o.counts[key], size)
	err := n.Send(n.p.now, &arq.Message{Payload: []byte(m), Reliability: mode, Channel: channel, Priority: protocol.Priority(r.IntN(4))})
	if err == nil {
		o.counts[key]++
		o.sent[m] = false
		if mode == protocol.Reliable || mode == protocol.ReliableOrdered {
			o.pending++
		}
	}
	return err
}

func (o *oracle) receive(m string) error {
	was, known := o.sent[m]
	mode, channel, number := protocol.Reliability(m[1]), m[2], int(binary.BigEndian.Uint32([]byte(m[3:])))
	key := [2]byte{m[1], channel}
	last, any := o.newest[key]
	if !any {
		last = -1
	}
	switch {
	case !known:
		return fmt.Errorf("%v %d on %d was never sent", mode, number, channel)
	case was && mode.IsReliable():
		return fmt.Errorf("%v %d on %d twice", mode, number, channel)
	case mode.IsOrdered() && number != last+1:
		return fmt.Errorf("%v %d on %d after %d", mode, number, channel, last)
	case mode.IsSequenced() && number <= last:
		return fmt.Errorf("%v %d on %d after %d", mode, number, channel, last)
	}
	o.newest[key] = number
	o.sent[m] = true
	if mode == protocol.Reliable || mode == protocol.ReliableOrdered {
		o.pending--
	}
	return nil
}

func TestEveryModeKeepsItsPromiseInEveryWeather(t *testing.T) {
	weathers := []weather{
		{name: "clear"},
		{name: "lossy", loss: 0.1},
		{name: "stormy", loss: 0.4, dup: 0.1, jitter: 30 * time.Millisecond},
		{name: "bursts", loss: 0.02, burst: 80 * time.Millisecond},
		{name: "duplicates", dup: 0.9},
		{name: "reordering", jitter: 100 * time.Millisecond},
		{name: "everything", loss: 0.15, dup: 0.2, jitter: 60 * time.Millisecond, burst: 20 * time.Millisecond},
		{name: "partitions", loss: 0.02, partition: 4 * time.Second, partitionEvery: 9 * time.Second},
	}
	for _, w := range weathers {
		t.Run(w.name, func(t *testing.T) {
			for seed := range uint64(6) {
				chaos(t, w, seed)
			}
		})
	}
}

func chaos(t *testing.T, w weather, seed uint64) {
	r := dice(t, seed)
	near := int64(r.IntN(200)) // how far below the wrap the counters start
	p := newPair(t, func(c, s *Config) {
		if seed%2 == 1 {
			for _, cfg := range []*Config{c, s} {
				cfg.ARQ = arq.Config{FirstDatagram: 1<<24 - near, FirstReliable: 1<<24 - near/2, FirstOrder: 1<<24 - near/3, FirstSplit: uint16(-near)}
			}
		}
		c.MTU = []int{1492, 1200, 576, 400}[seed%4]
		s.MTU = c.MTU
	})
	p.path = w.path(p, r)
	ok := func() bool { return p.client.State() == Connected && p.server.State() == Connected }
	p.until("connected", 10*time.Second, ok)
	up, down := newOracle(), newOracle()
	read := func() {
		for _, m := range p.server.messages {
			require.NoError(t, up.receive(m), "seed %d", seed)
		}
		for _, m := range p.client.messages {
			require.NoError(t, down.receive(m), "seed %d", seed)
		}
		p.server.messages, p.client.messages = nil, nil
	}
	for range 150 {
		for range r.IntN(6) {
			_ = up.send(r, &p.client)
			_ = down.send(r, &p.server)
		}
		p.client.settle()
		p.server.settle()
		p.run(time.Duration(r.IntN(40)) * time.Millisecond)
		read()
	}
	for limit := p.now.Add(time.Minute); up.pending+down.pending > 0; read() {
		if !p.step(limit) {
			t.Fatalf("seed %d: %d and %d messages did not arrive; client %v, server %v", seed, up.pending, down.pending, p.client.Err(), p.server.Err())
		}
	}
	require.Equal(t, Connected, p.client.State(), "seed %d", seed)
	require.Equal(t, Connected, p.server.State(), "seed %d", seed)

	// The last words of one side arrive before its close.
	for range 20 {
		_ = up.send(r, &p.client)
	}
	p.client.close()
	for limit := p.now.Add(15 * time.Second); p.client.State() != Dead || p.server.State() != Dead; read() {
		if !p.step(limit) {
			break
		}
	}
	read()
	if p.client.closed == ErrClosed {
		require.Zero(t, up.pending, "seed %d", seed)
	} else {
		require.ErrorIs(t, p.client.closed, ErrCloseTimeout, "seed %d", seed)
		require.True(t, w.partition > 0 || w.loss >= 0.4, "seed %d: %s", seed, p.client.closed)
	}
	p.finish()
}

// A hostile third party that knows the addresses sends noise into both ends.
func TestNoiseFromStrangersChangesNothing(t *testing.T) {
	p := connectedPair(t, nil)
	r := dice(t, 3)
	o := newOracle()
	for range 300 {
		_ = o.send(r, &p.client)
		p.client.settle()
		noise := make([]byte, r.IntN(60))
		for i := range noise {
			noise[i] = byte(r.Uint32())
		}
		if len(noise) > 0 {
			noise[0] &^= 0x40 // no ACKs: forged ones that hit what is in flight are believed
			if noise[0]&0xa0 == 0xa0 {
				noise[0] = 0
			}
		}
		if len(noise) >= 4 && noise[0]&0x80 != 0 {
			copy(noise[1:], []byte{0, 0, 0x40}) // a number far away
		}
		p.server.Receive(p.now, nil, noise)
		p.server.settle()
		p.run(50 * time.Millisecond)
	}
	p.run(time.Second)
	require.Equal(t, Connected, p.server.State(), p.server.Err())
	for _, m := range p.server.messages {
		require.NoError(t, o.receive(m))
	}
	require.Zero(t, o.pending)
}

func TestEqualInputsGiveEqualOutputs(t *testing.T) {
	var runs [2]strings.Builder
	for i := range runs {
		p := newPair(t, nil)
		r := rand.New(rand.NewPCG(9, 9))
		chance := weather{loss: 0.1, dup: 0.1, jitter: 20 * time.Millisecond}.path(p, r)
		p.path = func(from Side, n int, data []byte) fate {
			fmt.Fprintf(&runs[i], "%d %v %x\n", p.now, from, data)
			return chance(from, n, data)
		}
		p.until("connected", 10*time.Second, func() bool { return p.client.State() == Connected })
		o := newOracle()
		for range 100 {
			_ = o.send(r, &p.client)
			p.client.settle()
			p.run(5 * time.Millisecond)
		}
		p.client.close()
		p.run(10 * time.Second)
	}
	require.Equal(t, runs[0].String(), runs[1].String())
}
