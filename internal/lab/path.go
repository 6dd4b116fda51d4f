package lab

import (
	"math/rand/v2"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/netsim"
)

// path is one direction of the link that all flows share.
type path struct {
	pipe   *netsim.Pipe
	link   netsim.Link
	spread time.Duration // what is overtaken is held back by this much more, at most
	rng    *rand.Rand
	spare  []netsim.Arrival
}

// fate is what became of a datagram, which the pipe knows when it goes in.
type fate uint8

const (
	passed     fate = iota
	lostQueue       // found the queue full
	lostOnPath      // anything else
)

func newPath(seed, stream uint64, l netsim.Link, spread time.Duration) *path {
	return &path{pipe: netsim.NewPipe(seed, stream, l), link: l, spread: spread, rng: rand.New(rand.NewPCG(seed, stream|1<<32))}
}

// send puts data in. The arrivals are good until the next call.
func (p *path) send(now monotime.Time, data []byte) (arrivals []netsim.Arrival, f fate, waited time.Duration) {
	if p.spread > 0 {
		l := p.link
		l.ReorderBy += time.Duration(p.rng.Int64N(int64(p.spread)))
		p.pipe.SetLink(l)
	}
	waited = p.pipe.Backlog(now)
	full := p.pipe.Count.QueueFull
	p.spare = p.pipe.Send(now, data, p.spare[:0])
	switch {
	case p.pipe.Count.QueueFull != full:
		f = lostQueue
	case len(p.spare) == 0:
		f = lostOnPath
	}
	return p.spare, f, waited
}
