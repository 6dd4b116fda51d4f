package lab

import (
	"math"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

// tcp is a model of a TCP sender and its receiver that share the link with the other
// flows: slow start, CUBIC (RFC 9438) with its Reno-friendly region and fast convergence,
// loss by selective acknowledgements (three later transmissions acknowledged), fast
// recovery, a retransmission timeout, delayed ACKs. It has no pacing and no HyStart, always
// has data, and its ACKs carry whatever arrived since the one before.
type tcp struct {
	f *flow

	// The sender. Segments are numbered from 0; a transmission has a serial of its own.
	segments []tcpSegment // those that are not acknowledged from base up
	base     int64        // all below are acknowledged
	next     int64        // the next new one
	serial   int64        // of the next transmission
	highest  int64        // serial acknowledged; -1 before the first
	order    []tcpFlight  // transmissions, by serial, whose fate may be open
	lost     []int64      // segments to send again
	inFlight int

	window    float64 // congestion window, in segments
	threshold float64
	recovery  int64 // what is below was sent before the last reduction; until it is acknowledged nothing grows
	wMax      float64
	k         float64 // seconds from the start of the epoch to wMax
	epoch     monotime.Time
	estimate  float64 // Reno's window
	srtt      time.Duration
	rttvar    time.Duration
	timeout   monotime.Time // Never while nothing is in flight
	backoff   int
	armed     monotime.Time

	// The receiver.
	arrived  []bool // out of order, from expected up
	expected int64
	acks     []tcpAck // under way, by number
	owed     []int64  // arrived since the last ACK
	ackAt    monotime.Time
}

type tcpSegment struct {
	serial int64
	sentAt monotime.Time
	out    bool // in flight
	acked  bool
	again  bool // sent more than once
}

type tcpFlight struct{ segment, serial int64 }

type tcpAck struct {
	below int64
	got   []int64
}

const (
	tcpPayload = 1448 // bytes of a segment
	tcpSize    = 1500 // on the link
	tcpAckSize = 52

	tcpInitial  = 10 // segments
	tcpBeta     = 0.7
	tcpC        = 0.4
	tcpReorder  = 3 // later transmissions acknowledged before a segment is lost
	tcpDelayAck = 40 * time.Millisecond
	tcpMinRTO   = 200 * time.Millisecond
)

// tcpBytes stands for the bytes of all its datagrams.
var tcpBytes [tcpSize - headers]byte

func newTCP(f *flow) *tcp {
	return &tcp{f: f, window: tcpInitial, threshold: math.Inf(1), highest: -1, timeout: monotime.Never, ackAt: monotime.Never}
}

func (t *tcp) happen(e *event) {
	switch e.kind {
	case evSegment:
		t.arrive(e.n)
		return
	case evAck:
		t.acknowledge(&t.acks[e.n])
		t.acks[e.n].got = nil
	case evWake:
		if e.n != 0 { // the receiver's
			if t.ackAt == e.at {
				t.answer()
			}
			return
		}
		if e.at != t.armed {
			return
		}
		t.armed = 0
		if t.timeout <= t.f.w.now {
			t.timedOut()
		} else if t.timeout != monotime.Never {
			t.armed = t.timeout
			t.f.w.push(event{at: t.timeout, to: t, kind: evWake})
		}
	}
	t.transmit()
}

// The receiver.

func (t *tcp) arrive(segment int64) {
	w := t.f.w
	inOrder := segment == t.expected && len(t.arrived) == 0
	if i := segment - t.expected; i >= 0 {
		for int64(len(t.arrived)) <= i {
			t.arrived = append(t.arrived, false)
		}
		t.arrived[i] = true
	}
	n := 0
	for n < len(t.arrived) && t.arrived[n] {
		n++
	}
	if n > 0 {
		t.arrived = t.arrived[n:]
		t.expected += int64(n)
		t.f.sink.count(n * tcpPayload)
	}
	t.owed = append(t.owed, segment)
	switch {
	case !inOrder || len(t.owed) >= 2:
		t.answer()
	case t.ackAt == monotime.Never:
		t.ackAt = w.now.Add(tcpDelayAck)
		w.push(event{at: t.ackAt, to: t, kind: evWake, n: 1})
	}
}

func (t *tcp) answer() {
	w := t.f.w
	t.acks = append(t.acks, tcpAck{t.expected, t.owed})
	t.owed, t.ackAt = nil, monotime.Never
	arrivals, _, _ := w.down.send(w.now, tcpBytes[:tcpAckSize-headers])
	for _, a := range arrivals {
		w.push(event{at: a.At, to: t, kind: evAck, n: int64(len(t.acks) - 1)})
	}
}

// The sender.

func (t *tcp) acknowledge(a *tcpAck) {
	w := t.f.w
	acked := 0
	var sample time.Duration
	settle := func(n int64) {
		if n < t.base {
			return
		}
		s := &t.segments[n-t.base]
		if s.acked {
			return
		}
		s.acked = true
		acked++
		if s.out {
			s.out = false
			t.inFlight--
		}
		t.highest = max(t.highest, s.serial)
		if !s.again {
			sample = w.now.Sub(s.sentAt)
		}
	}
	for _, n := range a.got {
		settle(n)
	}
	for n := t.base; n < a.below; n++ {
		settle(n)
	}
	if a.below > t.base {
		t.segments = t.segments[a.below-t.base:]
		t.base = a.below
	}
	if acked == 0 {
		return
	}
	if sample > 0 {
		t.measure(sample)
	}
	t.backoff = 0
	if t.base >= t.recovery {
		t.grow(acked)
	}
	t.detect()
	t.arm()
}

// measure is RFC 6298.
func (t *tcp) measure(sample time.Duration) {
	if t.srtt == 0 {
		t.srtt, t.rttvar = sample, sample/2
		return
	}
	t.rttvar += ((sample - t.srtt).Abs() - t.rttvar) / 4
	t.srtt += (sample - t.srtt) / 8
}

func (t *tcp) rto() time.Duration {
	if t.srtt == 0 {
		return time.Second
	}
	return max(t.srtt+4*t.rttvar, tcpMinRTO) << t.backoff
}

// grow opens the window for so many acknowledged segments.
func (t *tcp) grow(acked int) {
	if t.window < t.threshold {
		t.window += float64(acked)
		return
	}
	now := t.f.w.now
	if t.epoch == 0 {
		t.epoch = now
		t.estimate = t.window
		t.wMax = max(t.wMax, t.window)
		t.k = math.Cbrt((t.wMax - t.window) / tcpC)
	}
	x := (now.Sub(t.epoch) + t.srtt).Seconds() - t.k
	target := min(max(tcpC*x*x*x+t.wMax, t.window), 1.5*t.window)
	t.estimate += 3 * (1 - tcpBeta) / (1 + tcpBeta) * float64(acked) / t.window
	t.window += (target - t.window) / t.window * float64(acked)
	t.window = max(t.window, t.estimate)
}

// detect gives up what was sent before enough others that have arrived.
func (t *tcp) detect() {
	reduce := false
	for len(t.order) > 0 && t.order[0].serial+tcpReorder <= t.highest {
		o := t.order[0]
		t.order = t.order[1:]
		if o.segment < t.base {
			continue
		}
		s := &t.segments[o.segment-t.base]
		if s.out && s.serial == o.serial {
			s.out = false
			t.inFlight--
			t.lost = append(t.lost, o.segment)
			reduce = reduce || o.segment >= t.recovery
		}
	}
	if reduce {
		t.reduce()
		t.window = t.threshold
	}
}

// reduce is the multiplicative decrease.
func (t *tcp) reduce() {
	t.recovery, t.epoch = t.next, 0
	if t.window < t.wMax {
		t.wMax = t.window * (1 + tcpBeta) / 2 // fast convergence
	} else {
		t.wMax = t.window
	}
	t.threshold = max(t.window*tcpBeta, 2)
}

func (t *tcp) timedOut() {
	t.order = nil
	t.lost = nil
	for i := range t.segments {
		s := &t.segments[i]
		if !s.acked {
			s.out = false
			t.lost = append(t.lost, t.base+int64(i))
		}
	}
	t.inFlight = 0
	if t.backoff == 0 {
		t.reduce()
	}
	t.backoff = min(t.backoff+1, 6)
	t.recovery = t.base
	t.window = 1
	t.timeout = monotime.Never
}

func (t *tcp) transmit() {
	w := t.f.w
	for float64(t.inFlight) < t.window {
		n := t.next
		for len(t.lost) > 0 {
			again := t.lost[0]
			t.lost = t.lost[1:]
			if again >= t.base && !t.segments[again-t.base].acked {
				n = again
				break
			}
		}
		if n == t.next {
			t.next++
			t.segments = append(t.segments, tcpSegment{})
		} else {
			t.segments[n-t.base].again = true
		}
		s := &t.segments[n-t.base]
		s.serial, s.sentAt, s.out = t.serial, w.now, true
		t.order = append(t.order, tcpFlight{n, t.serial})
		t.serial++
		t.inFlight++
		arrivals, _, _ := w.up.send(w.now, tcpBytes[:])
		for _, a := range arrivals {
			w.push(event{at: a.At, to: t, kind: evSegment, n: n})
		}
		if t.timeout == monotime.Never {
			t.arm()
		}
	}
}

// arm sets the retransmission timer anew.
func (t *tcp) arm() {
	w := t.f.w
	t.timeout = monotime.Never
	if t.inFlight > 0 {
		t.timeout = w.now.Add(t.rto())
	}
	if t.timeout != monotime.Never && (t.armed == 0 || t.armed > t.timeout) {
		t.armed = t.timeout
		w.push(event{at: t.timeout, to: t, kind: evWake})
	}
}
