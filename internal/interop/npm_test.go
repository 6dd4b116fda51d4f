package interop_test

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/interop"
	"github.com/raknet-go/raknet/internal/interop/ours"
)

const (
	native = "raknet-native"
	jsp    = "jsp-raknet"
)

func nativePeer(t testing.TB) interop.Peer {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip(native + " ships engines for amd64 alone")
	}
	return interop.Node(t, native, "native.js")
}

func jspPeer(t testing.TB) interop.Peer {
	t.Helper()
	return interop.Node(t, jsp, "jsp.js")
}

// A fault is something that a peer in a role cannot do, with the conversation in which it shows. No listener or dialer means any.
type fault struct{ listener, dialer, name, why string }

const (
	jspSequence = "it gives every sequenced message the sequencing index 0, so that a receiver drops all but the first"
	jspWords    = "its disconnect overtakes what is still in its queue"
	jspPong     = "it needs the length that Bedrock servers put before a pong's data; the original writes none"
)

var faults = []fault{
	{listener: native, name: "the dialer dies", why: "the addon sets the time-out of servers to 30 s"},
	{listener: native, dialer: jsp, name: "ping", why: jspPong},
	{listener: jsp, name: "unreliable sequenced to the dialer", why: jspSequence},
	{listener: jsp, name: "reliable sequenced to the dialer", why: jspSequence},
	{dialer: jsp, name: "unreliable sequenced to the listener", why: jspSequence},
	{dialer: jsp, name: "reliable sequenced to the listener", why: jspSequence},
	{listener: jsp, name: "the listener's last words", why: jspWords},
	{dialer: jsp, name: "the dialer's last words", why: jspWords},
}

func known(p interop.Pair) func(string) string {
	return func(name string) string {
		for _, f := range faults {
			if (f.listener == "" || f.listener == p.Listener.Name()) && (f.dialer == "" || f.dialer == p.Dialer.Name()) && f.name == name {
				return f.why
			}
		}
		return ""
	}
}

func TestDialOriginal(t *testing.T) {
	t.Parallel()
	p := interop.Pair{Listener: nativePeer(t), Dialer: ours.Peer{}}
	interop.Run(t, p, known(p))
}

func TestOriginalDials(t *testing.T) {
	t.Parallel()
	p := interop.Pair{Listener: ours.Peer{}, Dialer: nativePeer(t)}
	interop.Run(t, p, known(p))
}

// The JavaScript server speaks version 10 only: dialing it includes being told so and trying again.
func TestDialJSP(t *testing.T) {
	t.Parallel()
	p := interop.Pair{Listener: jspPeer(t), Dialer: ours.Peer{}}
	interop.Run(t, p, known(p))
}

// The JavaScript client doesn't know cookies.
func TestJSPDials(t *testing.T) {
	t.Parallel()
	p := interop.Pair{Listener: ours.Peer{NoCookies: true}, Dialer: jspPeer(t)}
	interop.Run(t, p, known(p))
}

// The original's handshake carries ten internal addresses at every version, Bedrock's twenty since version 9.
func TestOriginalAtEveryVersion(t *testing.T) {
	for _, version := range []byte{6, 7, 8, 9, 10, 11} {
		for _, p := range []interop.Pair{
			{Listener: nativePeer(t), Dialer: ours.Peer{}, Version: version},
			{Listener: ours.Peer{}, Dialer: nativePeer(t), Version: version},
		} {
			t.Run(p.Dialer.Name()+" dials with version "+string('0'+version/10)+string('0'+version%10), func(t *testing.T) {
				l, d := p.Connect(t, interop.Options{})
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
		{Listener: nativePeer(t), Dialer: nativePeer(t)},
		{Listener: nativePeer(t), Dialer: jspPeer(t)},
		{Listener: jspPeer(t), Dialer: nativePeer(t), Version: 10},
	} {
		t.Run(p.Dialer.Name()+" dials "+p.Listener.Name(), func(t *testing.T) { interop.Run(t, p, known(p)) })
	}
}
