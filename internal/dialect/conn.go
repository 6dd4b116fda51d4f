package dialect

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"time"

	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// Message is one that the peer got.
type Message struct {
	Mode    protocol.Reliability
	Channel uint8
	Data    []byte
}

// Losses count what the peer's model does not survive.
type Losses struct {
	Dropped    int  // frames acknowledged and dropped
	Thrown     int  // datagrams that it choked on
	Blocked    bool // it hears nothing more, for what came too fast
	Unreadable int  // frame sets that do not parse
}

const (
	// tick is how often a peer looks at what is due.
	tick = 10 * time.Millisecond
	// resendAfter is how long an unacknowledged datagram is waited for, mostly.
	resendAfter = 300 * time.Millisecond
	// window is how many datagrams are under way at once.
	window = 32
)

// Conn is the peer's end of a connection. Its methods are called by its one goroutine.
type Conn struct {
	h      *Habits
	mtu    int
	server bool
	remote netip.AddrPort
	out    func([]byte)
	got    func(*Conn, Message)
	start  time.Time

	// Sending.
	number, reliable uint32
	orders, seqs     [32]uint32
	split            uint16
	queue            []pending // frame sets that never left
	flight           map[uint32]pending
	batch            [][]byte
	sent             int

	// Receiving.
	acks      []uint32
	ackFrom   time.Time
	highest   int64
	missing   map[uint32]bool
	came      map[uint32]bool
	taken     map[uint32]bool // reliable indexes
	lowest    uint32
	parts     map[uint16]map[uint32][]byte
	next      [32]uint32
	early     [32]map[uint32]Message
	rateTick  int64
	rateCount int
	heard     time.Time

	// The handshake.
	connected bool
	requested time.Time
	pings     int
	controls  map[byte]int // if not nil: those that came, by first byte

	Losses Losses
	closed bool
}

// pending is a frame set's content and when it left.
type pending struct {
	frames  []byte
	at      time.Time
	control bool
}

func newConn(h *Habits, server bool, mtu int, remote netip.AddrPort, out func([]byte), got func(*Conn, Message)) *Conn {
	c := &Conn{h: h, mtu: mtu, server: server, remote: remote, out: out, got: got, start: time.Now(), highest: -1,
		flight: map[uint32]pending{}, missing: map[uint32]bool{}, came: map[uint32]bool{}, taken: map[uint32]bool{}, parts: map[uint16]map[uint32][]byte{}}
	c.heard = c.start
	if !server {
		c.request()
	}
	return c
}

func (c *Conn) millis() int64 { return time.Since(c.start).Milliseconds() + 1000 }

// Connected reports whether the handshake is complete on this side.
func (c *Conn) Connected() bool { return c.connected }

// payload is how long a UDP payload may be.
func (c *Conn) payload() int {
	if c.h.WholeMTU {
		return c.mtu
	}
	return c.mtu - protocol.UDPOverhead
}

// Send queues a message.
func (c *Conn) Send(m Message) { c.send(m, false) }

func (c *Conn) send(m Message, control bool) {
	f := wire.Frame{Reliability: m.Mode.Wire(), Channel: m.Channel}
	most := c.payload() - wire.DatagramHeaderSize - wire.FrameHeaderSize(protocol.ReliableSequenced, true)
	count := (len(m.Data) + most - 1) / most
	if count > 1 {
		f.Reliability = m.Mode.Split().Wire()
		f.Split, f.SplitCount, f.SplitID = true, uint32(count), c.split
		c.split++
	}
	switch {
	case f.Reliability.IsOrdered():
		f.Order = c.orders[m.Channel]
		c.orders[m.Channel]++
		c.seqs[m.Channel] = 0
	case f.Reliability.IsSequenced():
		f.Order, f.Sequence = c.orders[m.Channel], c.seqs[m.Channel]
		c.seqs[m.Channel]++
	}
	order := make([]int, count)
	for i := range order {
		order[i] = i
	}
	if c.h.Order != nil {
		order = c.h.Order(count)
	}
	for _, i := range order {
		part := m.Data[i*most : min((i+1)*most, len(m.Data))]
		f.SplitIndex = uint32(i)
		if f.Reliability.IsReliable() {
			f.Reliable = c.reliable
			c.reliable++
		}
		frames := append(wire.AppendFrameHeader(nil, &f, len(part)), part...)
		if c.h.Receipts && !f.Reliability.IsSequenced() {
			receipt := map[protocol.Reliability]byte{protocol.Unreliable: 5, protocol.Reliable: 6, protocol.ReliableOrdered: 7}[f.Reliability]
			frames[0] = frames[0]&0x1f | receipt<<5
		}
		frames[0] |= c.h.FlagBits & 0x0f
		if c.h.OddBits {
			bits := len(part)*8 - 1 - i%7
			frames[1], frames[2] = byte(bits>>8), byte(bits)
		}
		if c.h.Padded {
			frames = append(frames, 0, 0, 0)
		}
		c.queue = append(c.queue, pending{frames: frames, control: control})
	}
	c.pump()
}

// pump sends what the window allows.
func (c *Conn) pump() {
	for len(c.queue) > 0 && len(c.flight) < window && !c.closed {
		p := c.queue[0]
		c.queue = c.queue[1:]
		c.leave(p)
	}
	if c.h.Backwards {
		slices.Reverse(c.batch)
	}
	for _, b := range c.batch {
		c.out(b)
		if c.h.Twice {
			c.out(b)
		}
	}
	c.batch = c.batch[:0]
}

func (c *Conn) leave(p pending) {
	first := c.h.First
	if first == 0 {
		first = wire.FrameSetID
	}
	if c.sent++; c.h.Empty && c.sent%5 == 0 {
		c.batch = append(c.batch, wire.AppendDatagramHeader(nil, first, c.number))
		c.number++
	}
	b := append(wire.AppendDatagramHeader(nil, first, c.number), p.frames...)
	mode := protocol.Reliability(p.frames[0] >> 5)
	if mode.IsReliable() && !c.h.OneNumber {
		p.at = time.Now()
		c.flight[c.number] = p
	}
	if !c.h.OneNumber {
		c.number++
	}
	c.batch = append(c.batch, b)
}

// receive takes one connected datagram.
func (c *Conn) receive(b []byte) {
	if c.Losses.Blocked || c.closed || len(b) < 3 {
		return
	}
	if now := time.Since(c.start).Nanoseconds() / tick.Nanoseconds(); now != c.rateTick {
		c.rateTick, c.rateCount = now, 0
	}
	if c.rateCount++; c.h.MaxRate > 0 && c.rateCount > c.h.MaxRate {
		c.Losses.Blocked = true
		return
	}
	c.heard = time.Now()
	switch wire.Classify(b) {
	case wire.KindACK:
		first := true
		c.each(b, func(n uint32) {
			if _, ok := c.flight[n]; ok && (first || !c.h.First1) {
				delete(c.flight, n)
				first = false
			}
		})
		c.pump()
	case wire.KindNACK:
		c.each(b, c.resend)
		c.pump()
	case wire.KindFrameSet:
		c.frameSet(b)
	}
}

func (c *Conn) each(b []byte, f func(n uint32)) {
	it, err := wire.ParseRanges(b)
	if err != nil {
		c.Losses.Unreadable++
		return
	}
	for r, ok := it.Next(); ok; r, ok = it.Next() {
		for n := r.First; n <= r.Last && n < c.number; n++ {
			f(n)
		}
	}
}

func (c *Conn) resend(n uint32) {
	p, ok := c.flight[n]
	if !ok {
		return
	}
	delete(c.flight, n)
	c.leave(p)
}

func (c *Conn) frameSet(b []byte) {
	number, body, _ := wire.ParseDatagramHeader(b)
	var frames []wire.Frame
	it := wire.Frames(body)
	for f := (wire.Frame{}); it.Next(&f); {
		if c.h.NoTopBit && f.Reliability >= protocol.ReliableSequenced {
			c.Losses.Thrown++
			return
		}
		f.Payload = slices.Clone(f.Payload)
		frames = append(frames, f)
	}
	if it.Err() != nil {
		c.Losses.Unreadable++
	}
	if len(c.acks) == 0 {
		c.ackFrom = time.Now()
	}
	c.acks = append(c.acks, number)
	for n := c.highest + 1; n < int64(number); n++ {
		c.missing[uint32(n)] = true
	}
	c.highest = max(c.highest, int64(number))
	delete(c.missing, number)
	again := c.came[number]
	c.came[number] = true
	for i := range frames {
		if f := &frames[i]; f.Reliability.IsReliable() || !again {
			c.frame(f)
		}
	}
	if c.h.AckAfter == 0 {
		c.report()
	}
}

func (c *Conn) frame(f *wire.Frame) {
	if f.Reliability.IsReliable() {
		if c.taken[f.Reliable] {
			return
		}
		if c.h.Window > 0 && f.Reliable > c.lowest+uint32(c.h.Window) {
			c.Losses.Dropped++
			return
		}
		c.taken[f.Reliable] = true
		for c.taken[c.lowest] {
			c.lowest++
		}
	}
	m := Message{Mode: f.Reliability, Channel: f.Channel, Data: f.Payload}
	if f.Split {
		parts := c.parts[f.SplitID]
		if c.h.MaxFragments > 0 && int(f.SplitCount) > c.h.MaxFragments || parts == nil && c.h.MaxSplits > 0 && len(c.parts) >= c.h.MaxSplits {
			c.Losses.Dropped++
			return
		}
		if parts == nil {
			parts = map[uint32][]byte{}
			c.parts[f.SplitID] = parts
		}
		parts[f.SplitIndex] = f.Payload
		if len(parts) < int(f.SplitCount) {
			return
		}
		m.Data = nil
		for i := range f.SplitCount {
			m.Data = append(m.Data, parts[i]...)
		}
		delete(c.parts, f.SplitID)
	}
	if !f.Reliability.IsOrdered() {
		c.message(m)
		return
	}
	if c.early[f.Channel] == nil {
		c.early[f.Channel] = map[uint32]Message{}
	}
	if f.Order >= c.next[f.Channel] {
		c.early[f.Channel][f.Order] = m
	}
	for {
		m, ok := c.early[f.Channel][c.next[f.Channel]]
		if !ok {
			return
		}
		delete(c.early[f.Channel], c.next[f.Channel])
		c.next[f.Channel]++
		c.message(m)
	}
}

// report sends ACKs and NACKs.
func (c *Conn) report() {
	slices.Sort(c.acks)
	c.acks = slices.Compact(c.acks)
	for len(c.acks) > 0 {
		id := wire.ACKID
		n := min(len(c.acks), (c.mtu-protocol.UDPOverhead-16)/7)
		b := c.ranges(id, c.acks[:n], c.h.Singles)
		if c.h.AckAS {
			b = slices.Insert(b, 1, 0x42, 0x28, 0, 0)
			b[0] |= 0x20
		}
		c.out(b)
		c.acks = c.acks[n:]
	}
	c.acks = nil
	nacks := make([]uint32, 0, len(c.missing))
	for n := range c.missing {
		nacks = append(nacks, n)
	}
	c.missing = map[uint32]bool{}
	if c.h.NackAll && c.highest >= 0 {
		nacks = nacks[:0]
		for n := max(c.highest-100, 0); n <= c.highest; n++ {
			nacks = append(nacks, uint32(n))
		}
	}
	if len(nacks) > 0 {
		slices.Sort(nacks)
		c.out(c.ranges(wire.NACKID, nacks[:min(len(nacks), 150)], c.h.Singles))
	}
}

func (c *Conn) ranges(id byte, numbers []uint32, singles bool) []byte {
	a := wire.StartRanges(nil, id, 1<<16)
	for i := 0; i < len(numbers); {
		j := i + 1
		for !singles && j < len(numbers) && numbers[j] == numbers[j-1]+1 {
			j++
		}
		a.Add(numbers[i], numbers[j-1])
		i = j
	}
	return a.Finish()
}

// tick does what is due.
func (c *Conn) tick() {
	now := time.Now()
	if len(c.acks) > 0 && now.Sub(c.ackFrom) >= c.h.AckAfter || c.h.NackAll {
		c.report()
	}
	if c.closed {
		return
	}
	if c.h.Empties {
		c.out([]byte{wire.ACKID, 0, 0})
	}
	patience := c.h.Resend
	if patience == 0 {
		patience = resendAfter
	}
	var due []uint32
	for n, p := range c.flight {
		if now.Sub(p.at) >= patience && !(p.control && c.h.Once) {
			due = append(due, n)
		}
	}
	slices.Sort(due)
	for _, n := range due {
		c.resend(n)
	}
	if !c.server && !c.connected && now.Sub(c.requested) >= time.Second {
		c.request()
	}
	c.pump()
}

func (c *Conn) control(mode protocol.Reliability, data []byte) {
	c.send(Message{Mode: mode, Data: data}, true)
}

// request sends a client's 09.
func (c *Conn) request() {
	c.requested = time.Now()
	r := wire.ConnectionRequest{GUID: c.h.guid(), Time: c.millis()}
	c.control(protocol.Reliable, r.Append(nil))
}

func (h *Habits) guid() int64 {
	if h.GUID != 0 {
		return h.GUID
	}
	return 0x1122334455667788
}

func (c *Conn) ping() {
	c.pings++
	p := wire.ConnectedPing{Time: c.millis()}
	c.control(protocol.Unreliable, p.Append(nil))
}

// message takes one message, in its order.
func (c *Conn) message(m Message) {
	if id := protocol.ID(m.Data[0]); c.controls != nil && id.IsControl() {
		c.controls[m.Data[0]]++
	}
	switch protocol.ID(m.Data[0]) {
	case protocol.IDConnectedPing:
		c.pong(int64(binary.BigEndian.Uint64(m.Data[1:])))
	case protocol.IDConnectedPong, protocol.IDDetectLostConnections:
	case protocol.IDConnectionRequest:
		var r wire.ConnectionRequest
		if c.server && r.Parse(m.Data) == nil {
			mode := protocol.ReliableOrdered
			if c.h.Loose {
				mode = protocol.Unreliable
			}
			for range max(c.h.Accepts, 1) {
				c.control(mode, c.h.accepted(c.remote, r.Time, c.millis()))
			}
		}
	case protocol.IDConnectionRequestAccepted:
		if !c.server {
			_, accepted := lastTimes(m.Data)
			c.control(protocol.ReliableOrdered, c.h.incoming(c.remote, accepted, c.millis()))
			c.connected = true
		}
	case protocol.IDNewIncomingConnection:
		c.connected = c.connected || c.server
	case protocol.IDDisconnect:
		c.report()
		c.closed = true
	default:
		c.got(c, m)
	}
}

func (c *Conn) pong(at int64) {
	b := binary.BigEndian.AppendUint64([]byte{0x03}, uint64(at))
	switch c.h.PongTime {
	case OnlyPings:
	case OnlyOwn:
		b = binary.BigEndian.AppendUint64([]byte{0x03}, uint64(c.millis()))
		b = binary.BigEndian.AppendUint64(b, uint64(c.millis()))
	default:
		b = binary.BigEndian.AppendUint64(b, uint64(c.millis()))
	}
	c.control(protocol.Unreliable, b)
}

// close ends the connection in the peer's way.
func (c *Conn) close() {
	switch c.h.Close {
	case CloseMessage:
		c.send(Message{Mode: protocol.ReliableOrdered, Data: []byte{byte(protocol.IDDisconnect)}}, false)
		return
	case CloseBare:
		c.out([]byte{byte(protocol.IDDisconnect)})
	}
	c.closed = true
}
