package session

import (
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// The rig: one connection, and a peer that is played by the test datagram by datagram.

type rig struct {
	Conn
	t        testing.TB
	now      monotime.Time
	inUse    int64
	acked    []uint32 // datagram numbers that the connection acknowledged, each once
	known    []uint32 // and ever acknowledged
	nacks    int      // NACK datagrams
	frames   []wire.Frame
	out      [][]byte // datagrams
	messages []string
	events   []Event
	number   uint32 // the test peer's next datagram number, reliable and ordering index
	reliable uint32
	order    uint32
	autoAck  bool
}

func newRig(t testing.TB, cfg Config) *rig {
	t.Helper()
	r := &rig{t: t, now: start, inUse: pool.InUse(), autoAck: true}
	if cfg.MTU == 0 {
		cfg.MTU = 1400
	}
	if cfg.Version == 0 {
		cfg.Version = protocol.VersionCurrent
	}
	cfg.EpochMilli = someEpoch
	r.number = uint32(cfg.ARQ.FirstDatagram) & 0xffffff
	r.reliable = uint32(cfg.ARQ.FirstReliable) & 0xffffff
	r.order = uint32(cfg.ARQ.FirstOrder) & 0xffffff
	r.Init(r.now, &cfg)
	t.Cleanup(func() {
		r.Release()
		if n := pool.InUse() - r.inUse; n != 0 && !t.Failed() {
			t.Errorf("%d buffers were not returned", n)
		}
	})
	r.settle()
	return r
}

// connectedServer is a server whose client's datagrams 0 and 1 completed the handshake.
func connectedServer(t testing.TB, cfg Config) *rig {
	t.Helper()
	cfg.Side = Server
	r := newRig(t, cfg)
	r.send(protocol.ReliableOrdered, request(1))
	r.send(protocol.ReliableOrdered, incoming())
	if r.State() != Connected {
		t.Fatalf("server is %v after the handshake", r.State())
	}
	r.forget()
	return r
}

// connectedClient is a client whose server's datagram 0 completed the handshake.
func connectedClient(t testing.TB, cfg Config) *rig {
	t.Helper()
	cfg.Side = Client
	r := newRig(t, cfg)
	r.send(protocol.ReliableOrdered, acceptance(10))
	if r.State() != Connected {
		t.Fatalf("client is %v after the handshake", r.State())
	}
	r.forget()
	return r
}

func request(guid int64) []byte {
	p := wire.ConnectionRequest{GUID: guid, Time: 1}
	return p.Append(nil)
}

func acceptance(addresses int) []byte {
	p := wire.ConnectionRequestAccepted{Internal: addresses, RequestTime: 1, Time: 2}
	return p.Append(nil)
}

func incoming() []byte {
	p := wire.NewIncomingConnection{Internal: 20, AcceptedTime: 1, Time: 2}
	return p.Append(nil)
}

// forget empties what was recorded.
func (r *rig) forget() {
	r.acked, r.nacks, r.frames, r.out, r.messages, r.events = nil, 0, nil, nil, nil, nil
}

// settle records everything that comes out, and does what is due by then. With
// autoAck the played peer acknowledges what it gets, at once.
func (r *rig) settle() {
	r.t.Helper()
	for range 2 {
		for r.transmit() {
		}
		if r.Deadline() > r.now {
			return
		}
		r.Advance(r.now)
	}
	for r.transmit() {
	}
	if d := r.Deadline(); d <= r.now {
		r.t.Fatalf("deadline %v is not after now, with nothing to transmit", d.Sub(r.now))
	}
}

// transmit records what comes out and reports whether the peer answered any of it.
func (r *rig) transmit() bool {
	r.take()
	var owed []uint32
	for b := r.Transmit(r.now); b != nil; b = r.Transmit(r.now) {
		data := slices.Clone(b.Bytes())
		b.Release()
		r.out = append(r.out, data)
		switch wire.Classify(data) {
		case wire.KindFrameSet:
			number, _, _ := wire.ParseDatagramHeader(data)
			owed = append(owed, number)
			r.frames = append(r.frames, framesOf(data)...)
		case wire.KindACK:
			for _, n := range numbersOf(data) {
				if !slices.Contains(r.known, n) { // the first ACKs of a connection are said again
					r.known = append(r.known, n)
					r.acked = append(r.acked, n)
				}
			}
		case wire.KindNACK:
			r.nacks++
		}
	}
	if !r.autoAck || len(owed) == 0 {
		r.take()
		return false
	}
	for _, n := range owed {
		r.Receive(r.now, nil, ack(n))
	}
	return true
}

func (r *rig) take() {
	var ev Event
	for r.Next(&ev) {
		r.events = append(r.events, ev)
	}
	var d arq.Delivery
	for r.NextMessage(&d) {
		r.messages = append(r.messages, string(d.AppendTo(nil)))
		d.Release()
	}
}

// raw plays one datagram.
func (r *rig) raw(data []byte) arq.Verdict {
	r.t.Helper()
	b := pool.Get(pool.ClassRead)
	b.N = copy(b.B, data)
	v := r.Receive(r.now, b, b.Bytes())
	b.Release()
	r.settle()
	return v
}

// hex plays datagrams written in hex.
func (r *rig) hex(datagrams ...string) {
	r.t.Helper()
	for _, d := range datagrams {
		data, err := hex.DecodeString(strings.ReplaceAll(d, " ", ""))
		if err != nil {
			r.t.Fatal(err)
		}
		r.raw(data)
	}
}

// frame is the next frame of the played peer, on channel 0.
func (r *rig) frame(dst []byte, mode protocol.Reliability, payload []byte) []byte {
	f := wire.Frame{Reliability: mode, Reliable: r.reliable, Order: r.order}
	if mode.IsReliable() {
		r.reliable = (r.reliable + 1) & 0xffffff
	}
	if mode.IsOrdered() {
		r.order = (r.order + 1) & 0xffffff
	}
	return append(wire.AppendFrameHeader(dst, &f, len(payload)), payload...)
}

// datagram is the played peer's next datagram, with one message.
func (r *rig) datagram(mode protocol.Reliability, payload []byte) []byte {
	return r.appendDatagram(nil, mode, payload)
}

func (r *rig) appendDatagram(dst []byte, mode protocol.Reliability, payload []byte) []byte {
	dst = r.frame(wire.AppendDatagramHeader(dst, wire.FrameSetID, r.number), mode, payload)
	r.number = (r.number + 1) & 0xffffff
	return dst
}

// send plays a datagram with one message, with the next numbers, in as many
// fragments as that takes.
func (r *rig) send(mode protocol.Reliability, payload []byte) arq.Verdict {
	r.t.Helper()
	if len(payload) <= arq.MaxFrame(r.MTU()) {
		return r.raw(r.datagram(mode, payload))
	}
	mode = mode.Split()
	per := arq.MaxFrame(r.MTU())
	f := wire.Frame{Reliability: mode, Order: r.order, Split: true, SplitCount: uint32((len(payload) + per - 1) / per)}
	if mode.IsOrdered() {
		r.order = (r.order + 1) & 0xffffff
	}
	verdict := arq.VerdictAccepted
	for ; len(payload) > 0; f.SplitIndex++ {
		f.Reliable = r.reliable
		r.reliable = (r.reliable + 1) & 0xffffff
		n := min(per, len(payload))
		data := wire.AppendDatagramHeader(nil, wire.FrameSetID, r.number)
		r.number = (r.number + 1) & 0xffffff
		verdict = max(verdict, r.raw(append(wire.AppendFrameHeader(data, &f, n), payload[:n]...)))
		payload = payload[n:]
	}
	return verdict
}

// after lets d pass, stopping at every deadline.
func (r *rig) after(d time.Duration) {
	r.t.Helper()
	until := r.now.Add(d)
	for r.Deadline() <= until {
		r.now = max(r.now, r.Deadline())
		r.Advance(r.now)
		r.settle()
	}
	r.now = until
}

// count returns how many messages with the given first byte were sent.
func (r *rig) count(id protocol.ID) int {
	n := 0
	for _, f := range r.frames {
		if protocol.ID(f.Payload[0]) == id {
			n++
		}
	}
	return n
}

// last returns the last message sent with the given first byte.
func (r *rig) last(id protocol.ID) wire.Frame {
	r.t.Helper()
	for _, f := range slices.Backward(r.frames) {
		if protocol.ID(f.Payload[0]) == id {
			return f
		}
	}
	r.t.Fatalf("no %v was sent", id)
	return wire.Frame{}
}

func (r *rig) closedWith() error {
	for _, ev := range r.events {
		if ev.Kind == EventClosed {
			return ev.Err
		}
	}
	return nil
}

// framesOf returns the frames of a frame set, or nil for anything else.
func framesOf(data []byte) []wire.Frame {
	_, body, err := wire.ParseDatagramHeader(data)
	if err != nil {
		return nil
	}
	var all []wire.Frame
	it := wire.Frames(body)
	var f wire.Frame
	for it.Next(&f) {
		all = append(all, f)
	}
	return all
}

// numbersOf returns the numbers in an ACK.
func numbersOf(data []byte) []uint32 {
	it, err := wire.ParseRanges(data)
	if err != nil {
		return nil
	}
	var all []uint32
	for {
		g, ok := it.Next()
		if !ok {
			return all
		}
		for n := g.First; n <= g.Last; n++ {
			all = append(all, n)
		}
	}
}

func ack(numbers ...uint32) []byte { return report(wire.ACKID, numbers) }

// report writes single records: one range each.
func report(id byte, numbers []uint32) []byte {
	b := []byte{id, 0, byte(len(numbers))}
	for _, n := range numbers {
		b = wire.AppendUint24(append(b, 1), n)
	}
	return b
}

// dice is a source of chance that names its seed.
func dice(t *testing.T, seed uint64) *rand.Rand {
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// poolRead is a read buffer with data in it.
func poolRead(data []byte) *pool.Buffer {
	b := pool.Get(pool.ClassRead)
	b.N = copy(b.B, data)
	return b
}
