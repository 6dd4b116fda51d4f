package xray

import (
	"testing"

	"github.com/raknet-go/raknet/internal/captures"
	"github.com/raknet-go/raknet/internal/wire"
)

// Whatever a server answers is an answer of one kind, or none, and nothing is read beyond it.
func FuzzAnswers(f *testing.F) {
	all, err := captures.All()
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range all {
		for _, d := range c.Datagrams {
			if !d.FromClient && wire.Classify(d.Data) == wire.KindOffline {
				f.Add(d.Data)
			}
		}
	}
	f.Add([]byte{0x0a, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		o := opening{Version{Version: 11}, Probe{MTU: 1492}}
		taken := o.take(data[:len(data):len(data)], 1)
		if taken != (o.version.Answer != Silence) || o.version.Answer != o.probe.Answer {
			t.Fatalf("%v: %+v", taken, o)
		}
		switch o.probe.Answer {
		case Accepted:
			if o.probe.Size != len(data) || o.probe.Granted > 65535 {
				t.Fatalf("%+v", o.probe)
			}
		case Refused:
			if o.version.Reason == 0 {
				t.Fatalf("refused without a reason: %x", data)
			}
		}
		var e eye
		if e.readPong(data, 1) != (e.Pong != nil) {
			t.Fatalf("%x", data)
		}
	})
}
