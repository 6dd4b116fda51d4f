package endpoint

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/netsim"
	"github.com/raknet-go/raknet/internal/session"
	"github.com/raknet-go/raknet/internal/udp"
	"github.com/raknet-go/raknet/protocol"
)

func TestTheContextEndsWithTheConnection(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		ctx := client.Context()
		require.NoError(t, ctx.Err())
		require.Same(t, ctx, client.Context())
		called := make(chan error, 1)
		context.AfterFunc(ctx, func() { called <- context.Cause(ctx) })
		server.Close()
		require.ErrorIs(t, <-called, session.ErrDisconnected)
		require.ErrorIs(t, context.Cause(server.Context()), server.Cause())
	})
}

func TestTheCauseIsMappedOnce(t *testing.T) {
	mapped := errors.New("mapped")
	calls := 0
	bubble(t, func(r *rig) {
		client, server := r.pair(func(c *Config) {
			c.Cause = func(err error) error {
				calls++
				return fmt.Errorf("%w: %w", mapped, err)
			}
		})
		require.NoError(t, client.Cause())
		server.Close()
		_, err := client.ReadPacket()
		require.ErrorIs(t, err, mapped)
		require.ErrorIs(t, err, session.ErrDisconnected)
		_, err = client.Write([]byte("\xfe"))
		require.ErrorIs(t, err, mapped)
		require.ErrorIs(t, context.Cause(client.Context()), mapped)
		require.Equal(t, 1, calls)
	})
}

func TestWrapComesFirst(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair(func(c *Config) { c.Wrap = func(*Conn) any { return "client" } })
		require.Equal(t, "client", client.User())
		require.Equal(t, "server", server.User())
		server.SetUser(5)
		require.Equal(t, 5, server.User())
		require.Equal(t, r.server, server.Endpoint())
		require.Equal(t, "10.0.0.2:5000", server.Peer().AddrPort.String())
		require.Equal(t, "10.0.0.2:5000", client.LocalAddr().String())
		require.NotZero(t, client.RTT())
		for c := range r.server.Conns() {
			require.Same(t, server, c)
		}
	}, func(c *Config) { c.Wrap = func(*Conn) any { return "server" } })
}

func TestBothSidesMayCloseAtOnce(t *testing.T) {
	bubble(t, func(r *rig) {
		client, server := r.pair()
		r.write(client, "\xfe")
		r.write(server, "\xfe")
		client.Close()
		server.Close()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.True(t, isClosed(client.Endpoint().Done()))
		require.Zero(t, r.server.Stats().Connections)
	})
}

func TestPeersWithoutAnIPAddress(t *testing.T) {
	bubble(t, func(r *rig) {
		home, err := r.net.ListenName("home")
		require.NoError(t, err)
		away, err := r.net.ListenName("away")
		require.NoError(t, err)
		l, err := New(udp.Wrap(home, udp.Options{}), Config{Accepting: true})
		require.NoError(t, err)
		d, err := New(udp.Wrap(away, udp.Options{}), Config{Solo: true})
		require.NoError(t, err)
		r.ends = append(r.ends, l, d)
		c, err := d.Dial(context.Background(), udp.PeerOf(netsim.Name("home")), DialConfig{})
		require.NoError(t, err)
		s, err := l.Accept(context.Background())
		require.NoError(t, err)
		require.Equal(t, netsim.Name("away"), s.Peer().Addr)
		r.write(c, "\xfe")
		r.read(s)
	})
}

// numb is a socket that cannot have deadlines.
type numb struct{ udp.Socket }

func (numb) SetReadDeadline(time.Time) error { return errors.ErrUnsupported }

func TestSocketsWithoutDeadlines(t *testing.T) {
	bubble(t, func(r *rig) {
		e, err := New(numb{r.socket("10.0.0.2:1")}, Config{Solo: true})
		require.NoError(t, err)
		r.ends = append(r.ends, e)
		client := r.dialFrom(e)
		server := r.accept()
		r.write(server, "\xfe")
		r.read(client)
		client.SetReadDeadline(time.Now().Add(time.Second))
		_, err = client.ReadPacket()
		require.Error(t, err)
		read := start(func() error { client.SetReadDeadline(time.Time{}); _, err := client.ReadPacket(); return err })
		require.True(t, read.blocked())
		client.Close()
		require.Error(t, read.wait())
	})
}

// TestEverythingAtOnce calls everything from everywhere on a bad network. What it
// checks is that nothing hangs, races, leaks or breaks the order of messages.
func TestEverythingAtOnce(t *testing.T) {
	t.Logf("-seed=%d", *seed)
	bubble(t, func(r *rig) {
		r.net.SetDefault(netsim.Link{Delay: oneWay, Jitter: 3 * time.Millisecond, Loss: 0.03, Duplicate: 0.02, Reorder: 0.02})
		rnd := rand.New(rand.NewPCG(*seed, 1))
		var wg sync.WaitGroup
		use := func(c *Conn, life time.Duration, seed uint64) {
			stop := time.Now().Add(life)
			for i := range 3 {
				wg.Go(func() { // writers
					rnd := rand.New(rand.NewPCG(seed, uint64(i)))
					for n := uint32(0); time.Now().Before(stop); n++ {
						o := SendOptions{Reliability: protocol.Reliability(rnd.IntN(8)), Channel: uint8(i), Priority: protocol.Priority(rnd.IntN(4))}
						p := message(1+rnd.IntN(1<<rnd.IntN(15)), 0xfe)
						ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rnd.IntN(2000))*time.Millisecond)
						c.Send(ctx, p, o)
						cancel()
						time.Sleep(time.Duration(rnd.IntN(5)) * time.Millisecond)
					}
				})
				wg.Go(func() { // readers
					for {
						c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
						b, err := c.ReadPacket()
						if err == nil && string(b) != string(message(len(b), 0xfe)) {
							t.Error("a message changed on its way")
						}
						if c.Cause() != nil && err != nil {
							return
						}
					}
				})
			}
			wg.Go(func() {
				for time.Now().Before(stop) {
					c.Stats()
					c.RTT()
					c.Context().Err()
					c.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
					time.Sleep(7 * time.Millisecond)
				}
				if seed%3 == 0 {
					c.Abort(nil)
				} else {
					c.Close()
				}
			})
		}
		for i := range 12 {
			c, s := r.dial(fmt.Sprintf("10.0.2.%d:1", i+1))
			use(c, time.Duration(200+rnd.IntN(1500))*time.Millisecond, rnd.Uint64())
			use(s, time.Duration(200+rnd.IntN(1500))*time.Millisecond, rnd.Uint64())
		}
		wg.Wait()
		time.Sleep(20 * time.Second)
		synctest.Wait()
		s := r.server.Stats()
		require.Zero(t, s.Connections)
		require.Zero(t, s.HalfOpen)
		for _, e := range r.ends[1:] {
			require.True(t, isClosed(e.Done()))
		}
	})
}
