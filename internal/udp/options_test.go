package udp

import (
	"fmt"
	"net"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheEnvironmentChoosesThePath(t *testing.T) {
	fast := "*udp.single"
	if runtime.GOOS == "linux" {
		fast = "*udp.batch"
	}
	for name, want := range map[string]struct{ listened, dialed string }{
		"":          {fast, fast},
		"offload":   {fast, fast},
		"batch":     {fast, fast},
		"single":    {"*udp.single", "*udp.single"},
		"plain":     {"*udp.packetConn", "*udp.conn"},
		"something": {fast, fast},
	} {
		t.Setenv("RAKNET_SOCKET", name)
		l, err := Listen("127.0.0.1:0", Options{})
		require.NoError(t, err)
		defer l.Close()
		require.Equal(t, want.listened, fmt.Sprintf("%T", l), name)
		d := WrapConn(dialUDP(t, l.LocalAddr().String()), Options{})
		defer d.Close()
		require.Equal(t, want.dialed, fmt.Sprintf("%T", d), name)

		pc, err := net.ListenPacket("udp", "127.0.0.1:0")
		require.NoError(t, err)
		s := Wrap(pc, Options{Path: Single})
		defer s.Close()
		require.Equal(t, "*udp.single", fmt.Sprintf("%T", s), "the program has said what it wants")
	}
}
