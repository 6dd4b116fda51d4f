package endpoint

import (
	"context"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/netsim"
	"github.com/raknet-go/raknet/internal/session"
	"github.com/raknet-go/raknet/protocol"
)

func small(c *Config) { c.ARQ.Limits = arq.Limits{SendBuffer: 64 << 10} }

// clog makes a connection's peer deaf and fills its send buffer.
func clog(r *rig, c *Conn) {
	r.net.SetDefault(netsim.Link{Delay: oneWay, Loss: 1})
	for c.sendSpace() > 20_000 {
		_, err := c.Write(message(20_000, 0xfe))
		require.NoError(r.t, err)
	}
}

func (c *Conn) sendSpace() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sess.SendSpace()
}

func TestWriteWaitsForSpace(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair(small)
		clog(r, client)
		t.Log("# until the deadline")
		begin := time.Now()
		require.NoError(t, client.SetWriteDeadline(begin.Add(300*time.Millisecond)))
		_, err := client.Write(message(30_000, 0xfe))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Equal(t, 300*time.Millisecond, time.Since(begin))
		_, err = client.Write([]byte("\xfe"))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded, "there would be space for it")
		require.NoError(t, client.SetWriteDeadline(time.Time{}))

		t.Log("# until the context ends")
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		_, err = client.Send(ctx, message(30_000, 0xfe), ordered)
		require.ErrorIs(t, err, context.DeadlineExceeded)

		t.Log("# until there is space")
		write := start(func() error { _, err := client.Write(message(30_000, 0xfe)); return err })
		require.True(t, write.blocked())
		r.net.SetDefault(netsim.Link{Delay: oneWay})
		require.NoError(t, write.wait())
		for range 4 {
			_, err := server.ReadPacket()
			require.NoError(t, err)
		}
	})
}

func TestWritersTakeTurns(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair(small)
		clog(r, client)
		t.Log("# a large message waits first, small ones behind it")
		var writes []*result
		for i, n := range []int{60_000, 1000, 1000, 1000} {
			w := start(func() error { _, err := client.Write(message(n, 0xfe)); return err })
			require.True(t, w.blocked(), i)
			writes = append(writes, w)
		}
		r.net.SetDefault(netsim.Link{Delay: oneWay})
		for _, w := range writes {
			require.NoError(t, w.wait())
		}
		var sizes []int
		for range 7 {
			b, err := server.ReadPacket()
			require.NoError(t, err)
			sizes = append(sizes, len(b))
		}
		require.Equal(t, []int{20_000, 20_000, 20_000, 60_000, 1000, 1000, 1000}, sizes)
	})
}

func TestCloseWakesWhoWaits(t *testing.T) {
	for _, how := range []string{"close", "abort", "endpoint", "idle"} {
		bubble(t, func(r *rig) {
			client, _ := r.pair(small)
			clog(r, client)
			write := start(func() error { _, err := client.Write(message(30_000, 0xfe)); return err })
			read := start(func() error { _, err := client.ReadPacket(); return err })
			read2 := start(func() error { _, err := client.ReadPacket(); return err })
			require.True(t, write.blocked() && read.blocked() && read2.blocked())
			begin, want := time.Now(), net.ErrClosed
			switch how {
			case "close":
				require.NoError(t, client.Close())
			case "abort":
				want = os.ErrPermission
				client.Abort(want)
			case "endpoint":
				require.NoError(t, client.Endpoint().Close())
			case "idle":
				want = session.ErrIdleTimeout
			}
			require.ErrorIs(t, read.wait(), want)
			require.ErrorIs(t, read2.wait(), want)
			require.ErrorIs(t, write.wait(), want)
			require.ErrorIs(t, context.Cause(client.Context()), want)
			if how != "idle" {
				require.Zero(t, time.Since(begin))
			}
			if how == "close" || how == "abort" {
				require.ErrorIs(t, client.SetDeadline(time.Now()), net.ErrClosed)
			}
		})
	}
}

func TestUnreliableMessagesNeverWait(t *testing.T) {
	bubble(t, func(r *rig) {
		client, _ := r.pair(small)
		r.net.SetDefault(netsim.Link{Loss: 1})
		begin := time.Now()
		var last *Receipt
		for range 200 {
			rc, err := client.Send(context.Background(), message(1000, 0xfe), SendOptions{Reliability: protocol.UnreliableWithReceipt})
			require.NoError(t, err)
			last = rc
		}
		require.Zero(t, time.Since(begin))
		require.NotZero(t, client.Stats().UnreliableDropped)
		<-last.Done()
		require.ErrorIs(t, last.Err(), ErrReceiptLost)
	})
}

func TestReceiptsTellWhatBecameOfMessages(t *testing.T) {
	bubble(t, func(r *rig) {
		client, _ := r.pair()
		ctx := context.Background()
		for _, mode := range []protocol.Reliability{protocol.UnreliableWithReceipt, protocol.ReliableWithReceipt, protocol.ReliableOrderedWithReceipt} {
			rc, err := client.Send(ctx, message(3000, 0xfe), SendOptions{Reliability: mode})
			require.NoError(t, err)
			require.NoError(t, rc.Err())
			<-rc.Done()
			require.NoError(t, rc.Err(), mode)
		}
		rc, err := client.Send(ctx, []byte("\xfe"), ordered)
		require.NoError(t, err)
		require.Nil(t, rc)
		t.Log("# the connection ends first")
		r.net.SetDefault(netsim.Link{Loss: 1})
		rc, err = client.Send(ctx, []byte("\xfe"), SendOptions{Reliability: protocol.ReliableWithReceipt})
		require.NoError(t, err)
		<-rc.Done()
		require.ErrorIs(t, rc.Err(), session.ErrIdleTimeout)
	})
}

func TestMessagesThatCannotBeSent(t *testing.T) {
	bubble(t, func(r *rig) {
		client, _ := r.pair()
		ctx := context.Background()
		for _, c := range []struct {
			payload []byte
			o       SendOptions
			want    error
		}{
			{nil, ordered, session.ErrEmpty},
			{[]byte{0x15}, ordered, session.ErrControlID},
			{message(3000, 0x00), ordered, session.ErrControlID},
			{[]byte{0xfe}, SendOptions{Reliability: 8}, session.ErrReliability},
			{message(5000, 0xfe), SendOptions{Reliability: 9}, session.ErrReliability},
			{[]byte{0xfe}, SendOptions{Reliability: 3, Channel: 32}, session.ErrChannel},
			{[]byte{0xfe}, SendOptions{Priority: 4}, session.ErrPriority},
			{make([]byte, 3<<20), ordered, session.ErrMessageTooLarge},
		} {
			_, err := client.Send(ctx, c.payload, c.o)
			require.ErrorIs(t, err, c.want)
		}
		n, err := client.Write(nil)
		require.Zero(t, n)
		require.NoError(t, err)
	})
}

func TestWhatWasWrittenBeforeCloseArrives(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		begin := time.Now()
		want := message(300_000, 0xfe)
		_, err := client.Write(want)
		require.NoError(t, err)
		r.write(client, "\xfegoodbye")
		require.NoError(t, client.Close())
		require.Zero(t, time.Since(begin))
		got, err := server.ReadPacket()
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, "\xfegoodbye", r.read(server))
		_, err = server.ReadPacket()
		require.ErrorIs(t, err, session.ErrDisconnected)
		require.Less(t, time.Since(begin), 2*time.Second)
		time.Sleep(10 * time.Second)
		require.True(t, isClosed(client.Endpoint().Done()))
		require.Zero(t, r.server.Stats().Connections)
	})
}
