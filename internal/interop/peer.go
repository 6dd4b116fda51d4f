package interop

import (
	"fmt"
	"net"
	"strconv"
	"testing"
	"time"
)

// A Peer is an implementation that can stand at either end of a connection. Each call makes something independent: a process or
// sockets of its own. All of it ends with the test. Failures to start end the test.
type Peer interface {
	// Name is how the peer is called in tests and in fault tables.
	Name() string
	// Listen accepts one connection on the place that the options name. The link reports Connected when a dialer came.
	Listen(t testing.TB, o Options) (Link, int)
	// Dial starts to connect to a port of 127.0.0.1. The link reports Connected or Failed.
	Dial(t testing.TB, port int, o Options) Link
	// Ping sends an unconnected ping to a port of 127.0.0.1. The link reports Pong.
	Ping(t testing.TB, port int) Link
}

// Options vary a connection. The zero value is what an ordinary application would use.
type Options struct {
	Version byte   // protocol version; 0: the peer's usual one
	Host    string // where to listen; "": 127.0.0.1
	Port    int    // where to listen; 0: any
	Pong    string // what a listener answers to pings
	Mortal  bool   // the link must know how to Kill; costs the optimised socket path of peers in this process
}

func (o Options) host() string {
	if o.Host == "" {
		return "127.0.0.1"
	}
	return o.Host
}

// Place is where to listen.
func (o Options) Place() string { return net.JoinHostPort(o.host(), strconv.Itoa(o.Port)) }

// A Link is one end of one connection. Its methods may be called from one goroutine at a time and don't wait for the network;
// what happens is reported as events.
type Link interface {
	// Send sends a series of messages.
	Send(b Burst)
	// Echo makes the link send back every message that arrives from now on.
	Echo(reliability, channel byte)
	// Close ends the connection in order.
	Close()
	// Kill makes the peer vanish as if its machine had lost power: nothing more is sent, not even a disconnect.
	Kill()
	// Events is where the link reports. The channel is never closed.
	Events() <-chan Event
}

// A Burst is a series of messages of one size. Message i has the content Fill(Seed+i, Size).
type Burst struct {
	Size        int
	Seed        uint32
	Count       int
	Every       time.Duration // 0: all at once
	Reliability byte
	Channel     byte
}

// The kinds of events.
const (
	Ready        = "ready"        // listening
	Connected    = "connected"    // the handshake is complete
	Failed       = "failed"       // no connection came about
	Message      = "message"      // a message arrived
	Disconnected = "disconnected" // the connection ended, by whichever side or by silence
	Pong         = "pong"         // an unconnected pong arrived; Text is its data
	Broken       = "error"        // the peer itself broke
)

// An Event is something a link reports.
type Event struct {
	Kind string `json:"event"`
	Port int    `json:"port"`
	Size int    `json:"size"`
	Seed uint32 `json:"seed"`
	Hash string `json:"hash"`
	Text string `json:"text"`
}

// String is for messages of failing tests.
func (e Event) String() string {
	if e.Kind == Message {
		return fmt.Sprintf("message %08x of %d bytes (%s)", e.Seed, e.Size, e.Hash)
	}
	return fmt.Sprintf("%s %s", e.Kind, e.Text)
}

// eventBacklog is how many events a link holds that nobody reads: more than any conversation produces. A peer that goes beyond
// waits.
const eventBacklog = 1 << 14

// NewEvents makes the channel of a link.
func NewEvents() chan Event { return make(chan Event, eventBacklog) }

// Await returns the link's next event, which must be of the given kind.
func Await(t testing.TB, who string, l Link, kind string, within time.Duration) Event {
	t.Helper()
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case e := <-l.Events():
		if e.Kind != kind {
			t.Fatalf("%s: waiting for %s, got: %v", who, kind, e)
		}
		return e
	case <-timer.C:
		t.Fatalf("%s: no %s within %v", who, kind, within)
	}
	return Event{}
}

// AwaitEnd reads events until the connection has ended. Messages that arrive before that are returned.
func AwaitEnd(t testing.TB, who string, l Link, within time.Duration) (before []Event) {
	t.Helper()
	timer := time.NewTimer(within)
	defer timer.Stop()
	for {
		select {
		case e := <-l.Events():
			switch e.Kind {
			case Disconnected:
				return before
			case Message:
				before = append(before, e)
			default:
				t.Fatalf("%s: waiting for the end, got: %v", who, e)
			}
		case <-timer.C:
			t.Fatalf("%s: did not notice the end of the connection within %v, but got %d messages", who, within, len(before))
		}
	}
}
