package raknet_test

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
)

var query = []byte("\xfe\xfd\x09\x01\x02\x03\x04")

func TestOtherProtocolsAreAnswered(t *testing.T) {
	var asked []raknet.RawDatagram
	conf := raknet.ListenConfig{
		TrustedProxies: proxies,
		RawHandler: func(d raknet.RawDatagram) []byte {
			d.Data = bytes.Clone(d.Data)
			asked = append(asked, d)
			switch {
			case bytes.Equal(d.Data, query):
				return append([]byte("answer"), make([]byte, 2000)...)
			case d.Data[0] == 'p':
				panic("oops")
			}
			return nil
		},
	}
	story(t, good, conf, func(w *world) {
		s := w.stranger("192.0.2.1:1")
		s.send(query)
		answer := s.hear(100 * time.Millisecond)
		require.Len(w, answer, 1)
		require.Len(w, answer[0], 1464)
		require.Equal(w, "answer", string(answer[0][:6]))
		require.Equal(w, "192.0.2.1:1", asked[0].Addr.String())
		require.Nil(w, asked[0].Proxy)

		for _, b := range []string{"GET / HTTP/1.1", "\xff\xff\xff\xffTSource", "\x01 not a ping, but as long as one is", "panic"} {
			s.send([]byte(b))
			require.Empty(w, s.hear(100*time.Millisecond))
			require.Equal(w, b, string(asked[len(asked)-1].Data))
		}
		n := len(asked)
		s.send([]byte{}, []byte{0x84, 0, 0, 0, 1}, ackOf(1, 2), []byte{0xa0, 0, 0}, []byte{0x01, 2}, []byte{0x1c}, request1(300))
		s.hear(100 * time.Millisecond)
		require.Len(w, asked, n, "what RakNet sends is not for it")
		require.EqualValues(w, 1, w.listener.Stats().RawAnswers)
		require.EqualValues(w, 4, w.listener.Stats().DroppedOffline["raw"])

		proxy := w.stranger("10.77.0.1:1")
		proxy.send(append(header2(netip.MustParseAddrPort("203.0.113.9:7")), query...))
		require.Len(w, proxy.hear(100*time.Millisecond), 1)
		require.Equal(w, "203.0.113.9:7", asked[len(asked)-1].Addr.String())
		require.Equal(w, "10.77.0.1:1", asked[len(asked)-1].Proxy.String())
		require.Equal(w, query, asked[len(asked)-1].Data)
	})
}

func TestOtherProtocolsHaveABudgetToo(t *testing.T) {
	asked := 0
	conf := raknet.ListenConfig{PongRate: 10, RawHandler: func(raknet.RawDatagram) []byte { asked++; return query }}
	story(t, good, conf, func(w *world) {
		s := w.stranger("192.0.2.1:1")
		s.send(slicesOf(query, 100)...)
		require.Len(w, s.hear(500*time.Millisecond), 20)
		require.Equal(w, 20, asked)
		require.EqualValues(w, 80, w.listener.Stats().DroppedOffline["rate limited"])
		s.send(pingDatagram)
		require.NotNil(w, s.hearOne(), "pings have their own")
	})
}

func TestWithoutAHandlerOtherProtocolsAreDropped(t *testing.T) {
	story(t, good, raknet.ListenConfig{}, func(w *world) {
		s := w.stranger("192.0.2.1:1")
		s.send(query)
		require.Empty(w, s.hear(time.Second))
		require.EqualValues(w, 1, w.listener.Stats().DroppedOffline["no session"])
	})
}
