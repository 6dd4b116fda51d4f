package session

import (
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/wire"
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

// acceptedTime is the time in the 0x10 that the rig recorded.
func (r *rig) acceptedTime() int64 {
	r.t.Helper()
	for _, b := range r.out {
		for _, m := range messagesIn(b) {
			var p wire.ConnectionRequestAccepted
			if p.Parse(m) == nil {
				return p.Time
			}
		}
	}
	r.t.Fatal("no 0x10 was sent")
	return 0
}

// messagesIn are the payloads in a datagram of whole messages.
func messagesIn(datagram []byte) (list [][]byte) {
	_, frames, err := wire.ParseDatagramHeader(datagram)
	if err != nil {
		return nil
	}
	it := wire.Frames(frames)
	for f := (wire.Frame{}); it.Next(&f); {
		list = append(list, f.Payload)
	}
	return list
}

func TestUnprovenClientThatEchoesTheTimeIsServed(t *testing.T) {
	r := newRig(t, Config{Side: Server, Unproven: true, Nonce: 0xdecade})
	r.send(protocol.ReliableOrdered, request(1))
	if r.acceptedTime() == r.millis(r.now) {
		t.Fatal("the time can be guessed")
	}
	p := wire.NewIncomingConnection{Internal: 20, AcceptedTime: r.acceptedTime(), Time: 2}
	r.send(protocol.ReliableOrdered, p.Append(nil))
	if r.State() != Connected {
		t.Fatalf("server is %v", r.State())
	}
	if r.credit != nil {
		t.Fatal("the bound outlives the proof")
	}
}

// Whoever forges the address can send everything that a client sends, and acknowledge what he
// never saw. The connection opens, since honest clients garble times, too, and stays bound.
func TestUnprovenClientThatGuessesStaysBound(t *testing.T) {
	r := newRig(t, Config{Side: Server, Unproven: true, Nonce: 0xdecade})
	in := 0
	say := func(b []byte) {
		in += len(b)
		r.raw(b)
	}
	say(r.datagram(protocol.ReliableOrdered, request(1)))
	reply := r.bytesOut()
	for _, guess := range []int64{0, 1, r.millis(r.now)} {
		p := wire.NewIncomingConnection{Internal: 20, AcceptedTime: guess, Time: 2}
		say(r.datagram(protocol.ReliableOrdered, p.Append(nil)))
	}
	r.after(proofDelay + proofPings*proofInterval)
	if r.State() != Connected {
		t.Fatalf("server is %v", r.State())
	}
	for n := range 200 {
		_ = r.Send(r.now, &arq.Message{Payload: append([]byte{0xfe}, make([]byte, 999)...), Reliability: protocol.ReliableOrdered})
		say([]byte{0xc0, 0, 1, 0, 0, 0, 0, byte(n), 0, 0}) // a guessed ACK of everything so far
		p := wire.ConnectedPong{PingTime: r.millis(r.now), Time: 3}
		say(r.datagram(protocol.Unreliable, p.Append(nil)))
		r.after(20 * time.Millisecond)
		if out := r.bytesOut(); out > amplification*in+requestCredit+reply+int(r.mtu) {
			t.Fatalf("%d bytes out for %d in", out, in)
		}
	}
}

// One widely used client writes the two times of the 0x13 one place too late.
func TestUnprovenClientThatEchoesTheTimeElsewhereIsServed(t *testing.T) {
	r := newRig(t, Config{Side: Server, Unproven: true, Nonce: 0xdecade})
	r.send(protocol.ReliableOrdered, request(1))
	p := wire.NewIncomingConnection{Internal: 20, AcceptedTime: 1, Time: r.acceptedTime()}
	r.send(protocol.ReliableOrdered, p.Append(nil))
	if r.State() != Connected || r.credit != nil {
		t.Fatalf("server is %v, bound: %t", r.State(), r.credit != nil)
	}
}

// answerPings answers the pings that the rig recorded, and returns how many there were.
func (r *rig) answerPings() (n int) {
	out := r.out
	r.out = nil
	for _, b := range out {
		for _, m := range messagesIn(b) {
			var p wire.ConnectedPing
			if p.Parse(m) == nil {
				n++
				r.send(protocol.Unreliable, (&wire.ConnectedPong{PingTime: p.Time, Time: 9}).Append(nil))
			}
		}
	}
	return n
}

// Some clients write times of their own into the 0x13. Their answer to a ping is as good, and if it
// is lost there is another. What they send meanwhile waits.
func TestUnprovenClientThatAnswersAPingIsServed(t *testing.T) {
	for lost := range proofPings {
		r := newRig(t, Config{Side: Server, Unproven: true, Nonce: 0xdecade, Timing: Timing{Ping: -1}})
		r.send(protocol.ReliableOrdered, request(1))
		r.send(protocol.ReliableOrdered, incoming())
		r.send(protocol.ReliableOrdered, incoming())
		for range 2 * heldMessages {
			r.send(protocol.Reliable, append([]byte{0xfe}, make([]byte, 99)...))
		}
		for range lost {
			r.after(proofInterval)
			r.out = nil
		}
		if r.State() != Handshaking || r.credit == nil || len(r.messages) > 0 {
			t.Fatalf("server is %v, bound: %t, %d messages", r.State(), r.credit != nil, len(r.messages))
		}
		r.after(proofInterval)
		if n := r.answerPings(); n == 0 || r.State() != Connected || r.credit != nil {
			t.Fatalf("server is %v after %d pings, bound: %t", r.State(), n, r.credit != nil)
		}
		if len(r.messages) != 2*heldMessages {
			t.Fatalf("%d messages", len(r.messages))
		}
		r.after(10 * proofInterval)
		if n := r.answerPings(); n != 0 {
			t.Fatalf("%d pings although there is nothing left to prove", n)
		}
	}
}

// A client that says something and leaves before it was asked for a proof is heard all the same.
func TestUnprovenClientThatLeavesAtOnceIsHeard(t *testing.T) {
	r := newRig(t, Config{Side: Server, Unproven: true, Nonce: 0xdecade})
	r.send(protocol.ReliableOrdered, request(1))
	r.send(protocol.ReliableOrdered, incoming())
	r.send(protocol.ReliableOrdered, []byte("\xfehello"))
	if r.State() != Handshaking {
		t.Fatalf("server is %v", r.State())
	}
	r.send(protocol.ReliableOrdered, []byte{byte(protocol.IDDisconnect)})
	if r.State() != Closed || len(r.messages) != 1 || len(r.events) != 2 || r.events[0].Kind != EventConnected {
		t.Fatalf("server is %v with %q and %v", r.State(), r.messages, r.events)
	}
}

// Who never proves anything is let in, and stays bound.
func TestUnprovenClientThatAnswersNothingIsLetIn(t *testing.T) {
	r := newRig(t, Config{Side: Server, Unproven: true, Nonce: 0xdecade})
	r.send(protocol.ReliableOrdered, request(1))
	r.send(protocol.ReliableOrdered, incoming())
	r.after(proofDelay + (proofPings-1)*proofInterval)
	if r.State() != Handshaking || r.count(protocol.IDConnectedPing) != proofPings {
		t.Fatalf("server is %v after %d pings", r.State(), r.count(protocol.IDConnectedPing))
	}
	r.after(proofInterval)
	if r.State() != Connected || r.credit == nil {
		t.Fatalf("server is %v, bound: %t", r.State(), r.credit != nil)
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
