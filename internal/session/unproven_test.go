package session

import (
	"testing"
	"time"

	"github.com/raknet-go/raknet/protocol"
)

// bytesOut sums what the rig recorded.
func (r *rig) bytesOut() (sum int) {
	for _, b := range r.out {
		sum += len(b)
	}
	return sum
}

func TestUnprovenClientGetsLittleMoreThanItSends(t *testing.T) {
	r := newRig(t, Config{Side: Server, Unproven: true})
	first := r.datagram(protocol.Reliable, request(1))
	r.raw(first)
	in := len(first)
	if r.count(protocol.IDConnectionRequestAccepted) != 1 {
		t.Fatal("the first request is not answered")
	}
	reply := r.bytesOut()
	r.after(9 * time.Second)
	if out := r.bytesOut(); out != reply {
		t.Fatalf("%d bytes for a request of %d that nothing follows, want the one answer of %d", out, in, reply)
	}
	for range 20 {
		again := r.datagram(protocol.Reliable, request(1))
		r.raw(again)
		in += len(again)
		r.after(20 * time.Millisecond)
		if out := r.bytesOut(); out > amplification*in+requestCredit+reply {
			t.Fatalf("%d bytes out for %d in", out, in)
		}
	}
}

func TestUnprovenClientThatAnswersIsServed(t *testing.T) {
	r := newRig(t, Config{Side: Server, Unproven: true})
	r.send(protocol.ReliableOrdered, request(1))
	r.send(protocol.ReliableOrdered, incoming())
	if r.State() != Connected {
		t.Fatalf("server is %v", r.State())
	}
	if r.credit.overdrawn() {
		t.Fatal("the bound outlives the proof")
	}
}

// A lost 0x10 is sent again as soon as the client asks again.
func TestUnprovenClientMissesTheReply(t *testing.T) {
	for lost := range 4 {
		p := pairOver(t, func(from Side, _ int, data []byte) fate {
			drop := from == Server && lost > 0 && carries(data, protocol.IDConnectionRequestAccepted)
			if drop {
				lost--
			}
			return fate{drop: drop}
		}, func(_, server *Config) { server.Unproven = true })
		p.until("both sides are connected", 8*time.Second, func() bool {
			return p.client.State() == Connected && p.server.State() == Connected
		})
	}
}

// Being held up is not being asleep: it does not prolong the handshake.
func TestUnprovenClientGetsNoMoreTime(t *testing.T) {
	r := newRig(t, Config{Side: Server, Unproven: true})
	r.raw(r.datagram(protocol.Reliable, request(1)))
	for range 3 {
		r.after(3 * time.Second)
		r.raw(r.datagram(protocol.Reliable, request(1)))
		r.raw(r.datagram(protocol.Reliable, request(1)))
		r.after(0)
	}
	r.after(2 * time.Second)
	if err := r.closedWith(); err != ErrHandshakeTimeout {
		t.Fatalf("ended with %v", err)
	}
}
