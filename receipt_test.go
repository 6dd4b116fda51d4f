package raknet_test

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
)

var withReceipt = []raknet.Reliability{raknet.UnreliableWithReceipt, raknet.ReliableWithReceipt, raknet.ReliableOrderedWithReceipt}

func TestAReceiptComesWithTheAcknowledgement(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		client, _ := w.dial(raknet.Dialer{})
		for _, mode := range withReceipt {
			for _, size := range []int{10, 20_000} {
				r, err := client.Send(w.Context(), message(size), raknet.SendOptions{Reliability: mode})
				require.NoError(w, err)
				select {
				case <-r.Done():
					w.Fatal("acknowledged before it can have arrived")
				default:
					require.NoError(w, r.Err())
				}
				start := time.Now()
				<-r.Done()
				require.NoError(w, r.Err(), "%v, %d bytes", mode, size)
				require.GreaterOrEqual(w, time.Since(start), 20*time.Millisecond)
				require.Less(w, time.Since(start), 500*time.Millisecond)
			}
		}
	})
}

func TestAReceiptTellsOfALostMessage(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		client, server := w.dial(raknet.Dialer{})
		mend := w.cut()
		lost, err := client.Send(w.Context(), []byte("\xfelost"), raknet.SendOptions{Reliability: raknet.UnreliableWithReceipt})
		require.NoError(w, err)
		late, err := client.Send(w.Context(), []byte("\xfelate"), raknet.SendOptions{Reliability: raknet.ReliableWithReceipt})
		require.NoError(w, err)
		w.pass(200 * time.Millisecond)
		mend()
		<-lost.Done()
		require.Equal(w, raknet.ErrReceiptLost, lost.Err())
		<-late.Done()
		require.NoError(w, late.Err())
		b, err := server.ReadPacket()
		require.NoError(w, err)
		require.Equal(w, "\xfelate", string(b))
	})
}

func TestReceiptsEndWithTheConnection(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		client, _ := w.dial(raknet.Dialer{})
		w.cut()
		var open []*raknet.Receipt
		for range 3 {
			r, err := client.Send(w.Context(), []byte{0xfe}, raknet.SendOptions{Reliability: raknet.ReliableWithReceipt})
			require.NoError(w, err)
			open = append(open, r)
		}
		for _, r := range open {
			<-r.Done()
			require.ErrorIs(w, r.Err(), net.ErrClosed)
			require.ErrorIs(w, r.Err(), raknet.ErrIdleTimeout)
		}
	})
}
