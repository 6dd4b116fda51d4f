package session

import (
	"errors"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// pairPlay is a pair of connections whose every step comes from a fuzzer: what both
// applications do, what the path does to datagrams, and how time passes.
type pairPlay struct {
	*pair
	in     []byte // what is left of the fuzzer's input
	models [2]model
	ended  [2]bool // closed or aborted by its own application
	forged bool    // somebody wrote a peer's datagrams: nothing is promised any more
	// Datagram n is lost, doubled or late if bit n%8 says so.
	lose, double, delay int
	late                time.Duration
}

var errWhim = errors.New("aborted on a whim")

// next takes a byte of the input; there are zeros behind its end.
func (p *pairPlay) next() int {
	if len(p.in) == 0 {
		return 0
	}
	b := p.in[0]
	p.in = p.in[1:]
	return int(b)
}

func (p *pairPlay) node(side int) *node { return []*node{&p.client, &p.server}[side&1] }

func (p *pairPlay) start(t *testing.T) {
	how := p.next()
	p.pair = newPair(t, func(c, s *Config) {
		for _, cfg := range []*Config{c, s} {
			cfg.MTU = []int{1492, 576}[how&1]
			if how&2 != 0 {
				cfg.ARQ = arq.Config{FirstDatagram: 1<<24 - 9, FirstReliable: 1<<24 - 12, FirstOrder: 1<<24 - 5, FirstSplit: 1<<16 - 1}
			}
			if how&4 != 0 {
				cfg.ARQ.Limits = arq.Limits{SendBuffer: 32 << 10, ReceiveBuffer: 8 << 10, ReassemblyGroups: 3, ReassemblyBytes: 32 << 10,
					HeldMessages: 8, HeldBytes: 8 << 10}
			}
		}
	})
	p.path = func(_ Side, n int, _ []byte) (f fate) {
		hit := func(mask int) bool { return mask>>(n%8)&1 != 0 }
		f.drop = hit(p.lose)
		if hit(p.double) {
			f.copies = 1
		}
		if hit(p.delay) {
			f.late = p.late
		}
		return f
	}
	if how&8 != 0 {
		p.run(time.Second) // to the other side of the handshake
	}
}

// step does the next thing that the input asks for; high is the upper half of its
// first byte, whose lowest bit says at which side.
func (p *pairPlay) step() {
	op := p.next()
	high, n := op>>4, p.node(op>>4)
	switch op % 16 {
	case 0, 1:
		p.send(high, p.next())
		n.settle()
	case 2: // leaves together with the next
		p.send(high, p.next())
	case 3:
		p.send(high, p.next()<<6)
		n.settle()
	case 4, 5, 6:
		p.client.settle()
		p.server.settle()
		p.run(time.Duration(p.next()) * time.Millisecond << (high % 8))
	case 7:
		p.lose = p.next()
	case 8:
		p.double = p.next()
	case 9:
		p.delay, p.late = p.next(), time.Duration(p.next())*time.Millisecond
	case 10:
		n.deaf = !n.deaf
	case 11:
		n.asleep = !n.asleep
	case 12:
		p.ended[high&1] = p.ended[high&1] || n.State() < Closed // else its peer did, and what came before stays readable
		if high < 8 {
			n.close()
		} else {
			n.abort(errWhim)
		}
	case 13: // one byte under way is damaged, which the checksum of UDP let pass
		if len(p.flights) > 0 {
			p.forged = true
			f := p.flights[p.next()%len(p.flights)]
			f.data[p.next()%len(f.data)] ^= byte(p.next())
		}
	case 14: // a stranger's datagram: a frame that could be the peer's
		data := wire.AppendDatagramHeader(nil, wire.FrameSetID, uint32(p.next()))
		frame := wire.Frame{Reliability: protocol.Reliability(high >> 1 % 5), Reliable: uint32(p.next()), Order: uint32(p.next())}
		p.forge(n, append(wire.AppendFrameHeader(data, &frame, 9), byte(p.next()), 1, 2, 3, 4, 5, 6, 7, 8))
	case 15: // and bytes as they come
		size := min(p.next(), len(p.in))
		data := p.in[:size]
		p.in = p.in[size:]
		p.forge(n, data)
	}
	p.check()
}

func (p *pairPlay) send(side, size int) {
	n, m, how := p.node(side), &p.models[side&1], p.next()
	was := n.State()
	v := m.write(protocol.Reliability(how&7), uint8(how>>3&3), size)
	err := n.Send(p.now, &arq.Message{Payload: []byte(v.text), Reliability: v.mode, Channel: v.channel,
		Priority: protocol.Priority(how >> 5 & 3), ReceiptID: v.receipt})
	switch {
	case err == nil && was == Connected:
		m.sent = append(m.sent, v)
	case err == ErrNotConnected && was == Handshaking, err == ErrClosed && was >= Closing, err == ErrSendBufferFull && was == Connected:
	default:
		p.t.Fatalf("a %v %v was told %v", was, n.Side(), err)
	}
}

func (p *pairPlay) forge(n *node, data []byte) {
	p.forged = true
	b := pool.Get(pool.ClassRead)
	b.N = copy(b.B, data)
	n.Receive(p.now, b, b.Bytes())
	b.Release()
	n.settle()
}

// check holds what came out of both ends against the models.
func (p *pairPlay) check() {
	for side := range 2 {
		n, from := p.node(side), &p.models[1-side]
		for _, m := range n.messages {
			if p.forged {
				break
			}
			if err := from.deliver(m); err != nil {
				p.t.Fatalf("%v: %v", n.Side(), err)
			}
			if n.State() == Handshaking || p.ended[side] {
				p.t.Fatalf("%v: a message came while it was %v", n.Side(), n.State())
			}
		}
		n.messages = nil
		for _, v := range p.models[side].sent {
			if acked, told := n.receipts[v.receipt]; told && !acked && v.mode.IsReliable() {
				p.t.Fatalf("%v: the receipt of a %v message says that it is lost", n.Side(), v.mode)
			}
		}
	}
}

// heal makes the path and both ends good again.
func (p *pairPlay) heal() {
	p.client.settle()
	p.server.settle()
	p.lose, p.double, p.delay = 0, 0, 0
	for side := range 2 {
		n := p.node(side)
		n.deaf, n.asleep = false, false
		n.read()
	}
	p.check()
}

// finish lets the pair come to rest: what was promised has arrived, or the connection
// has ended, on both sides; and once closed, both are soon dead and hold nothing.
func (p *pairPlay) finish() {
	p.heal()
	p.run(45 * time.Second)
	p.check()
	if p.client.State() == Connected != (p.server.State() == Connected) && !p.forged {
		p.t.Fatalf("the client is %v (%v), the server %v (%v)", p.client.State(), p.client.Err(), p.server.State(), p.server.Err())
	}
	for side := range 2 {
		n, peer := p.node(side), p.node(side+1)
		switch m := &p.models[side]; {
		case p.forged || p.ended[1-side]:
		case n.State() == Connected && peer.State() == Connected, p.ended[side] && n.closed == ErrClosed:
			if i := m.owed(); i >= 0 {
				p.t.Fatalf("%v (%v): %v message %d of %d never arrived", n.Side(), n.State(), m.sent[i].mode, i, len(m.sent))
			}
			for _, v := range m.sent {
				if _, told := n.receipts[v.receipt]; v.receipt != 0 && !told && n.State() == Connected {
					p.t.Fatalf("%v: no receipt for %d", n.Side(), v.receipt)
				}
			}
		}
	}
	p.ended = [2]bool{true, true}
	p.client.close()
	p.server.close()
	p.run(30 * time.Second)
	for side := range 2 {
		if n := p.node(side); n.State() != Dead || n.closed == nil {
			p.t.Fatalf("%v: %v for %v, 30 s after it was closed", n.Side(), n.State(), n.closed)
		}
	}
	p.pair.finish()
}

// FuzzPair drives a pair of connections by a list of operations. Whatever happens,
// nothing crashes, leaks or hangs; and as long as nobody forges a datagram, every mode
// keeps what the model says it promises.
func FuzzPair(f *testing.F) {
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 2000 {
			return
		}
		p := &pairPlay{in: in}
		p.start(t)
		for len(p.in) > 0 {
			p.step()
		}
		p.finish()
	})
}
