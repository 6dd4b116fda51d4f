package raknet_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
)

// Everything here is how a program written for github.com/sandertv/go-raknet
// v1.15 uses that package. What matters is that it compiles.

type compatUpstream struct{}

func (compatUpstream) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}

func (compatUpstream) ListenPacket(network, address string) (net.PacketConn, error) {
	return net.ListenPacket(network, address)
}

// compatConn is what programs that wrap connections demand of them.
type compatConn interface {
	net.Conn
	ReadPacket() (b []byte, err error)
	Context() context.Context
	Latency() time.Duration
}

var (
	_ compatConn   = (*raknet.Conn)(nil)
	_ net.Listener = (*raknet.Listener)(nil)

	_ raknet.UpstreamDialer         = compatUpstream{}
	_ raknet.UpstreamPacketListener = compatUpstream{}

	_ func(string) (*raknet.Conn, error)                  = raknet.Dial
	_ func(string, time.Duration) (*raknet.Conn, error)   = raknet.DialTimeout
	_ func(context.Context, string) (*raknet.Conn, error) = raknet.DialContext
	_ func(string) ([]byte, error)                        = raknet.Ping
	_ func(string, time.Duration) ([]byte, error)         = raknet.PingTimeout
	_ func(context.Context, string) ([]byte, error)       = raknet.PingContext
	_ func(string) (*raknet.Listener, error)              = raknet.Listen

	_ func(raknet.Dialer, string) (*raknet.Conn, error)                  = raknet.Dialer.Dial
	_ func(raknet.Dialer, string, time.Duration) (*raknet.Conn, error)   = raknet.Dialer.DialTimeout
	_ func(raknet.Dialer, context.Context, string) (*raknet.Conn, error) = raknet.Dialer.DialContext
	_ func(raknet.Dialer, string) ([]byte, error)                        = raknet.Dialer.Ping
	_ func(raknet.Dialer, string, time.Duration) ([]byte, error)         = raknet.Dialer.PingTimeout
	_ func(raknet.Dialer, context.Context, string) ([]byte, error)       = raknet.Dialer.PingContext
	_ func(raknet.ListenConfig, string) (*raknet.Listener, error)        = raknet.ListenConfig.Listen

	_ func(*raknet.Listener) (net.Conn, error)           = (*raknet.Listener).Accept
	_ func(*raknet.Listener, net.Addr)                   = (*raknet.Listener).Block
	_ func(*raknet.Listener, net.Addr, time.Duration)    = (*raknet.Listener).BlockFor
	_ func(*raknet.Listener, []byte)                     = (*raknet.Listener).PongData
	_ func(*raknet.Listener, func(addr net.Addr) []byte) = (*raknet.Listener).PongDataFunc
	_ func(*raknet.Listener) int64                       = (*raknet.Listener).ID
	_                                                    = [...]error{raknet.ErrBufferTooSmall, raknet.ErrListenerClosed, raknet.ErrNotSupported}
)

func TestAProgramForGoRakNetRuns(t *testing.T) {
	settled(t)
	listener, err := raknet.ListenConfig{
		ErrorLog:               slog.New(slog.DiscardHandler),
		UpstreamPacketListener: compatUpstream{},
		DisableCookies:         false,
		MaxMTU:                 1400,
		BlockDuration:          -1,
	}.Listen("127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	listener.PongData([]byte("MCPE;"))
	_ = listener.ID()
	address := listener.Addr().(*net.UDPAddr).String()

	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				b := make([]byte, 1024)
				for {
					n, err := conn.(*raknet.Conn).Read(b)
					if err != nil {
						return
					}
					if _, err := conn.Write(b[:n]); err != nil {
						return
					}
				}
			}()
		}
	}()

	dialer := raknet.Dialer{
		ErrorLog:           slog.New(slog.DiscardHandler),
		UpstreamDialer:     compatUpstream{},
		MaxTransientErrors: 10,
		MaxMTU:             1300,
	}
	data, err := dialer.Ping(address)
	require.NoError(t, err)
	require.Equal(t, "MCPE;", string(data))

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	conn, err := raknet.Dialer{UpstreamDialer: &net.Dialer{}}.DialContext(ctx, address)
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte{0xfe, 1})
	require.NoError(t, err)
	packet, err := conn.ReadPacket()
	require.NoError(t, err)
	require.Equal(t, []byte{0xfe, 1}, packet)
	require.IsType(t, (*net.UDPAddr)(nil), conn.RemoteAddr())

	require.NoError(t, conn.Close())
	<-conn.Context().Done()
	_, err = conn.ReadPacket()
	require.True(t, errors.Is(err, net.ErrClosed))
}

// Programs probe connections for these methods and change their ways if they find them.
func TestConnLacksMethodsThatWouldMislead(t *testing.T) {
	typ := reflect.TypeFor[*raknet.Conn]()
	for _, name := range []string{"BatchHeader", "DisableEncryption"} {
		_, has := typ.MethodByName(name)
		require.False(t, has, name)
	}
}
