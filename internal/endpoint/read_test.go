package endpoint

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/session"
)

func TestABufferThatIsTooSmallCostsTheMessage(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		r.write(client, "\xfelong")
		r.write(client, "\xfenext")
		_, err := server.Read(make([]byte, 3))
		require.ErrorIs(t, err, ErrBufferTooSmall)
		p := make([]byte, 5)
		n, err := server.Read(p)
		require.NoError(t, err)
		require.Equal(t, "\xfenext", string(p[:n]))
	})
}

func TestReadDeadlines(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		for name, c := range map[string]*Conn{"a caller that reads the socket": client, "a caller that waits for the reader": server} {
			t.Log("#", name)
			begin := time.Now()
			require.NoError(t, c.SetReadDeadline(begin.Add(70*time.Millisecond)))
			_, err := c.ReadPacket()
			require.ErrorIs(t, err, os.ErrDeadlineExceeded)
			require.Equal(t, 70*time.Millisecond, time.Since(begin))

			t.Log("# moved to now while somebody waits")
			require.NoError(t, c.SetReadDeadline(time.Time{}))
			read := start(func() error { _, err := c.ReadPacket(); return err })
			require.True(t, read.blocked())
			require.NoError(t, c.SetReadDeadline(time.Unix(1, 0)))
			require.ErrorIs(t, read.wait(), os.ErrDeadlineExceeded)

			t.Log("# moved away while somebody waits")
			require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Second)))
			read = start(func() error { _, err := c.ReadPacket(); return err })
			require.True(t, read.blocked())
			require.NoError(t, c.SetReadDeadline(time.Time{}))
			time.Sleep(2 * time.Second)
			require.True(t, read.blocked())
			other := server
			if c == server {
				other = client
			}
			r.write(other, "\xfe")
			require.NoError(t, read.wait())
		}
		t.Log("# an expired deadline wins over a message")
		r.write(client, "\xfekept")
		time.Sleep(oneWay)
		require.NoError(t, server.SetReadDeadline(time.Unix(1, 0)))
		_, err := server.ReadPacket()
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.NoError(t, server.SetReadDeadline(time.Time{}))
		require.Equal(t, "\xfekept", r.read(server))
	})
}

func TestReceiveEndsWithItsContext(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		for _, c := range []*Conn{client, server} {
			ctx, cancel := context.WithCancel(context.Background())
			read := start(func() error { _, err := c.Receive(ctx); return err })
			require.True(t, read.blocked())
			cancel()
			require.ErrorIs(t, read.wait(), context.Canceled)
		}
		t.Log("# a message is received by whoever waits, however it waits")
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		read := start(func() error { _, err := client.Receive(ctx); return err })
		require.True(t, read.blocked())
		r.write(server, "\xfe")
		require.NoError(t, read.wait())
	})
}

func TestManyReadersShareTheMessages(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		for _, to := range []*Conn{server, client} {
			from := client
			if to == client {
				from = server
			}
			var mu sync.Mutex
			got := make(map[string]bool)
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					for range 100 {
						m, err := to.ReadPacket()
						if err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						got[string(m)] = true
						mu.Unlock()
					}
				})
			}
			for i := range 800 {
				r.write(from, fmt.Sprintf("\xfe%d", i))
				if i%100 == 0 {
					time.Sleep(time.Millisecond)
				}
			}
			wg.Wait()
			require.Len(t, got, 800)
		}
	})
}

func TestWhatCameBeforeTheDisconnectIsReadFirst(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		for i := range 3 {
			r.write(client, fmt.Sprintf("\xfe%d", i))
		}
		require.NoError(t, client.Close())
		time.Sleep(time.Second)
		require.ErrorIs(t, context.Cause(server.Context()), session.ErrDisconnected)
		for i := range 3 {
			require.Equal(t, fmt.Sprintf("\xfe%d", i), r.read(server))
		}
		_, err := server.ReadPacket()
		require.ErrorIs(t, err, session.ErrDisconnected)
		_, err = server.Write([]byte("\xfe"))
		require.ErrorIs(t, err, session.ErrDisconnected)
		require.NoError(t, server.Close())
		require.ErrorIs(t, server.Close(), net.ErrClosed)
	})
}

func TestUnreadMessagesOutliveTheEndpointOfOneConnection(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		r.write(server, "\xfelast words")
		server.Close()
		time.Sleep(20 * time.Second)
		require.True(t, isClosed(client.Endpoint().Done()), "closed itself")
		require.Equal(t, "\xfelast words", r.read(client))
		_, err := client.ReadPacket()
		require.ErrorIs(t, err, session.ErrDisconnected)
		client.Close()
	})
}

func TestHandlersSeeEveryMessageInOrderOneAtATime(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		r.write(client, "\xfe0")
		time.Sleep(20 * time.Millisecond)
		next, inside := 0, false
		server.Handle(func(m Message) {
			require.False(t, inside, "called while it runs")
			inside = true
			require.Equal(t, fmt.Sprintf("\xfe%d", next), string(m.Data))
			next++
			inside = false
		})
		require.Equal(t, 1, next, "what waited is handled at once")
		for i := 1; i < 500; i++ {
			r.write(client, fmt.Sprintf("\xfe%d", i))
			if i%50 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, 500, next)
	})
}

func TestAHandlerAnswersABatchAtOnce(t *testing.T) {
	bubble(t, func(r *rig) {
		client, _ := r.pair()
		begin := time.Now()
		for i := range 20 {
			r.write(client, fmt.Sprintf("\xfe%d", i))
		}
		for i := range 20 {
			require.Equal(t, fmt.Sprintf("\xfe%d", i), r.read(client))
		}
		require.Equal(t, 2*oneWay, time.Since(begin))
		time.Sleep(time.Second)
		require.Less(t, r.server.Stats().DatagramsSent, uint64(30))
	}, func(c *Config) {
		c.Handler = func(conn *Conn, m Message) {
			if _, err := conn.Write(m.Data); err != nil {
				panic(err)
			}
		}
	})
}

func TestAHandlerMayHandOverCloseAndPanic(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		var first, second int
		server.Handle(func(m Message) {
			first++
			server.Handle(func(m Message) { second++ })
		})
		for range 5 {
			r.write(client, "\xfe")
		}
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, []int{1, 4}, []int{first, second}, "the second one gets all that follow")

		server.Handle(func(m Message) { panic("oh") })
		r.write(client, "\xfe")
		_, err := client.ReadPacket()
		require.ErrorIs(t, err, session.ErrDisconnected)
		require.ErrorIs(t, context.Cause(server.Context()), ErrHandlerPanic)
		_, err = server.ReadPacket()
		require.ErrorIs(t, err, ErrHandlerPanic)
	})
}

func TestASlowReaderStallsNobodyElse(t *testing.T) {
	bubble(t, func(r *rig) {
		slow, deaf := r.dial("10.0.0.2:5000")
		quick, server := r.dial("10.0.0.3:5000")
		flood := start(func() error {
			for {
				if _, err := slow.Write(message(10_000, 0xfe)); err != nil {
					return err
				}
			}
		})
		for range 100 {
			time.Sleep(10 * time.Millisecond)
			begin := time.Now()
			r.write(quick, "\xfe")
			r.read(server)
			require.Equal(t, oneWay, time.Since(begin))
		}
		require.True(t, flood.blocked(), "the sender of the one who does not read waits")
		require.Less(t, deaf.Stats().ReceiveQueueBytes, 5<<20)
		slow.Abort(nil)
		require.Error(t, flood.wait())
	})
}

// All who wait in Read share one gate, so each has to let the next one through.
func TestEverybodyInReadHearsOfItsEnd(t *testing.T) {
	for name, end := range map[string]func(c *Conn){
		"a deadline that passes":      func(c *Conn) { _ = c.SetReadDeadline(time.Now().Add(time.Second)) },
		"a deadline that has passed":  func(c *Conn) { _ = c.SetReadDeadline(time.Now().Add(-time.Second)) },
		"a close here":                func(c *Conn) { _ = c.Close() },
		"an end that nobody asked of": func(c *Conn) { c.kill(ErrReplaced) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				_, server := r.pair()
				var done atomic.Int32
				for range 8 {
					go func() {
						if _, err := server.ReadPacket(); err != nil {
							done.Add(1)
						}
					}()
				}
				synctest.Wait()
				end(server)
				time.Sleep(2 * time.Second)
				synctest.Wait()
				require.EqualValues(t, 8, done.Load())
			})
		})
	}
}
