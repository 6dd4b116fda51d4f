package interop

import (
	"fmt"
	"testing"
	"time"
)

const (
	handshakeBound = 10 * time.Second
	messageBound   = 10 * time.Second
	bulkBound      = 30 * time.Second
	closeBound     = 5 * time.Second
	// deathBound is the ten seconds after which the original gives up on a silent peer, and what a loaded machine may add.
	deathBound = 15 * time.Second
)

// The numbers of the delivery modes on the wire.
const (
	unreliable          = 0
	unreliableSequenced = 1
	reliable            = 2
	reliableOrdered     = 3
	reliableSequenced   = 4
)

// A Pair is who takes part in a conversation.
type Pair struct {
	Listener, Dialer Peer
	Version          byte // the protocol version to use when the peers don't find a common one by themselves
}

// A Case is one conversation that every pair of peers should manage.
type Case struct {
	Name string
	Slow bool // takes ten seconds or more, mostly waiting; left out by -short
	Run  func(t testing.TB, p Pair)
}

// Run holds all conversations between two peers. fault returns what is wrong with one of them when a case cannot work because of
// it, and "" otherwise.
func Run(t *testing.T, p Pair, fault func(name string) string) {
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			if why := fault(c.Name); why != "" {
				t.Skip("known fault of the peer: " + why)
			}
			if c.Slow {
				if testing.Short() {
					t.Skip("slow: waits for a time-out")
				}
				t.Parallel()
			}
			c.Run(t, p)
		})
	}
}

// Cases lists the conversations.
func Cases() []Case {
	cases := []Case{
		{Name: "ping", Run: ping},
		{Name: "handshake", Run: func(t testing.TB, p Pair) { p.Connect(t, Options{}) }},
	}
	for _, size := range []int{1, 200, 3_000, 100_000, 2_000_000} {
		cases = append(cases, Case{Name: fmt.Sprintf("echo of %d bytes", size), Run: func(t testing.TB, p Pair) { echo(t, p, size) }})
	}
	for mode, name := range []string{"unreliable", "unreliable sequenced", "reliable", "reliable ordered", "reliable sequenced"} {
		cases = append(cases,
			Case{Name: name + " to the listener", Run: func(t testing.TB, p Pair) {
				l, d := p.Connect(t, Options{})
				oneMode(t, d, l, p.Listener.Name(), byte(mode))
			}},
			Case{Name: name + " to the dialer", Run: func(t testing.TB, p Pair) {
				l, d := p.Connect(t, Options{})
				oneMode(t, l, d, p.Dialer.Name(), byte(mode))
			}})
	}
	return append(cases,
		Case{Name: "2 MB to the listener", Run: func(t testing.TB, p Pair) {
			l, d := p.Connect(t, Options{})
			large(t, d, l, p.Listener.Name())
		}},
		Case{Name: "2 MB to the dialer", Run: func(t testing.TB, p Pair) {
			l, d := p.Connect(t, Options{})
			large(t, l, d, p.Dialer.Name())
		}},
		Case{Name: "channels to the listener", Run: func(t testing.TB, p Pair) {
			l, d := p.Connect(t, Options{})
			channels(t, d, l, p.Listener.Name())
		}},
		Case{Name: "channels to the dialer", Run: func(t testing.TB, p Pair) {
			l, d := p.Connect(t, Options{})
			channels(t, l, d, p.Dialer.Name())
		}},
		Case{Name: "100 messages a second both ways", Run: chatter},
		Case{Name: "the dialer closes", Run: func(t testing.TB, p Pair) {
			l, d := p.Connect(t, Options{})
			d.Close()
			AwaitEnd(t, p.Listener.Name(), l, closeBound)
		}},
		Case{Name: "the listener closes", Run: func(t testing.TB, p Pair) {
			l, d := p.Connect(t, Options{})
			l.Close()
			AwaitEnd(t, p.Dialer.Name(), d, closeBound)
		}},
		Case{Name: "the dialer's last words", Run: func(t testing.TB, p Pair) {
			l, d := p.Connect(t, Options{})
			lastWords(t, d, l, p.Listener.Name())
		}},
		Case{Name: "the listener's last words", Run: func(t testing.TB, p Pair) {
			l, d := p.Connect(t, Options{})
			lastWords(t, l, d, p.Dialer.Name())
		}},
		Case{Name: "the dialer dies", Slow: true, Run: func(t testing.TB, p Pair) {
			l, d := p.Connect(t, Options{Mortal: true})
			d.Kill()
			AwaitEnd(t, p.Listener.Name(), l, deathBound)
		}},
		Case{Name: "the listener dies", Slow: true, Run: func(t testing.TB, p Pair) {
			l, d := p.Connect(t, Options{Mortal: true})
			l.Kill()
			AwaitEnd(t, p.Dialer.Name(), d, deathBound)
		}})
}

// Connect makes a connection and waits until both ends have it.
func (p Pair) Connect(t testing.TB, o Options) (listener, dialer Link) {
	t.Helper()
	o.Version = p.Version
	listener, port := p.Listener.Listen(t, o)
	dialer = p.Dialer.Dial(t, port, o)
	Await(t, p.Dialer.Name()+" dialing", dialer, Connected, handshakeBound)
	Await(t, p.Listener.Name()+" listening", listener, Connected, handshakeBound)
	return listener, dialer
}

func ping(t testing.TB, p Pair) {
	const data = "MCPE;interop;686;1.21.2;1;20;1;world;Survival;1;19132;19133;"
	_, port := p.Listener.Listen(t, Options{Pong: data})
	if e := Await(t, p.Dialer.Name(), p.Dialer.Ping(t, port), Pong, handshakeBound); e.Text != data {
		t.Fatalf("pong has the data %q, want %q", e.Text, data)
	}
}

// echo sends one message to the listener and waits for it to come back.
func echo(t testing.TB, p Pair, size int) {
	l, d := p.Connect(t, Options{})
	l.Echo(reliableOrdered, 0)
	b := Burst{Size: size, Seed: 0x1ec40, Count: 1, Reliability: reliableOrdered}
	d.Send(b)
	expect(t, p.Listener.Name(), l, b, 0, bulkBound)
	expect(t, p.Dialer.Name()+" (echo)", d, b, 0, bulkBound)
}

// large sends one message of 2 MB.
func large(t testing.TB, from, to Link, receiver string) {
	b := Burst{Size: 2_000_000, Seed: 0x1a46e, Count: 1, Reliability: reliableOrdered}
	from.Send(b)
	expect(t, receiver, to, b, 0, bulkBound)
}

// oneMode sends some messages in one mode. On a loopback nothing gets lost, but an unreliable message may, and a sequenced one is
// passed over when a newer one has been delivered; so of those only the order is certain, and that some arrive.
func oneMode(t testing.TB, from, to Link, receiver string, mode byte) {
	b := Burst{Size: 300, Seed: 0x30de0000, Count: 40, Reliability: mode}
	from.Send(b)
	switch mode {
	case reliable:
		seen := make([]bool, b.Count)
		for range b.Count {
			i := expectAny(t, receiver, to, b)
			if seen[i] {
				t.Fatalf("%s: message %d was delivered twice", receiver, i)
			}
			seen[i] = true
		}
	case reliableOrdered:
		for i := range b.Count {
			expect(t, receiver, to, b, i, messageBound)
		}
	default:
		arrived, last := 0, -1
		for last != b.Count-1 {
			i := expectAny(t, receiver, to, b)
			if i <= last {
				t.Fatalf("%s: message %d was delivered after message %d", receiver, i, last)
			}
			arrived, last = arrived+1, i
		}
		if arrived < b.Count/2 {
			t.Fatalf("%s: only %d of %d messages arrived", receiver, arrived, b.Count)
		}
	}
}

// channels sends many messages over eight ordering channels, small and split ones. Each channel's order must survive; the channels
// may overtake each other.
func channels(t testing.TB, from, to Link, receiver string) {
	const count = 100
	var bursts [8]Burst
	for c := range bursts {
		bursts[c] = Burst{Size: 60 + 300*c, Seed: uint32(c) << 24, Count: count, Reliability: reliableOrdered, Channel: byte(c)}
		from.Send(bursts[c])
	}
	var next [len(bursts)]int
	for range len(bursts) * count {
		e := Await(t, receiver, to, Message, bulkBound)
		c := int(e.Seed >> 24)
		if c >= len(bursts) {
			t.Fatalf("%s: nobody sent this: %v", receiver, e)
		}
		compare(t, receiver, e, bursts[c], next[c])
		next[c]++
	}
}

// chatter is a game's usual traffic: a steady stream of small messages in both directions.
func chatter(t testing.TB, p Pair) {
	l, d := p.Connect(t, Options{})
	up := Burst{Size: 120, Seed: 0x10000000, Count: 300, Every: 10 * time.Millisecond, Reliability: reliableOrdered}
	down := up
	down.Seed = 0x20000000
	start := time.Now()
	d.Send(up)
	l.Send(down)
	for i := range up.Count {
		expect(t, p.Listener.Name(), l, up, i, messageBound)
	}
	for i := range down.Count {
		expect(t, p.Dialer.Name(), d, down, i, messageBound)
	}
	if took := time.Since(start); took > 6*time.Second {
		t.Fatalf("3 seconds of messages took %v", took)
	}
}

// lastWords closes one end right after it sent something. The other end must get the message, and then notice the end.
func lastWords(t testing.TB, closer, other Link, name string) {
	b := Burst{Size: 500, Seed: 0xb7e, Count: 1, Reliability: reliableOrdered}
	closer.Send(b)
	closer.Close()
	before := AwaitEnd(t, name, other, closeBound)
	if len(before) != 1 {
		t.Fatalf("%s: got %d messages before the end, want the one that was sent", name, len(before))
	}
	compare(t, name, before[0], b, 0)
}

// expect awaits message i of a burst.
func expect(t testing.TB, who string, l Link, b Burst, i int, within time.Duration) {
	t.Helper()
	compare(t, who, Await(t, who, l, Message, within), b, i)
}

// expectAny awaits any message of a burst and tells which it is.
func expectAny(t testing.TB, who string, l Link, b Burst) int {
	t.Helper()
	e := Await(t, who, l, Message, messageBound)
	i := int(e.Seed - b.Seed)
	if i < 0 || i >= b.Count {
		t.Fatalf("%s: nobody sent this: %v", who, e)
	}
	compare(t, who, e, b, i)
	return i
}

func compare(t testing.TB, who string, got Event, b Burst, i int) {
	t.Helper()
	want := MessageEvent(Fill(b.Seed+uint32(i), b.Size))
	if got.Size != want.Size || got.Seed != want.Seed || got.Hash != want.Hash {
		t.Fatalf("%s: got %v, want %v (message %d)", who, got, want, i)
	}
}
