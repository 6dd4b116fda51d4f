package endpoint

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/pool"
)

// A few short messages that nobody reads keep the buffers that they came in, which ReceiveBuffer does not count: the
// budget does, since a thousand peers may do so at once.
func TestTheBudgetCountsTheBuffersOfShortMessages(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		before := server.holds()
		for range 10 {
			r.write(client, "\xfeshort")
			time.Sleep(100 * time.Millisecond)
		}
		require.Less(t, server.Stats().UnreadBytes, 10*200)
		require.GreaterOrEqual(t, server.holds()-before, 10*pool.ClassRead)
		for range 10 {
			r.read(server)
		}
		time.Sleep(time.Second)
		require.Equal(t, before, server.holds())
	})
}
