package interop_test

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/interop"
	"github.com/raknet-go/raknet/internal/interop/ours"
)

const (
	native   = "raknet-native"
	jsp      = "jsp-raknet"
	rust     = "raknet-node"
	serenity = "@serenityjs/raknet"

	lossy = "lossy"
)

func nativePeer(t testing.TB) interop.Peer {
	t.Helper()
	amd64(t, native)
	return interop.Node(t, native, "native.js")
}

func jspPeer(t testing.TB) interop.Peer {
	t.Helper()
	return interop.Node(t, jsp, "jsp.js")
}

func rustPeer(t testing.TB) interop.Peer {
	t.Helper()
	amd64(t, rust)
	return interop.Node(t, rust, "rust.js").With(rustHeap...)
}

// The addon gives the garbage collector of node 20 objects that it takes for damaged: the process ends at some collection of young
// objects ("Check failed: Heap::InFromPage"). With this much room for them there is none while a conversation lasts.
var rustHeap = []string{"--min-semi-space-size=256", "--max-semi-space-size=256"}

func serenityPeer(t testing.TB) interop.Peer {
	t.Helper()
	return interop.Node(t, serenity, "serenity.js")
}

func amd64(t testing.TB, name string) {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip(name + " ships engines for amd64 alone")
	}
}

// full leaves a peer to make interop. Of those in node, the original alone is played with by every go test: the others mind a slow machine.
func full(t *testing.T) {
	t.Helper()
	if !interop.Full() {
		t.Skip("make interop plays this")
	}
}

// A fault is something that a peer in a role cannot do, with the conversation in which it shows. No listener or dialer means any, no
// path both.
type fault struct{ listener, dialer, path, name, why string }

const (
	jspSequence  = "it gives every sequenced message the sequencing index 0, so that a receiver drops all but the first"
	jspWords     = "its disconnect overtakes what is still in its queue"
	jspPong      = "it needs the length that Bedrock servers put before a pong's data; the original writes none"
	jspForgets   = "it forgets a datagram once it was sent again: what is lost twice is lost for good"
	jspOnce      = "it sends its connection request once, unreliably"
	rustMode     = "its API sends ReliableOrdered on channel 0 only"
	rustChannel  = "it knows one ordering channel: the ordering indexes of all channels go into one queue"
	rustSequence = "it doesn't know that the sequencing index begins anew after an ordered message, and drops what follows"
	rustTwice    = "it delivers a Reliable message twice that is sent twice, as a slow machine makes us do"
	rustNever    = "its client never notices that the server fell silent"
	rustOnce     = "it repeats a lost request after two seconds, and gives up after ten"
	// A disconnect sends one frame of the queue, which then is not the disconnect, and forgets the connection.
	serenityWords = "its disconnect stays behind in the queue if anything waits there"
	serenityLate  = "it acknowledges a datagram that comes late, and drops it"
)

// of makes the faults of one reason.
func of(f fault, names ...string) []fault {
	var all []fault
	for _, name := range names {
		f.name = name
		all = append(all, f)
	}
	return all
}

var faults = slices.Concat(
	of(fault{listener: native, dialer: jsp, why: jspPong}, "ping"),
	of(fault{listener: jsp, why: jspSequence}, "unreliable sequenced to the dialer", "reliable sequenced to the dialer"),
	of(fault{dialer: jsp, why: jspSequence}, "unreliable sequenced to the listener", "reliable sequenced to the listener"),
	of(fault{listener: jsp, why: jspWords}, "the listener's last words"),
	of(fault{dialer: jsp, why: jspWords}, "the dialer's last words"),
	of(fault{dialer: jsp, path: lossy, why: jspOnce}, "handshake"),
	of(fault{listener: jsp, path: lossy, why: jspForgets}, "echo of 100 KB", "echo of 1 MB", "echo of 2 MB", "100 messages a second both ways"),
	of(fault{dialer: jsp, path: lossy, why: jspForgets}, "echo of 100 KB", "echo of 1 MB", "echo of 2 MB", "100 messages a second both ways"),
	of(fault{listener: rust, why: rustMode}, "unreliable to the dialer", "unreliable sequenced to the dialer", "reliable to the dialer",
		"reliable sequenced to the dialer", "channels to the dialer"),
	of(fault{listener: rust, why: rustTwice}, "reliable to the listener"),
	of(fault{dialer: rust, why: rustTwice}, "reliable to the dialer"),
	of(fault{listener: rust, why: rustSequence}, "reliable sequenced to the listener"),
	of(fault{dialer: rust, why: rustSequence}, "reliable sequenced to the dialer"),
	of(fault{dialer: rust, why: rustNever}, "the listener dies"),
	of(fault{listener: rust, why: rustChannel}, "channels to the listener"),
	of(fault{dialer: rust, why: rustMode}, "unreliable to the listener", "unreliable sequenced to the listener", "reliable to the listener",
		"reliable sequenced to the listener", "channels to the listener"),
	of(fault{dialer: rust, why: rustChannel}, "channels to the dialer"),
	of(fault{dialer: rust, path: lossy, why: rustOnce}, "handshake"),
	of(fault{listener: serenity, why: serenityWords}, "the listener's last words"),
	of(fault{listener: serenity, path: lossy, why: serenityLate}, "echo of 1500 bytes", "echo of 10 KB", "echo of 100 KB", "echo of 1 MB",
		"echo of 2 MB", "100 messages a second both ways"),
)

// Some peers wait longer than ten seconds for a silent one.
var patience = map[string]time.Duration{
	native + " listening":   30 * time.Second, // the addon sets the time-out of servers
	rust + " listening":     60 * time.Second,
	serenity + " listening": 15 * time.Second,
}

// pair makes a pair of peers and of what is known about them.
func pair(listener, dialer interop.Peer) interop.Pair {
	return interop.Pair{
		Listener: listener, Dialer: dialer,
		ListenerPatience: patience[listener.Name()+" listening"], DialerPatience: patience[dialer.Name()+" dialing"],
		Fault: func(path, name string) string {
			for _, f := range faults {
				if (f.listener == "" || f.listener == listener.Name()) && (f.dialer == "" || f.dialer == dialer.Name()) &&
					(f.path == "" || f.path == path) && f.name == name {
					return f.why
				}
			}
			return ""
		},
	}
}

func TestDialOriginal(t *testing.T) {
	t.Parallel()
	interop.Run(t, pair(nativePeer(t), ours.Peer{}))
}

func TestOriginalDials(t *testing.T) {
	t.Parallel()
	interop.Run(t, pair(ours.Peer{}, nativePeer(t)))
}

// The JavaScript server speaks version 10 only: dialing it includes being told so and trying again.
func TestDialJSP(t *testing.T) {
	t.Parallel()
	full(t)
	interop.Run(t, pair(jspPeer(t), ours.Peer{}))
}

// The JavaScript client doesn't know cookies.
func TestJSPDials(t *testing.T) {
	t.Parallel()
	full(t)
	p := pair(ours.Peer{NoCookies: true}, jspPeer(t))
	p.Tries = 3 // a slow answer makes it ask again, and then it takes the second answer for a new connection
	interop.Run(t, p)
}

func TestDialRust(t *testing.T) {
	t.Parallel()
	full(t)
	p := pair(rustPeer(t), ours.Peer{})
	p.PongFields = 1 // the addon takes a text for pongs, and answers with one of its own
	interop.Run(t, p)
}

func TestRustDials(t *testing.T) {
	t.Parallel()
	full(t)
	interop.Run(t, pair(ours.Peer{NoCookies: true}, rustPeer(t)))
}

// The package is a server and has no client.
func TestSerenityHasNoClient(t *testing.T) {
	if !interop.Full() {
		t.Skip("make interop asks")
	}
	exports := serenityPeer(t).(*interop.Process).Exports(t)
	if !slices.Contains(exports, "Server") || slices.ContainsFunc(exports, func(s string) bool { return strings.Contains(s, "Client") }) {
		t.Fatalf("the package exports %q", exports)
	}
	interop.Absent(t, serenity, interop.AsClient, "the package is a server and has no client")
}

func TestDialSerenity(t *testing.T) {
	t.Parallel()
	full(t)
	p := pair(serenityPeer(t), ours.Peer{})
	p.PongFields = 4 // the rest are the server's own
	interop.Run(t, p)
}

// The original's handshake carries ten internal addresses at every version, Bedrock's twenty since version 9.
func TestOriginalAtEveryVersion(t *testing.T) {
	for _, version := range []byte{6, 7, 8, 9, 10, 11} {
		for _, p := range []interop.Pair{
			{Listener: nativePeer(t), Dialer: ours.Peer{}, Version: version},
			{Listener: ours.Peer{}, Dialer: nativePeer(t), Version: version},
		} {
			t.Run(p.Dialer.Name()+" dials with version "+string('0'+version/10)+string('0'+version%10), func(t *testing.T) {
				l, d := connect(t, p)
				b := interop.Burst{Size: 3000, Count: 1, Seed: 1, Reliability: 3}
				l.Send(b)
				d.Send(b)
				interop.Await(t, p.Listener.Name(), l, interop.Message, 10*time.Second)
				interop.Await(t, p.Dialer.Name(), d, interop.Message, 10*time.Second)
			})
		}
	}
}

// A server that speaks an older version says which; the dialer comes again with that one.
func TestDialFallsBackToTheOriginalsVersion(t *testing.T) {
	l, port := nativePeer(t).Listen(t, interop.Options{Version: 10})
	d := ours.Peer{}.Dial(t, port, interop.Options{})
	interop.Await(t, "ours", d, interop.Connected, 10*time.Second)
	interop.Await(t, native, l, interop.Connected, 10*time.Second)
}

func TestOriginalIsToldTheVersion(t *testing.T) {
	_, port := ours.Peer{}.Listen(t, interop.Options{})
	d := nativePeer(t).Dial(t, port, interop.Options{Version: 6})
	if e := interop.Await(t, native, d, interop.Failed, 10*time.Second); e.Text != "incompatible protocol version" {
		t.Fatalf("the client says %q", e.Text)
	}
}

// A client that doesn't know cookies takes the cookie for the MTU and answers without one. It stays outside, and harms nobody.
func TestJSPMeetsCookies(t *testing.T) {
	p := interop.Pair{Listener: ours.Peer{}, Dialer: nativePeer(t)}
	_, port := p.Listener.Listen(t, interop.Options{})
	stranger := jspPeer(t).Dial(t, port, interop.Options{})
	d := p.Dialer.Dial(t, port, interop.Options{})
	interop.Await(t, native, d, interop.Connected, 10*time.Second)
	select {
	case e := <-stranger.Events():
		t.Fatalf("the client without a cookie reports: %v", e)
	case <-time.After(2 * time.Second):
	}
}

// The peers against each other, without this library: whether a conversation that fails with ours works elsewhere.
func TestPeersWithEachOther(t *testing.T) {
	if os.Getenv("RAKNET_INTEROP_PEERS") == "" {
		t.Skip("tests the peers and not this library: set RAKNET_INTEROP_PEERS=1 to judge a failure of the others")
	}
	for _, p := range []interop.Pair{
		pair(nativePeer(t), nativePeer(t)),
		pair(nativePeer(t), jspPeer(t)),
		pair(nativePeer(t), rustPeer(t)),
		pair(jspPeer(t), nativePeer(t)),
		pair(rustPeer(t), nativePeer(t)),
		pair(serenityPeer(t), nativePeer(t)),
		pair(jspPeer(t), jspPeer(t)),
		pair(rustPeer(t), rustPeer(t)),
	} {
		if p.Listener.Name() == jsp {
			p.Version = 10
		}
		t.Run(p.Dialer.Name()+" dials "+p.Listener.Name(), func(t *testing.T) { interop.Run(t, p) })
	}
}

// connect makes a connection and waits until both ends have it.
func connect(t testing.TB, p interop.Pair) (listener, dialer interop.Link) {
	t.Helper()
	o := interop.Options{Version: p.Version}
	listener, port := p.Listener.Listen(t, o)
	dialer = p.Dialer.Dial(t, port, o)
	interop.Await(t, p.Dialer.Name()+" dialing", dialer, interop.Connected, 10*time.Second)
	interop.Await(t, p.Listener.Name()+" listening", listener, interop.Connected, 10*time.Second)
	return listener, dialer
}
