package interop

import (
	"strings"
	"testing"
	"time"
)

const (
	handshakeBound = 15 * time.Second
	messageBound   = 20 * time.Second
	bulkBound      = 60 * time.Second
	closeBound     = 20 * time.Second
	// usualPatience is the ten seconds after which the original gives up on a silent peer.
	usualPatience = 10 * time.Second
	// deathSlack is what a loaded machine and a peer's coarse clock may add to somebody's patience.
	deathSlack = 10 * time.Second
)

// The numbers of the delivery modes on the wire.
const (
	unreliable          = 0
	unreliableSequenced = 1
	reliable            = 2
	reliableOrdered     = 3
	reliableSequenced   = 4
)

// A Case is one conversation that every pair of peers should manage.
type Case struct {
	Name   string
	Slow   bool   // takes ten seconds or more, mostly waiting
	Calm   bool   // of no use where datagrams get lost
	Apart  bool   // Run connects the peers itself, or not at all
	Mortal bool   // an end gets killed
	Parts  []Part // held one after the other over one connection, instead of Run; the first that fails ends them
	Run    func(t testing.TB, e *Encounter)
}

// A Part is a piece of a conversation that is told of on its own.
type Part struct {
	Name string
	Run  func(t testing.TB, e *Encounter)
}

// names are the cases and parts by which results are told, in order.
func names(cases []Case) (all []string) {
	for _, c := range cases {
		if c.Parts == nil {
			all = append(all, c.Name)
		}
		for _, p := range c.Parts {
			all = append(all, p.Name)
		}
	}
	return append(all, Dissected)
}

// echoSizes are those of the messages that come back: up to what a Bedrock server sends at most, and around the size of a datagram.
var echoSizes = []struct {
	name string
	size int
}{
	{"1 byte", 1}, {"2 bytes", 2}, {"100 bytes", 100}, {"1400 bytes", 1400}, {"1500 bytes", 1500},
	{"10 KB", 10_000}, {"100 KB", 100_000}, {"1 MB", 1_000_000}, {"2 MB", 2_000_000},
}

// Cases lists the conversations.
func Cases() []Case {
	modes := Case{Name: "modes", Calm: true, Parts: []Part{
		{Name: "2 MB to the listener", Run: func(t testing.TB, e *Encounter) { large(t, e, e.Dialer, e.Listener) }},
		{Name: "2 MB to the dialer", Run: func(t testing.TB, e *Encounter) { large(t, e, e.Listener, e.Dialer) }},
	}}
	for mode, name := range []string{"unreliable", "unreliable sequenced", "reliable", "reliable ordered", "reliable sequenced"} {
		modes.Parts = append(modes.Parts,
			Part{Name: name + " to the listener", Run: func(t testing.TB, e *Encounter) { oneMode(t, e, e.Dialer, e.Listener, byte(mode)) }},
			Part{Name: name + " to the dialer", Run: func(t testing.TB, e *Encounter) { oneMode(t, e, e.Listener, e.Dialer, byte(mode)) }})
	}
	modes.Parts = append(modes.Parts,
		Part{Name: "channels to the listener", Run: func(t testing.TB, e *Encounter) { channels(t, e, e.Dialer, e.Listener) }},
		Part{Name: "channels to the dialer", Run: func(t testing.TB, e *Encounter) { channels(t, e, e.Listener, e.Dialer) }})
	return append(Basics(), modes,
		Case{Name: "the dialer's last words", Calm: true, Run: func(t testing.TB, e *Encounter) { lastWords(t, e, e.Dialer, e.Listener) }},
		Case{Name: "the listener's last words", Calm: true, Run: func(t testing.TB, e *Encounter) { lastWords(t, e, e.Listener, e.Dialer) }})
}

// Basics lists the conversations that are held over every path, those that every peer knows how to hold. A peer may take a second of
// processor time to start, so one connection serves as many of them as it can.
func Basics() []Case {
	talk := Case{Name: "talk", Parts: []Part{{Name: "handshake", Run: func(testing.TB, *Encounter) {}}}}
	for _, s := range echoSizes {
		talk.Parts = append(talk.Parts, Part{Name: "echo of " + s.name, Run: func(t testing.TB, e *Encounter) { echo(t, e, s.size) }})
	}
	talk.Parts = append(talk.Parts,
		Part{Name: "the dialer closes", Run: func(t testing.TB, e *Encounter) { closes(t, e, e.Dialer, e.Listener) }})

	linger := Case{Name: "linger", Slow: Full(), Parts: []Part{{Name: "100 messages a second both ways", Run: chatter}}}
	if Full() {
		linger.Parts = append(linger.Parts, Part{Name: "idle for 15 s", Run: idle})
	}
	linger.Parts = append(linger.Parts,
		Part{Name: "the listener closes", Run: func(t testing.TB, e *Encounter) { closes(t, e, e.Listener, e.Dialer) }})

	return []Case{
		{Name: "ping", Apart: true, Run: ping},
		talk,
		linger,
		{Name: "the dialer dies", Slow: true, Mortal: true, Run: func(t testing.TB, e *Encounter) { dies(t, e, e.Dialer, e.Listener) }},
		{Name: "the listener dies", Slow: true, Mortal: true, Run: func(t testing.TB, e *Encounter) { dies(t, e, e.Listener, e.Dialer) }},
	}
}

// ping asks again where datagrams get lost, since some peers send one ping and no more.
func ping(t testing.TB, e *Encounter) {
	const data = "MCPE;interop;686;1.21.2;1;20;1;world;Survival;1;19132;19133;"
	front, _ := e.listen(t, Options{Pong: data, Version: e.Version}, false)
	tries := 1
	if e.path.Loss > 0 || e.PongFields > 0 {
		tries = 6
	}
	within := e.within(handshakeBound) / time.Duration(tries)
	for range tries {
		e.Dialer = e.talk.Dialer.Ping(t, front)
		select {
		case got := <-e.Dialer.Events():
			if got.Kind == Pong && got.Text == "" && e.PongFields > 0 {
				time.Sleep(within / 10) // a server that makes the data itself has none for a moment
				continue
			}
			if got.Kind != Pong || fieldsOf(got.Text, e.PongFields) != fieldsOf(data, e.PongFields) {
				t.Fatalf("%s: got %v, want the data %q", e.who(e.Dialer), got, data)
			}
			return
		case <-time.After(within):
		}
	}
	t.Fatalf("%s: no pong", e.who(e.Dialer))
}

// fieldsOf returns the first n fields of a pong's data, or all if n is 0.
func fieldsOf(data string, n int) string {
	parts := strings.Split(data, ";")
	if n > 0 && n < len(parts) {
		parts = parts[:n]
	}
	return strings.Join(parts, ";")
}

// echo sends one message to the listener and waits for it to come back.
func echo(t testing.TB, e *Encounter, size int) {
	e.Listener.Echo(reliableOrdered, 0)
	b := Burst{Size: size, Seed: 0x1ec40, Count: 1, Reliability: reliableOrdered}
	e.Dialer.Send(b)
	expect(t, e, e.Listener, b, 0, bulkBound)
	expect(t, e, e.Dialer, b, 0, bulkBound)
}

// idle says nothing for longer than the silence after which a peer is given up, and then something.
func idle(t testing.TB, e *Encounter) {
	select {
	case got := <-e.Listener.Events():
		t.Fatalf("%s: got %v", e.who(e.Listener), got)
	case got := <-e.Dialer.Events():
		t.Fatalf("%s: got %v", e.who(e.Dialer), got)
	case <-time.After(15 * time.Second):
	}
	b := Burst{Size: 100, Seed: 0x1d1e, Count: 1, Reliability: reliableOrdered}
	e.Dialer.Send(b)
	expect(t, e, e.Listener, b, 0, messageBound)
	e.Listener.Send(b)
	expect(t, e, e.Dialer, b, 0, messageBound)
}

// closes ends the connection. The news of that may get lost on a bad path, and few peers repeat it: the other end then notices the
// silence.
func closes(t testing.TB, e *Encounter, closer, other Link) {
	closer.Close()
	within := closeBound
	if e.path.Loss > 0 {
		within = e.patience(other)
	}
	AwaitEnd(t, e.who(other), other, within)
}

// dies kills one end, which says nothing any more.
func dies(t testing.TB, e *Encounter, victim, other Link) {
	victim.Kill()
	AwaitEnd(t, e.who(other), other, e.patience(other))
}

// large sends one message of 2 MB.
func large(t testing.TB, e *Encounter, from, to Link) {
	b := Burst{Size: 2_000_000, Seed: 0x1a46e, Count: 1, Reliability: reliableOrdered}
	from.Send(b)
	expect(t, e, to, b, 0, bulkBound)
}

// oneMode sends some messages in one mode. On a loopback nothing gets lost, but an unreliable message may, and a sequenced one is
// passed over when a newer one has been delivered; so of those only the order is certain, and that some arrive.
func oneMode(t testing.TB, e *Encounter, from, to Link, mode byte) {
	b := Burst{Size: 300, Seed: 0x30de0000 + uint32(mode)<<8, Count: 40, Reliability: mode}
	from.Send(b)
	switch mode {
	case reliable:
		seen := make([]bool, b.Count)
		for range b.Count {
			i := expectAny(t, e, to, b)
			if seen[i] {
				t.Fatalf("%s: message %d was delivered twice", e.who(to), i)
			}
			seen[i] = true
		}
	case reliableOrdered:
		for i := range b.Count {
			expect(t, e, to, b, i, messageBound)
		}
	default:
		arrived, last := 0, -1
		for last != b.Count-1 {
			i := expectAny(t, e, to, b)
			if i <= last {
				t.Fatalf("%s: message %d was delivered after message %d", e.who(to), i, last)
			}
			arrived, last = arrived+1, i
		}
		if arrived < b.Count/2 {
			t.Fatalf("%s: only %d of %d messages arrived", e.who(to), arrived, b.Count)
		}
	}
}

// channels sends many messages over eight ordering channels, small and split ones. Each channel's order must survive; the channels
// may overtake each other.
func channels(t testing.TB, e *Encounter, from, to Link) {
	const count = 100
	var bursts [8]Burst
	for c := range bursts {
		bursts[c] = Burst{Size: 60 + 300*c, Seed: uint32(c) << 24, Count: count, Reliability: reliableOrdered, Channel: byte(c)}
		from.Send(bursts[c])
	}
	var next [len(bursts)]int
	for range len(bursts) * count {
		got := e.await(t, to, Message, bulkBound)
		c := int(got.Seed >> 24)
		if c >= len(bursts) {
			t.Fatalf("%s: nobody sent this: %v", e.who(to), got)
		}
		compare(t, e.who(to), got, bursts[c], next[c])
		next[c]++
	}
}

// chatter is a game's usual traffic: a steady stream of small messages in both directions.
func chatter(t testing.TB, e *Encounter) {
	up := Burst{Size: 120, Seed: 0x10000000, Count: 300, Every: 10 * time.Millisecond, Reliability: reliableOrdered}
	if Full() {
		up.Count = 3000
	}
	down := up
	down.Seed = 0x20000000
	e.Dialer.Send(up)
	e.Listener.Send(down)
	stream(t, e, e.Listener, up)
	stream(t, e, e.Dialer, down)
}

// stream awaits every message of a burst, once and in its place.
func stream(t testing.TB, e *Encounter, l Link, b Burst) {
	t.Helper()
	seen := make([]bool, b.Count)
	for place := range b.Count {
		if e.Overtakes == 0 {
			expect(t, e, l, b, place, messageBound)
			continue
		}
		i := expectAny(t, e, l, b)
		if seen[i] || i < place-e.Overtakes || i > place+e.Overtakes {
			t.Fatalf("%s: message %d came in the place of %d, for the first time: %v", e.who(l), i, place, !seen[i])
		}
		seen[i] = true
	}
}

// lastWords closes one end right after it sent something. The other end must get the message, and then notice the end.
func lastWords(t testing.TB, e *Encounter, closer, other Link) {
	b := Burst{Size: 500, Seed: 0xb7e, Count: 1, Reliability: reliableOrdered}
	closer.Send(b)
	closer.Close()
	before := AwaitEnd(t, e.who(other), other, closeBound)
	if len(before) != 1 {
		t.Fatalf("%s: got %d messages before the end, want the one that was sent", e.who(other), len(before))
	}
	compare(t, e.who(other), before[0], b, 0)
}

// expect awaits message i of a burst.
func expect(t testing.TB, e *Encounter, l Link, b Burst, i int, within time.Duration) {
	t.Helper()
	compare(t, e.who(l), e.await(t, l, Message, within), b, i)
}

// expectAny awaits any message of a burst and tells which it is.
func expectAny(t testing.TB, e *Encounter, l Link, b Burst) int {
	t.Helper()
	got := e.await(t, l, Message, messageBound)
	i := int(got.Seed - b.Seed)
	if i < 0 || i >= b.Count {
		t.Fatalf("%s: nobody sent this: %v", e.who(l), got)
	}
	compare(t, e.who(l), got, b, i)
	return i
}

func compare(t testing.TB, who string, got Event, b Burst, i int) {
	t.Helper()
	want := MessageEvent(Fill(b.Seed+uint32(i), b.Size))
	if got.Size != want.Size || got.Seed != want.Seed || got.Hash != want.Hash {
		t.Fatalf("%s: got %v, want %v (message %d)", who, got, want, i)
	}
}
