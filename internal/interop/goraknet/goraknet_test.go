package goraknet_test

import (
	"testing"

	"github.com/raknet-go/raknet/internal/interop"
	"github.com/raknet-go/raknet/internal/interop/goraknet"
	"github.com/raknet-go/raknet/internal/interop/ours"
)

const oneMode = "its API sends ReliableOrdered on channel 0 only"

// What go-raknet v1.15.1 cannot do as a listener.
var listenerFaults = map[string]string{
	"unreliable to the dialer":           oneMode,
	"unreliable sequenced to the dialer": oneMode,
	"reliable to the dialer":             oneMode,
	"reliable sequenced to the dialer":   oneMode,
	"channels to the dialer":             oneMode,
	"channels to the listener":           "it knows one ordering channel: indexes of all channels go into one queue",
	"echo of 2000000 bytes":              "a listener refuses messages of more than 512 fragments and blocks the sender's address",
	"2 MB to the listener":               "a listener refuses messages of more than 512 fragments and blocks the sender's address",
}

// What it cannot do as a dialer.
var dialerFaults = map[string]string{
	"unreliable to the listener":           oneMode,
	"unreliable sequenced to the listener": oneMode,
	"reliable to the listener":             oneMode,
	"reliable sequenced to the listener":   oneMode,
	"channels to the listener":             oneMode,
	"channels to the dialer":               "it knows one ordering channel: indexes of all channels go into one queue",
}

func TestDialGoRakNet(t *testing.T) {
	interop.Run(t, interop.Pair{Listener: goraknet.Peer{}, Dialer: ours.Peer{}}, func(name string) string { return listenerFaults[name] })
}

func TestGoRakNetDials(t *testing.T) {
	interop.Run(t, interop.Pair{Listener: ours.Peer{}, Dialer: goraknet.Peer{}}, func(name string) string { return dialerFaults[name] })
}
