package netsim

import (
	"math/rand/v2"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

// Arrival is a datagram that comes out of a Pipe.
type Arrival struct {
	At   monotime.Time
	Data []byte
}

// Pipe is one direction between two hosts: a Link, what is on it, and the chances. It is
// not safe for concurrent use. What becomes of the n-th datagram depends on the seed, on n
// and on the setting that it concerns alone: switching another kind of damage on or off
// does not change it.
type Pipe struct {
	link  Link
	rng   *rand.PCG
	free  monotime.Time // when the link has sent everything that was queued
	last  monotime.Time // latest arrival of a datagram that was not held back
	bad   bool          // state of Link.Burst
	Count PipeCount
}

// PipeCount counts what a Pipe did. Sent + Duplicated = Delivered + Lost + TooLarge +
// QueueFull.
type PipeCount struct {
	Sent       uint64 // datagrams put in
	Delivered  uint64 // arrivals handed out
	Lost       uint64 // by Loss, Burst and Blackout
	TooLarge   uint64 // for the MTU
	QueueFull  uint64 // for the queue before a Bandwidth
	Duplicated uint64 // second arrivals
	Reordered  uint64 // held back
	Damaged    uint64 // bit flipped or truncated
}

// NewPipe returns an empty pipe over l whose chances follow from the two seeds.
func NewPipe(seed1, seed2 uint64, l Link) *Pipe {
	return &Pipe{link: l, rng: rand.NewPCG(seed1, seed2)}
}

// SetLink changes the link from the next datagram on. What is under way is not affected.
func (p *Pipe) SetLink(l Link) { p.link = l }

// Link returns the present link.
func (p *Pipe) Link() Link { return p.link }

// chances are the random numbers of one datagram. All are drawn for each, so that the
// n-th has the same whatever happened to those before it.
type chances struct {
	burst, burstLoss, loss, duplicate, reorder, jitter, corrupt, truncate, where uint64
}

func (p *Pipe) draw() chances {
	r := p.rng
	return chances{r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()}
}

// hits reports whether the random number r falls under the probability.
func hits(r uint64, probability float64) bool {
	return float64(r>>11)/(1<<53) < probability
}

// Send puts data in at now and appends to dst what will arrive of it and when: nothing,
// one arrival or two, in no particular order relative to those of other calls. now must
// not go back. The arrivals share data with the caller unless they were damaged.
func (p *Pipe) Send(now monotime.Time, data []byte, dst []Arrival) []Arrival {
	p.Count.Sent++
	l, c := &p.link, p.draw()
	if l.MTU > 0 && len(data)+headers > l.MTU {
		p.Count.TooLarge++
		return dst
	}
	if l.Blackout != nil && l.Blackout(now) {
		p.Count.Lost++
		return dst
	}
	left, ok := p.enqueue(now, len(data))
	if !ok {
		p.Count.QueueFull++
		return dst
	}
	// The way comes after the queue: what it loses has used up bandwidth all the same.
	if p.burst(&c) || hits(c.loss, l.Loss) {
		p.Count.Lost++
		return dst
	}
	at := left.Add(l.Delay)
	if l.Jitter > 0 {
		at = at.Add(time.Duration(c.jitter % uint64(l.Jitter+1)))
	}
	at = max(at, p.last)
	if hits(c.reorder, l.Reorder) {
		p.Count.Reordered++
		at = at.Add(l.reorderBy())
	} else {
		p.last = at
	}
	a := Arrival{At: at, Data: p.damage(&c, data)}
	p.Count.Delivered++
	dst = append(dst, a)
	if hits(c.duplicate, l.Duplicate) {
		p.Count.Duplicated++
		p.Count.Delivered++
		dst = append(dst, a)
	}
	return dst
}

// enqueue waits for the link's turn: it returns when a datagram of n bytes has left the
// queue, or false if it found no room there.
func (p *Pipe) enqueue(now monotime.Time, n int) (left monotime.Time, ok bool) {
	l := &p.link
	if l.Bandwidth <= 0 {
		return now, true
	}
	p.free = max(p.free, now)
	if bound, ok := l.queue(); ok {
		waiting := int64(p.free.Sub(now).Seconds() * float64(l.Bandwidth))
		if waiting > 0 && waiting+int64(n+headers) > bound {
			return 0, false
		}
	}
	p.free = p.free.Add(l.transmission(n))
	return p.free, true
}

// Backlog returns how long a datagram put in now would wait until those before it have
// left: the delay of the queue. Zero without a Bandwidth.
func (p *Pipe) Backlog(now monotime.Time) time.Duration { return max(p.free.Sub(now), 0) }

// burst moves the state of Link.Burst on and reports whether it loses the datagram.
func (p *Pipe) burst(c *chances) bool {
	b := p.link.Burst
	if b == nil {
		return false
	}
	change, loss := b.ToBad, b.LossGood
	if p.bad {
		change = b.ToGood
	}
	if hits(c.burst, change) {
		p.bad = !p.bad
	}
	if p.bad {
		loss = b.LossBad
	}
	return hits(c.burstLoss, loss)
}

// damage returns data, or a damaged copy of it.
func (p *Pipe) damage(c *chances, data []byte) []byte {
	corrupt, truncate := hits(c.corrupt, p.link.Corrupt), hits(c.truncate, p.link.Truncate)
	if len(data) == 0 || !corrupt && !truncate {
		return data
	}
	p.Count.Damaged++
	data = append([]byte(nil), data...)
	if corrupt {
		bit := c.where % uint64(len(data)*8)
		data[bit/8] ^= 1 << (bit % 8)
	}
	if truncate {
		data = data[:(c.where>>32)%uint64(len(data))]
	}
	return data
}
