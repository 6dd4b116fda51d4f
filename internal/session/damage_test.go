package session

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/hostile"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// damagedSession is the connection that damaged vectors are played against.
type damagedSession struct {
	*stage
	play      *hostile.Player
	prints    *hostile.Fingerprints
	now       *hostile.Instant
	own       int64 // buffers that the connection had in the vector's state
	datagrams int   // received
	bytes     int
	answers   int // datagrams sent
	delivered int // bytes
	before    Stats
	next      uint32 // the peer's next datagram number
	connected int    // events
	closed    []error
}

const (
	// answersAtOnce and answersEach bound the datagrams that a connection sends in a tenth of a
	// second for a vector: what it sends and resends anyhow, and what for each datagram.
	answersAtOnce, answersEach = 8, 2
	// restless is after how many rounds of timers a connection should have come to rest.
	restless = 100
	// minFrame is the length of the shortest frame: flags, length, one byte.
	minFrame = 4
	// fewGroups is Limits.ReassemblyGroups for the flood of a thousand split messages: they
	// reach that bound as they reach the usual one, sooner. The engine's own test has the usual one.
	fewGroups = 16
)

func (d *damagedSession) Start(v *hostile.Vector) {
	var limits arq.Limits
	if len(v.Datagrams) > 256 {
		limits.ReassemblyGroups = fewGroups
	}
	s := stageOf(d.now, v, limits)
	*d = damagedSession{stage: s, play: d.play, prints: d.prints, now: d.now, own: pool.InUse() - s.inUse, next: s.number, closed: d.closed[:0]}
	s.after(time.Millisecond)
	s.Advance(s.now)
	s.settle()
	s.forget()
}

func (d *damagedSession) Receive(data []byte) (took bool) {
	state := d.Conn.State()
	d.Stats(&d.before)
	strangeAt, stranger := d.strangeAt, d.stranger
	v := d.raw(data)
	d.datagrams++
	d.bytes += len(data)
	connected := len(data) > 0 && data[0]&0x80 != 0
	if !connected || v == arq.VerdictMalformed || v == arq.VerdictRefused || v == arq.VerdictTooFar {
		d.dropped(v, len(data), connected)
		// Of what is dropped the number is remembered, and the next higher one believed: see place. Here
		// the damaged ones follow each other, and each is to be judged alone.
		d.strangeAt, d.stranger = strangeAt, stranger
		if d.Conn.State() != state {
			d.play.Fatalf("a datagram was dropped (%v), and the connection is %v", v, d.Conn.State())
		}
		return false
	}
	d.note()
	if v == arq.VerdictAccepted && wire.Classify(data) == wire.KindFrameSet {
		if n := wire.Uint24(data[1:]); (n-d.next)&0xffffff < 1<<23 {
			d.next = (n + 1) & 0xffffff
		}
	}
	switch held := pool.InUse() - d.inUse - d.own; {
	case d.delivered > d.bytes:
		d.play.Fatalf("%d bytes were delivered of %d received", d.delivered, d.bytes)
	case d.delivered > 0 && d.Conn.State() == Handshaking:
		d.play.Fatalf("%d bytes were delivered before the handshake", d.delivered)
	case held > int64(1+d.bytes/minFrame):
		d.play.Fatalf("%d bytes are held in %d buffers", d.bytes, held)
	}
	return true
}

// note counts what came out.
func (d *damagedSession) note() {
	for _, b := range d.out {
		if len(b) == 0 || len(b) > d.MTU()-protocol.UDPOverhead {
			d.play.Fatalf("a datagram of %d bytes leaves", len(b))
		}
	}
	d.answers += len(d.out)
	for _, m := range d.messages {
		d.delivered += len(m)
		if protocol.ID(m[0]).IsControl() {
			d.play.Fatalf("the application gets %x", m)
		}
	}
	for _, ev := range d.events {
		switch ev.Kind {
		case EventConnected:
			d.connected++
		case EventClosed:
			d.closed = append(d.closed, ev.Err)
		}
	}
	d.forget()
}

// dropped checks that a datagram without effect was counted, and nothing else.
func (d *damagedSession) dropped(v arq.Verdict, size int, connected bool) {
	want := d.before
	if connected {
		want.DatagramsReceived++
		want.BytesReceived += uint64(size)
	}
	switch v {
	case arq.VerdictMalformed:
		want.Violations++
	case arq.VerdictIgnored:
	default:
		want.DatagramsRefused++
	}
	var is Stats
	if d.Stats(&is); is != want || len(d.out)+len(d.messages)+len(d.events) > 0 {
		d.play.Fatalf("a datagram was dropped (%v), and %d datagrams, %d messages and %d events came of it; counted is %+v, before it %+v",
			v, len(d.out), len(d.messages), len(d.events), is, d.before)
	}
}

func (d *damagedSession) State() uint64 { return d.prints.Of(&d.Conn) }

func (d *damagedSession) Finish() {
	d.pass(100 * time.Millisecond)
	if most := answersAtOnce + answersEach*d.datagrams; d.answers > most {
		d.play.Fatalf("%d datagrams answer %d", d.answers, d.datagrams)
	}
	d.ending()
	if d.Conn.State() < Closing {
		d.goOn()
	}
}

func (d *damagedSession) Discard() {
	d.now.Finish() // releases everything and counts buffers
	if d.Deadline() != monotime.Never || d.Pending() {
		d.play.Fatalf("a dead connection has something to do")
	}
}

// pass lets time pass, with an end.
func (d *damagedSession) pass(t time.Duration) {
	until := d.rig.now.Add(t)
	for range restless {
		at := d.Deadline()
		if at > until {
			d.rig.now = until
			return
		}
		d.rig.now = max(d.rig.now, at)
		d.Advance(d.rig.now)
		d.settle() // fails when the deadline stays where it is
		d.note()
	}
	d.play.Fatalf("the connection does not come to rest")
}

// ending checks that the connection is in a state that a vector may bring about, and says why.
func (d *damagedSession) ending() {
	reasons := []error{ErrDisconnected}
	if d.Side() == Client {
		reasons = append(reasons, ErrRefused, ErrInvalidPassword)
	}
	var is Stats
	d.Stats(&is)
	switch state := d.Conn.State(); {
	case state != Handshaking && state != Connected && state != Closed:
		d.play.Fatalf("the connection is %v", state)
	case state == Closed && !slices.Contains(reasons, d.Err()), state != Closed && d.Err() != nil:
		d.play.Fatalf("the connection is %v, because: %v", state, d.Err())
	case state == Closed && !slices.Equal(d.closed, []error{d.Err()}), state != Closed && len(d.closed) > 0:
		d.play.Fatalf("the connection is %v (%v), its events said %v", state, d.Err(), d.closed)
	case d.connected > 1:
		d.play.Fatalf("it was connected %d times", d.connected)
	case is.ReassemblyBytes > 8<<20, is.HeldMessages > 8192, is.HeldBytes > 8<<20, is.UnreadBytes > heldBytes, is.UnreadMessages > heldMessages,
		is.UnreadMessages > 0 && state != Handshaking:
		d.play.Fatalf("the connection is %v and holds too much: %+v", state, is)
	}
}

// goOn lets both sides do what they do every day: the peer's next message arrives, ours leaves
// and is acknowledged, with all that was to be acknowledged before.
func (d *damagedSession) goOn() {
	connected := d.Conn.State() == Connected
	b := wire.AppendDatagramHeader(make([]byte, 0, 16), wire.FrameSetID, d.next)
	b = append(wire.AppendFrameHeader(b, &wire.Frame{Reliability: protocol.Unreliable}, 2), 0xfe, '!')
	if v := d.raw(b); v != arq.VerdictAccepted || connected != slices.Equal(d.messages, []string{"\xfe!"}) {
		d.play.Fatalf("the peer's next message: %v, delivered %x", v, d.messages)
	}
	err := d.Send(d.rig.now, &arq.Message{Payload: []byte{0xfe, '?'}, Reliability: protocol.ReliableOrdered})
	if connected != (err == nil) {
		d.play.Fatalf("sending while %v: %v", d.Conn.State(), err)
	}
	d.autoAck = true
	d.settle()
	d.pass(3 * time.Second) // what was lost is sent again
	if !d.Drained() || d.Conn.State() > Connected {
		d.play.Fatalf("the peer acknowledged everything for 3 s; drained: %v, state %v", d.Drained(), d.Conn.State())
	}
}

// calmSession is a connection to which nothing bad happens, beside those to which it does. It
// always has half of a split message or a message that waits for another, and speaks itself.
type calmSession struct {
	*rig
	now    *hostile.Instant
	prints *hostile.Fingerprints
}

func (c *calmSession) Begin()        { c.rig = connectedServer(c.now, Config{}) }
func (c *calmSession) End()          { c.now.Finish() }
func (c *calmSession) State() uint64 { return c.prints.Of(&c.Conn) }

func (c *calmSession) Step(i int) {
	c.after(5 * time.Millisecond)
	n := uint32(i)
	text := bytes.Repeat([]byte{0xfe, byte(i)}, 400)
	frame := func(b []byte, f wire.Frame, payload []byte) []byte {
		return append(wire.AppendFrameHeader(b, &f, len(payload)), payload...)
	}
	b := wire.AppendDatagramHeader(nil, wire.FrameSetID, c.number)
	c.number++
	// Channel 1: every second message comes before the one that it follows. Then fragment 0
	// of a message of two, or the other one of the message before.
	b = frame(b, wire.Frame{Reliability: protocol.ReliableOrdered, Reliable: 2 + 2*n, Channel: 1, Order: n ^ 1}, text)
	b = frame(b, wire.Frame{Reliability: protocol.Reliable, Reliable: 3 + 2*n, Split: true, SplitCount: 2, SplitID: uint16(n / 2), SplitIndex: n % 2}, text[:400])
	require.Equal(c.t, arq.VerdictAccepted, c.raw(b), "a bystander's step %d", i)
	if i%8 == 0 {
		ping := wire.ConnectedPing{Time: int64(i)}
		c.raw(frame(wire.AppendDatagramHeader(nil, wire.FrameSetID, c.number), wire.Frame{}, ping.Append(nil)))
		c.number++
	}
	for _, m := range c.messages {
		require.Len(c.t, m, 800, "a bystander's step %d", i)
		require.Equal(c.t, byte(0xfe), m[0])
	}
	require.Len(c.t, c.messages, i%2*3, "a bystander's step %d", i)
	require.NoError(c.t, c.Send(c.rig.now, &arq.Message{Payload: text[:200], Reliability: protocol.ReliableOrdered}))
	c.settle()
	require.Equal(c.t, Connected, c.Conn.State())
	c.forget()
}

// Every prefix of every datagram of every vector, and every byte of it changed to every other
// value, or a sample of that without -exhaustive: what comes of it is bounded, what is dropped
// leaves no trace, the connection ends or goes on, and another one notices nothing.
func TestHostileVectorsDamaged(t *testing.T) {
	buffers := pool.InUse()
	player := hostile.Player{T: t, Scope: hostile.NewScope(t), Drops: strikeBurst / 2}
	prints := hostile.NewFingerprints(
		"Engine.stats", "Conn.controls", "keepalive.pongsSent", "keepalive.pongsHeld", // these only count
		"Conn.strikes", "Conn.strangeAt", "Conn.stranger", "credit.left", // what a dropped datagram costs
		"keepalive.lastHeard", "Engine.refused", "reassembler.last") // what one that was refused for want of room may change
	player.Subject = &damagedSession{play: &player, prints: prints, now: &hostile.Instant{TB: t}}
	bystander := hostile.NewBystander(t, &calmSession{now: &hostile.Instant{TB: t}, prints: hostile.NewFingerprints()}, 200)
	player.Between = bystander.Look
	for _, v := range connectedVectors(t) {
		player.Play(&v)
	}
	steps := bystander.End()
	require.Equal(t, buffers, pool.InUse(), "buffers")
	t.Logf("%v, %d steps of a bystander", &player, steps)
}
