package raknet

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/session"
)

var time0 time.Time // long ago

func TestNegativeLimitsAreOffWhereThatIsSafe(t *testing.T) {
	require.Equal(t, arq.Limits{}, Limits{}.arq(), "zero is the engine's default")
	l := Limits{SendBuffer: -1, ReceiveBuffer: -1, MaxFragments: -1, ReceiveFragments: -1, ReassemblyBytes: -1,
		HeldMessages: -1, HeldBytes: -1, UnreliableAge: -1}
	require.Equal(t, arq.Limits{SendBuffer: math.MaxInt32, ReceiveBuffer: math.MaxInt32}, l.arq())
	l = Limits{SendBuffer: 1, ReceiveBuffer: 2, MaxFragments: 3, ReceiveFragments: 4, ReassemblyBytes: 5,
		HeldMessages: 6, HeldBytes: 7, UnreliableAge: 8}
	require.Equal(t, arq.Limits{SendBuffer: 1, ReceiveBuffer: 2, MessageFragments: 3, MessageParts: 4, ReassemblyBytes: 5,
		HeldMessages: 6, HeldBytes: 7, UnreliableAge: 8}, l.arq())
}

func TestTimeoutsReachTheConnection(t *testing.T) {
	require.Equal(t, session.Timing{}, Timeouts{}.session())
	require.Equal(t, session.Timing{Handshake: 1, Idle: 2, Ping: 3, Drain: 4, ReceiveStall: 5, Unacked: 6},
		Timeouts{Handshake: 1, Idle: 2, Ping: 3, Close: 4, ReceiveStall: 5, Unacknowledged: 6}.session())
}
