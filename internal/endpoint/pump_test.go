package endpoint

import (
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/netsim"
)

// pumps counts the goroutines that are in a pump.
func pumps() int {
	b := make([]byte, 1<<20)
	return strings.Count(string(b[:runtime.Stack(b, true)]), ".(*Conn).pump(")
}

func TestAPumpExistsWhileThereIsBulkToSend(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		r.write(server, "\xfe")
		r.read(client)
		synctest.Wait()
		require.Zero(t, pumps(), "an idle connection needs none")

		want := message(1<<20, 0xfe)
		_, err := server.Write(want)
		require.NoError(t, err)
		synctest.Wait()
		require.Zero(t, pumps(), "the congestion window is full: acknowledgements go on with it")
		got, err := client.ReadPacket()
		require.NoError(t, err)
		require.Equal(t, want, got)
		synctest.Wait()
		require.Zero(t, pumps())
	})
}

func TestThePumpKeepsTheTimersOfItsConnection(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		t.Log("# much to send, and a network that loses a tenth of it")
		r.net.SetDefault(netsim.Link{Delay: oneWay, Loss: 0.1})
		want := message(2<<20, 0xfe)
		_, err := client.Write(want)
		require.NoError(t, err)
		got, err := server.ReadPacket()
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}
