package lab

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/session"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

const (
	// mtu is what all connections have negotiated.
	mtu = 1492
	// headers is what IPv4 and UDP put in front of each datagram.
	headers = 28
	// messageID starts every message.
	messageID = 0xfe
	// messageHeader is the part of a message that says which it is and when it was sent.
	messageHeader = 14
	// reserve is how much of the send buffer a bulk source leaves to others: an application
	// that has both kinds of messages must not find it full for the urgent ones.
	reserve = 64 << 10
	// dialSpread is how much later than planned a flow begins at most, as the seed decides.
	dialSpread = 50 * time.Millisecond
)

// flow is a connection of two ends and the applications on it, or a TCP model.
type flow struct {
	w        *world
	index    int
	tcp      *tcp
	sender   *end
	receiver *end
	sources  []*source
	sink     sink
	ledger   ledger
	bulk     bool
}

func newFlow(w *world, index int, c Controller) *flow {
	plan := &w.sc.Flows[index]
	f := &flow{w: w, index: index}
	f.sink.f = f
	start := w.now.Add(plan.Start + time.Duration(w.rng.Int64N(int64(dialSpread))))
	if plan.TCP {
		f.bulk = true
		f.tcp = newTCP(f)
		w.push(event{at: start, to: f.tcp, kind: evStart})
		return f
	}
	cfg := session.Config{MTU: mtu, Version: protocol.VersionCurrent, LocalGUID: int64(index) + 1, PeerGUID: 1000}
	cfg.ARQ.Controller = c.New
	cfg.ARQ.RoundTrip = w.sc.Up.Delay + w.sc.Down.Delay
	f.sender = &end{w: w, f: f, out: w.up, cfg: cfg}
	cfg.Side, cfg.LocalGUID, cfg.PeerGUID = session.Server, 1000, int64(index)+1
	f.receiver = &end{w: w, f: f, out: w.down, cfg: cfg, tick: w.sc.AckEvery}
	f.sender.other, f.receiver.other = f.receiver, f.sender
	for i := range plan.Sources {
		s := &source{f: f, number: i, plan: &plan.Sources[i]}
		f.sources = append(f.sources, s)
		f.bulk = f.bulk || s.plan.Every == 0
	}
	f.sink.next = make([]uint32, len(f.sources))
	w.push(event{at: start, to: f.receiver, kind: evStart})
	w.push(event{at: start, to: f.sender, kind: evStart})
	return f
}

// ceiling returns the most payload, in Mbit/s, that the flow could carry if it had a link
// of the given bytes a second for itself: what datagrams of its messages carry beside
// their headers.
func (f *flow) ceiling(bandwidth int64) float64 {
	payload, size := tcpPayload, tcpSize
	for _, s := range f.sources {
		if s.plan.Every == 0 {
			payload, size = packing(s.plan.Size)
		}
	}
	return 8 * float64(bandwidth) / 1e6 * float64(payload) / float64(size)
}

// packing returns how many bytes of messages of a size go with how many bytes on the link.
func packing(size int) (payload, onLink int) {
	const overhead = headers + wire.DatagramHeaderSize
	if part := arq.MaxFrame(mtu); size > part {
		n := (size + part - 1) / part
		return size, size + n*(overhead+wire.FrameHeaderSize(protocol.ReliableOrdered, true))
	}
	frame := size + wire.FrameHeaderSize(protocol.ReliableOrdered, false)
	n := (mtu - overhead) / frame
	return n * size, n*frame + overhead
}

// bulkBytes returns the payload of bulk sources that was delivered in the measured time.
func (f *flow) bulkBytes() int64 { return f.sink.bytes }

// complete reports whether every measured message has arrived.
func (f *flow) complete() bool { return f.tcp != nil || f.sink.missing() == 0 }

func (f *flow) close() {
	if f.tcp == nil {
		f.sender.close()
		f.receiver.close()
	}
}

// source is an application that sends.
type source struct {
	f       *flow
	number  int
	plan    *Source
	sent    uint32
	started bool
}

// start is called when the connection is complete.
func (s *source) start() {
	s.started = true
	if s.plan.Every > 0 {
		w := s.f.w
		w.push(event{at: w.now.Add(time.Duration(w.rng.Int64N(int64(s.plan.Every)))), to: s, kind: evSource})
	}
}

// happen sends the next message of a source with a rhythm.
func (s *source) happen(*event) {
	w := s.f.w
	if w.now >= w.until {
		return
	}
	if !s.send() {
		panic(fmt.Sprintf("lab: %s, seed %d: no room for a message that cannot wait", w.sc.Name, w.seed))
	}
	w.push(event{at: w.now.Add(s.plan.Every), to: s, kind: evSource})
	s.f.sender.touch()
}

// fill sends what there is room for, if it is a bulk source.
func (s *source) fill() {
	if !s.started || s.plan.Every > 0 {
		return
	}
	for s.f.sender.sess.SendSpace() >= s.plan.Size+reserve && s.send() {
	}
}

func (s *source) send() bool {
	w := s.f.w
	for len(w.scratch) < s.plan.Size {
		w.scratch = append(w.scratch, byte(len(w.scratch)))
	}
	b := w.scratch[:s.plan.Size]
	b[0], b[1] = messageID, byte(s.number)
	binary.BigEndian.PutUint32(b[2:], s.sent)
	binary.BigEndian.PutUint64(b[6:], uint64(w.now))
	err := s.f.sender.sess.Send(w.now, &arq.Message{Payload: b, Reliability: protocol.ReliableOrdered,
		Channel: uint8(s.number), Priority: s.plan.Priority})
	if err == nil {
		s.sent++
		if s.plan.Every > 0 && w.measured() {
			s.f.sink.expected++
		}
	}
	return err == nil
}

// sink is an application that receives, and measures.
type sink struct {
	f         *flow
	next      []uint32 // message number, by source
	expected  int      // measured messages sent
	latencies []time.Duration
	bytes     int64 // bulk payload delivered in the measured time
	bins      []int // bulk payload delivered, by binTime
	afterDark monotime.Time
	sampled   int64 // bulk payload delivered since the last sample
}

// missing returns how many measured messages have not come.
func (k *sink) missing() int { return k.expected - len(k.latencies) }

func (k *sink) bin(at monotime.Time) int { return int(at.Sub(begin) / binTime) }

// take reads one message.
func (k *sink) take(d *arq.Delivery) {
	w := k.f.w
	var b [messageHeader]byte
	if d.CopyTo(b[:]) != len(b) || b[0] != messageID {
		panic("lab: a message came that was not sent")
	}
	number, sent := binary.BigEndian.Uint32(b[2:]), monotime.Time(binary.BigEndian.Uint64(b[6:]))
	s := k.f.sources[b[1]]
	if number != k.next[s.number] {
		panic(fmt.Sprintf("lab: %s, seed %d: message %d came when %d was next", w.sc.Name, w.seed, number, k.next[s.number]))
	}
	k.next[s.number]++
	if w.light > 0 && w.now >= w.light && k.afterDark == 0 {
		k.afterDark = w.now
	}
	if s.plan.Every > 0 {
		if sent >= w.from && sent < w.until {
			k.latencies = append(k.latencies, w.now.Sub(sent))
		}
		if w.rec != nil {
			w.rec.message(k.f.index, sent, w.now)
		}
		return
	}
	k.count(d.Len())
}

// count adds bulk payload that was delivered now.
func (k *sink) count(bytes int) {
	w := k.f.w
	k.sampled += int64(bytes)
	if w.measured() {
		k.bytes += int64(bytes)
	}
	for i := k.bin(w.now); i >= len(k.bins); {
		k.bins = append(k.bins, 0)
	}
	k.bins[k.bin(w.now)] += bytes
}
