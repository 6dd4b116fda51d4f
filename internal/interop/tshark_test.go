package interop_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/interop"
	"github.com/raknet-go/raknet/internal/interop/ours"
	"github.com/raknet-go/raknet/internal/wire"
)

// The tests here look closely at what the dissector reads. That it reads every run of the other tests is part of those.

// Without cookies, since a cookie makes the dissector take all that follows for encrypted.
func TestDissectorReadsTheSame(t *testing.T) {
	datagrams := converse(t, true)
	saw := map[string]int{}
	for i, row := range dissect(t, datagrams) {
		d := datagrams[i]
		if complaints := row.Complaints(d); len(complaints) > 0 {
			t.Errorf("datagram %d: tshark says %q about %x", i, complaints, d.Payload)
		}
		if dispute := row.Dispute(d); dispute != "" {
			t.Errorf("datagram %d: %x\n%s", i, d.Payload, dispute)
		}
		saw[row["raknet.offline.message.id"]]++
		for _, mode := range row.List("raknet.message.reliability") {
			saw["mode "+mode]++
		}
		if strings.Contains(row["raknet.fragment.count"], "70") {
			saw["reassembled"]++
		}
	}
	for _, want := range []string{"0x01", "0x1c", "0x05", "0x06", "0x07", "0x08", "mode 0", "mode 1", "mode 2", "mode 3", "mode 4", "reassembled"} {
		if saw[want] == 0 {
			t.Errorf("tshark saw nothing of %q; it saw %v", want, saw)
		}
	}
}

func TestDissectorReadsCookies(t *testing.T) {
	datagrams := converse(t, false)
	var sent, returned string
	for i, row := range dissect(t, datagrams) {
		d := datagrams[i]
		complaints := row.Complaints(d)
		if wire.Classify(d.Payload) != wire.KindOffline {
			if !slices.Equal(complaints, []string{interop.Encrypted}) {
				t.Errorf("datagram %d: tshark says %q about %x", i, complaints, d.Payload)
			}
			continue
		}
		if len(complaints) > 0 {
			t.Errorf("datagram %d: tshark says %q about %x", i, complaints, d.Payload)
		}
		switch row["raknet.offline.message.id"] {
		case "0x06":
			sent = row["raknet.cookie"]
		case "0x07":
			returned = row["raknet.cookie"]
		}
	}
	if sent == "" || sent != returned {
		t.Errorf("tshark reads the cookie %q in reply 1 and %q in request 2", sent, returned)
	}
}

func dissect(t *testing.T, datagrams []interop.Datagram) []interop.Sight {
	t.Helper()
	sights, err := interop.Dissect(t.TempDir(), datagrams[0].To.Port(), datagrams) // the first is a ping to the server
	if err != nil {
		t.Fatal(err)
	}
	return sights
}

// converse records what a connection with a little of everything looks like.
func converse(t *testing.T, noCookies bool) []interop.Datagram {
	if !interop.Tshark() {
		interop.Missing(t, "tshark", "install the package of that name")
	}
	var recorder interop.Recorder
	server := ours.Peer{NoCookies: noCookies, Recorder: &recorder}
	client := ours.Peer{}
	l, port := server.Listen(t, interop.Options{Pong: "MCPE;recorded;"})
	interop.Await(t, "ping", client.Ping(t, port), interop.Pong, 5*time.Second)
	d := client.Dial(t, port, interop.Options{})
	interop.Await(t, "dialer", d, interop.Connected, 5*time.Second)
	interop.Await(t, "listener", l, interop.Connected, 5*time.Second)
	l.Echo(3, 5)
	for mode := byte(0); mode <= 4; mode++ {
		// One after the other: a sequenced message may be passed over when a newer one comes first.
		for i := range uint32(3) {
			d.Send(interop.Burst{Size: 20 + int(i), Seed: i, Count: 1, Reliability: mode, Channel: mode})
			interop.Await(t, "echo", d, interop.Message, 5*time.Second)
		}
	}
	d.Send(interop.Burst{Size: 100_000, Count: 1, Reliability: 3})
	interop.Await(t, "echo", d, interop.Message, 10*time.Second)
	d.Close()
	interop.AwaitEnd(t, "listener", l, 5*time.Second)
	return recorder.Datagrams()
}
