package interop

import (
	"os"
	"testing"
	"time"
)

// OursName is how this library is called among the peers.
const OursName = "ours"

// A Pair is who takes part in a conversation.
type Pair struct {
	Listener, Dialer Peer
	Version          byte // the protocol version to use when the peers don't find a common one by themselves

	// Ours says which of the two sends by this library, if not the one that is called "ours".
	Ours Side
	// Row and Role say where the results belong in the table. Empty: the peer that is not this library, "as a server" or "as a client".
	Row, Role string
	// Fault returns what is wrong with a peer when a case cannot work over a path because of it, and "" otherwise. A pair whose
	// "handshake" has a fault is connected before the path begins to lose anything. Nil: no faults.
	Fault func(path, name string) string
	// Cases are the conversations to hold. Nil: all of [Cases].
	Cases []Case
	// ListenerPatience and DialerPatience are how long each needs to notice that the other fell silent. 0: the ten seconds of the
	// original.
	ListenerPatience, DialerPatience time.Duration
	// Stretch multiplies all bounds but those of patience. 0: 1.
	Stretch int
	// Tries is how often to try to connect, for peers whose handshake may fail for no fault of the path. 0: once.
	Tries int
	// PongFields is how many fields of a pong's data the listener takes from us, if it makes the others itself. 0: all.
	PongFields int
	// Overtakes is how many places a message may be from its own when a peer, and not its transport, lets messages that
	// come fast overtake each other. 0: none.
	Overtakes int
	// Between puts something between the dialer's relay and the listener's, such as a proxy: it gets the port of the latter and where
	// to listen, and returns the port it listens on. It counts as this library. Nil: one relay, nothing else.
	Between func(t testing.TB, o Options, port int) int
}

// Full says that everything is to be tried: every path, and what takes half a minute. Otherwise only what takes a moment is.
func Full() bool { return os.Getenv("RAKNET_INTEROP") == "require" }

// slots are for conversations that keep the processor busy. Those that mostly wait hold one while they connect.
var slots = make(chan struct{}, 6)

// a seat holds a slot until it is given back.
type seat struct{ taken bool }

func (s *seat) take() {
	slots <- struct{}{}
	s.taken = true
}

func (s *seat) leave() {
	if s.taken {
		s.taken = false
		<-slots
	}
}

// A talk is all conversations of a pair over one path.
type talk struct {
	Pair
	path    Path
	capture Capture
	results *results
}

// Run holds the conversations of a pair over each path, [Clean] and [Lossy] if none is named, lets the dissector read what this
// library sent, and notes the results.
func Run(t *testing.T, p Pair, paths ...Path) {
	if len(paths) == 0 {
		paths = []Path{Clean, Lossy}
	}
	if !Full() {
		paths = paths[:1]
	}
	if p.Cases == nil {
		p.Cases = Cases()
	}
	for _, path := range paths {
		t.Run(path.Name, func(t *testing.T) {
			t.Parallel()
			k := &talk{Pair: p, path: path, results: newResults(t, p, path)}
			t.Cleanup(func() { k.dissect(t) })
			k.run(t)
		})
	}
}

func (k *talk) run(t *testing.T) {
	for _, c := range k.Cases {
		if c.Slow && k.wanted(c) {
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				k.one(t, c)
			})
		}
	}
	t.Run("short", func(t *testing.T) {
		t.Parallel()
		for _, c := range k.Cases {
			if !c.Slow && k.wanted(c) {
				t.Run(c.Name, func(t *testing.T) { k.one(t, c) })
			}
		}
	})
}

func (k *talk) wanted(c Case) bool { return (Full() || !c.Slow) && (!c.Calm || k.path.Loss == 0) }

// one holds one conversation, or all parts of it over the same connection.
func (k *talk) one(t *testing.T, c Case) {
	if c.Parts == nil {
		k.step(t, c.Name, func() {
			e := k.sit(t, c)
			defer e.seat.leave()
			c.Run(t, e)
		})
		return
	}
	var e *Encounter
	lost := false
	for _, part := range c.Parts {
		t.Run(part.Name, func(t2 *testing.T) {
			k.step(t2, part.Name, func() {
				if lost {
					t2.Fatal("an earlier part of the conversation failed")
				}
				lost = true
				if e == nil {
					e = k.sit(lasting{t2, t}, c)
				}
				part.Run(t2, e)
				lost = false
			})
		})
	}
	if e != nil {
		e.seat.leave()
	}
}

// lasting lets what a part of a conversation makes last until all of it is over.
type lasting struct {
	testing.TB
	whole testing.TB
}

func (l lasting) Cleanup(f func())           { l.whole.Cleanup(f) }
func (l lasting) TempDir() string            { return l.whole.TempDir() }
func (l lasting) Failed() bool               { return l.whole.Failed() }
func (l lasting) Logf(f string, args ...any) { l.whole.Logf(f, args...) }
func (l lasting) Error(args ...any)          { l.whole.Error(args...) }
func (l lasting) Errorf(f string, a ...any)  { l.whole.Errorf(f, a...) }
func (l lasting) Log(args ...any)            { l.whole.Log(args...) }

// step runs a case unless a fault forbids it, and notes what came of it.
func (k *talk) step(t *testing.T, name string, run func()) {
	if why := k.fault(name); why != "" {
		k.results.note(name, Result{Fault: why})
		t.Skip("known fault of the peer: " + why)
	}
	defer func() { k.results.note(name, Result{OK: !t.Failed()}) }()
	run()
}

func (k *talk) fault(name string) string {
	if k.Fault == nil {
		return ""
	}
	return k.Fault(k.path.Name, name)
}

// sit prepares a conversation and connects the peers, unless the case does that by itself.
func (k *talk) sit(t testing.TB, c Case) *Encounter {
	e := &Encounter{talk: k}
	e.seat.take()
	t.Cleanup(e.seat.leave)
	if !c.Apart {
		e.connect(t, Options{Mortal: c.Mortal, Version: k.Version})
	}
	if c.Slow {
		e.seat.leave()
	}
	return e
}

// An Encounter is a pair in a conversation. Listener and Dialer are the ends of its connection.
type Encounter struct {
	*talk
	seat             seat
	Listener, Dialer Link
}

// listen lets the listener listen behind the path, and behind what else is between the peers. It returns the port for dialers. calm:
// nothing is lost until begin is called.
func (e *Encounter) listen(t testing.TB, o Options, calm bool) (front int, begin func()) {
	t.Helper()
	ours := e.Ours
	if ours == (Side{}) {
		ours = Side{Listener: e.talk.Listener.Name() == OursName, Dialer: e.talk.Dialer.Name() == OursName}
	}
	if e.Between != nil {
		ours = Side{Dialer: true}
	}
	relay := e.path.Relay(t, &e.capture, ours)
	relays := []*Relay{relay}
	var port int
	o = relay.Behind(o)
	e.Listener, port = e.talk.Listener.Listen(t, o)
	relay.Point(o, port)
	if e.Between != nil {
		outer := e.path.Relay(t, &e.capture, Side{Listener: true})
		o = outer.Behind(Options{})
		outer.Point(o, e.Between(t, o, relay.Port()))
		relay, relays = outer, append(relays, outer)
	}
	for _, r := range relays {
		r.Calm(calm)
	}
	return relay.Port(), func() {
		for _, r := range relays {
			r.Calm(false)
		}
	}
}

// connect makes a connection, in as many tries as the pair may have.
func (e *Encounter) connect(t testing.TB, o Options) {
	t.Helper()
	for try := max(1, e.Tries); ; try-- {
		front, begin := e.listen(t, o, e.fault("handshake") != "")
		e.Dialer = e.talk.Dialer.Dial(t, front, o)
		if try > 1 && !(connected(e.Dialer, e.within(handshakeBound)) && connected(e.Listener, e.within(handshakeBound))) {
			continue
		}
		if try == 1 {
			e.await(t, e.Dialer, Connected, handshakeBound)
			e.await(t, e.Listener, Connected, handshakeBound)
		}
		begin()
		return
	}
}

// connected waits until a link is connected or has failed to.
func connected(l Link, within time.Duration) bool {
	select {
	case got := <-l.Events():
		return got.Kind == Connected
	case <-time.After(within):
		return false
	}
}

// who names the end of a connection in messages.
func (e *Encounter) who(l Link) string {
	if l == e.Listener {
		return e.talk.Listener.Name() + " listening"
	}
	return e.talk.Dialer.Name() + " dialing"
}

// patience is how long an end may take to notice that the other one fell silent.
func (e *Encounter) patience(l Link) time.Duration {
	d := e.DialerPatience
	if l == e.Listener {
		d = e.ListenerPatience
	}
	if d == 0 {
		d = usualPatience
	}
	return d + deathSlack
}

// within stretches a bound for paths on which things have to be said twice.
func (e *Encounter) within(d time.Duration) time.Duration {
	d *= time.Duration(max(1, e.Stretch))
	if e.path.Loss > 0 {
		d *= 2
	}
	return d
}

func (e *Encounter) await(t testing.TB, l Link, kind string, within time.Duration) Event {
	t.Helper()
	return Await(t, e.who(l), l, kind, e.within(within))
}
