package goraknet_test

import (
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/interop"
	"github.com/raknet-go/raknet/internal/interop/goraknet"
	"github.com/raknet-go/raknet/internal/interop/ours"
)

const (
	oneMode    = "its API sends ReliableOrdered on channel 0 only"
	oneChannel = "it knows one ordering channel: the ordering indexes of all channels go into one queue"
	oneSplit   = "a listener refuses messages of more than 512 fragments and blocks the sender's address"
)

// What go-raknet v1.15.1 cannot do as a listener.
var listenerFaults = map[string]string{
	"unreliable to the dialer":           oneMode,
	"unreliable sequenced to the dialer": oneMode,
	"reliable to the dialer":             oneMode,
	"reliable sequenced to the dialer":   oneMode,
	"channels to the dialer":             oneMode,
	"channels to the listener":           oneChannel,
	"echo of 1 MB":                       oneSplit,
	"echo of 2 MB":                       oneSplit,
	"2 MB to the listener":               oneSplit,
}

// What it cannot do as a dialer.
var dialerFaults = map[string]string{
	"unreliable to the listener":           oneMode,
	"unreliable sequenced to the listener": oneMode,
	"reliable to the listener":             oneMode,
	"reliable sequenced to the listener":   oneMode,
	"channels to the listener":             oneMode,
	"channels to the dialer":               oneChannel,
}

// In either role it may take half a minute to notice a silent peer: each retransmission counts as a round trip, and its time-out grows
// by twice the round trip.
const patience = 40 * time.Second

func TestDialGoRakNet(t *testing.T) {
	t.Parallel()
	interop.Run(t, interop.Pair{
		Listener: goraknet.Peer{}, Dialer: ours.Peer{}, ListenerPatience: patience,
		Fault: func(_, name string) string { return listenerFaults[name] },
	})
}

func TestGoRakNetDials(t *testing.T) {
	t.Parallel()
	interop.Run(t, interop.Pair{
		Listener: ours.Peer{}, Dialer: goraknet.Peer{}, DialerPatience: patience,
		Fault: func(_, name string) string { return dialerFaults[name] },
	})
}
