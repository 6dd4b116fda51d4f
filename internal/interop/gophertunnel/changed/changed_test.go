// Package changed has the test of a gophertunnel whose import path of go-raknet was changed to this library's, and nothing else. It
// passes with such a gophertunnel alone: see TestChangingTheImportPathIsEnough in the directory above, which makes it and runs this.
package changed

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/raknet-go/raknet/internal/interop"
	"github.com/raknet-go/raknet/internal/interop/gophertunnel"
)

func TestGophertunnelCompiledAgainstThisLibrary(t *testing.T) {
	if os.Getenv("RAKNET_CHANGED") == "" {
		t.Skip("needs the changed source")
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		t.Fatal("no build information")
	}
	for _, d := range info.Deps {
		if d.Path == "github.com/sandertv/go-raknet" {
			t.Fatal("go-raknet is part of this program")
		}
	}
	peer := gophertunnel.Peer{Label: "gophertunnel compiled against this library"}
	both := interop.Side{Listener: true, Dialer: true}
	cases := interop.Basics()[:3] // its own network has no sockets that could be silenced
	interop.Run(t, interop.Pair{
		Listener: peer, Dialer: peer, Ours: both, Row: peer.Label, Role: interop.AsBoth, PongFields: 2, Stretch: 2, Tries: gophertunnel.Tries, Overtakes: gophertunnel.Overtakes, Cases: cases,
	})
}
