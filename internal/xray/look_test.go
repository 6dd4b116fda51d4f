package xray_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/captures"
	"github.com/raknet-go/raknet/internal/netsim"
	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/internal/xray"
	"github.com/raknet-go/raknet/protocol"
)

const address = "10.9.8.7:19132"

// world is a network in virtual time, in which a server is looked at.
type world struct {
	*testing.T
	network *netsim.Network
}

func story(t *testing.T, link netsim.Link, tell func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t, netsim.New(1)}
		w.network.SetDefault(link)
		defer func() {
			w.network.Close()
			time.Sleep(time.Minute)
		}()
		tell(w)
	})
}

func (w *world) look() xray.Report {
	w.Helper()
	conn, err := w.network.DialContext(w.Context(), "udp", address)
	require.NoError(w, err)
	defer conn.Close()
	r, err := xray.Look(w.Context(), conn, -77)
	require.NoError(w, err)
	require.LessOrEqual(w, r.Sent, xray.MaxDatagrams)
	return r
}

// scripted lets answer play a server: what it returns is sent back.
func (w *world) scripted(answer func(b []byte) [][]byte) {
	pc, err := w.network.ListenPacket("udp", address)
	require.NoError(w, err)
	go func() {
		buf := make([]byte, 4096)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			for _, b := range answer(buf[:n]) {
				pc.WriteTo(b, from)
			}
		}
	}()
}

var path = netsim.Link{Delay: 20 * time.Millisecond}

func TestOurListenersAreSeenAsTheyAreSet(t *testing.T) {
	for name, c := range map[string]struct {
		conf    raknet.ListenConfig
		spoken  byte
		takes   []byte
		granted []int
		cookie  bool
	}{
		"defaults":        {raknet.ListenConfig{}, 11, []byte{11, 10}, []int{1492, 1200, 576}, true},
		"without cookies": {raknet.ListenConfig{DisableCookies: true}, 11, []byte{11, 10}, []int{1492, 1200, 576}, false},
		"a smaller MTU":   {raknet.ListenConfig{MaxMTU: 1000}, 11, []byte{11, 10}, []int{1000, 1000, 576}, true},
		"all versions":    {raknet.ListenConfig{ProtocolVersions: []byte{6, 7, 8, 9, 10, 11}}, 11, []byte{11, 10, 9, 8, 7, 6}, []int{1492, 1200, 576}, true},
		"an old one":      {raknet.ListenConfig{ProtocolVersions: []byte{7}}, 7, []byte{7}, []int{1492, 1200, 576}, true},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, path, func(w *world) {
				c.conf.UpstreamPacketListener = w.network
				c.conf.GUID = -4711
				l, err := c.conf.Listen(address)
				require.NoError(w, err)
				defer l.Close()
				l.PongData([]byte("MCPE;x;1;"))
				r := w.look()
				require.Equal(w, &xray.Pong{GUID: -4711, Data: []byte("MCPE;x;1;"), Form: xray.FormLength, Size: 35 + 9, TimeKept: true, RoundTrip: 40 * time.Millisecond}, r.Pong)
				require.Equal(w, c.spoken, r.Spoken)
				var takes []byte
				for _, v := range r.Versions {
					switch v.Answer {
					case xray.Accepted:
						takes = append(takes, v.Version)
					default:
						require.Equal(w, xray.Version{Version: v.Version, Answer: xray.Mismatch, Speaks: c.spoken}, v)
					}
				}
				require.Equal(w, c.takes, takes)
				var granted []int
				for _, p := range r.Probes {
					granted = append(granted, p.Granted)
					require.Equal(w, xray.Accepted, p.Answer)
					require.EqualValues(w, -4711, p.GUID)
					require.Equal(w, 40*time.Millisecond, p.RoundTrip)
					require.Equal(w, c.cookie, p.Security)
					require.Equal(w, c.cookie, p.Cookie != 0)
					if c.cookie {
						require.Equal(w, 32, p.Size)
					} else {
						require.Equal(w, 28, p.Size)
					}
				}
				require.Equal(w, c.granted, granted)
				require.Equal(w, 10, r.Sent)
				require.Equal(w, 10, r.Received)
				require.Zero(w, l.Stats().HalfOpen, "nothing is left of it")
			})
		})
	}
}

// fromCapture plays a recorded server: pongs with the ping's time if the recorded ones have it, and the
// recorded answers to request 1, to those of the recorded version.
func fromCapture(t *testing.T, name string) func(b []byte) [][]byte {
	c, err := captures.Load(name)
	require.NoError(t, err)
	var pong, reply []byte
	var version byte
	kept := false
	var stamp []byte
	for _, d := range c.Datagrams {
		switch id := protocol.ID(d.Data[0]); {
		case d.FromClient && id == protocol.IDUnconnectedPing:
			stamp = d.Data[1:9]
		case d.FromClient && id == protocol.IDOpenConnectionRequest1:
			version = d.Data[17]
		case !d.FromClient && id == protocol.IDUnconnectedPong && pong == nil:
			pong, kept = d.Data, string(d.Data[1:9]) == string(stamp)
		case !d.FromClient && (id == protocol.IDOpenConnectionReply1 || id == protocol.IDIncompatibleVersion) && reply == nil:
			reply = d.Data
		}
	}
	return func(b []byte) [][]byte {
		switch id := protocol.ID(b[0]); {
		case id == protocol.IDUnconnectedPing && pong != nil:
			answer := append([]byte{}, pong...)
			if kept {
				copy(answer[1:], b[1:9])
			}
			return [][]byte{answer}
		case id == protocol.IDOpenConnectionRequest1 && reply != nil && (b[17] == version || protocol.ID(reply[0]) == protocol.IDIncompatibleVersion):
			return [][]byte{reply}
		}
		return nil
	}
}

func TestRecordedServersAreSeenAsTheyAre(t *testing.T) {
	for name, want := range map[string]struct {
		form    xray.Form
		pong    string
		spoken  byte
		speaks  byte // of a mismatch
		granted int
		size    int
		cookie  bool
	}{
		"raklib-server":               {form: xray.FormLength, pong: "MCPE;RakLib echo;748;1.21.40;0;20;123;echo;Survival;1;19132;19133;", spoken: 11, granted: 1492, size: 28},
		"rust-raknet-server":          {form: xray.FormLength, pong: "MCPE;Rust Raknet Server;486;1.18.11;0;99999;9800376536193018265;Bedrock level;Survival;1;41000;", spoken: 11, granted: 1400, size: 28},
		"cloudburst-server":           {form: xray.FormLength, pong: "MCPE;cloudburst;1;1;0;10;1;x;Survival;1;19132;19133;", spoken: 11, granted: 1400, size: 28},
		"serenity-server":             {form: xray.FormLength, spoken: 11, granted: 1492, size: 28},
		"jsp-raknet-server":           {form: xray.FormLength, spoken: 10, granted: 1400, size: 28},
		"raknet-native-idle":          {form: xray.FormRaw, pong: "MCPE;raknet-native;2 7;0.11.0;0;20", spoken: 11, granted: 1492, size: 1464},
		"original-ping":               {form: xray.FormRaw},
		"raknet-native-incompatible":  {form: xray.FormRaw, spoken: 6, speaks: 6},
		"original-incompatible":       {spoken: 6, speaks: 6},
		"original-connect-v6":         {spoken: 6, granted: 1492, size: 28},
		"original-connect-v11-20addr": {spoken: 11, granted: 1492, size: 28},
		"cookie-raknet-native":        {spoken: 11, granted: 1492, size: 32, cookie: true},
		"jraknet-self":                {spoken: 10, granted: 1200, size: 28},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, path, func(w *world) {
				w.scripted(fromCapture(t, name))
				r := w.look()
				if want.form != xray.FormNone {
					require.NotNil(w, r.Pong)
					require.Equal(w, want.form, r.Pong.Form)
				}
				if want.pong != "" {
					require.Equal(w, want.pong, string(r.Pong.Data))
				}
				require.Equal(w, want.spoken, r.Spoken)
				for _, v := range r.Versions {
					if want.speaks != 0 {
						require.Equal(w, xray.Version{Version: v.Version, Answer: xray.Mismatch, Speaks: want.speaks}, v)
					} else if v.Version != want.spoken {
						require.Equal(w, xray.Silence, v.Answer)
					}
				}
				for _, p := range r.Probes {
					require.Equal(w, want.granted, p.Granted)
					require.Equal(w, want.size, p.Size)
					require.Equal(w, want.cookie, p.Security)
				}
			})
		})
	}
}

func TestNobodyIsAskedForEver(t *testing.T) {
	story(t, path, func(w *world) {
		start := time.Now()
		r := w.look()
		require.Nil(w, r.Pong)
		require.Zero(w, r.Spoken)
		require.Equal(w, xray.MaxDatagrams, r.Sent)
		require.Equal(w, 30, r.Sent)
		require.Zero(w, r.Received)
		require.Equal(w, 15*time.Second, time.Since(start))

		ctx, cancel := context.WithTimeout(w.Context(), 1200*time.Millisecond)
		defer cancel()
		conn, err := w.network.DialContext(w.Context(), "udp", address)
		require.NoError(w, err)
		start = time.Now()
		r, err = xray.Look(ctx, conn, 1)
		require.ErrorIs(w, err, context.DeadlineExceeded)
		require.Equal(w, 3, r.Sent)
		require.Equal(w, 1200*time.Millisecond, time.Since(start))
		conn.Close()
		_, err = xray.Look(w.Context(), conn, 1)
		require.ErrorIs(w, err, net.ErrClosed)
	})
}

// A server that answers late and twice, says no in several ways, and talks of other things between.
func TestAStrangeServer(t *testing.T) {
	story(t, netsim.Link{Delay: 300 * time.Millisecond}, func(w *world) {
		w.scripted(func(b []byte) [][]byte {
			noise := []byte{0x84, 0, 0, 0, 0, 0, 8, 1}
			switch {
			case b[0] == 0x01:
				pong := wire.UnconnectedPong{Time: 12345, GUID: 5}
				return [][]byte{noise, {0x1c}, pong.Append(nil)[:33], noise} // its own time, no data at all
			case b[17] == 11:
				no := wire.Refusal{ID: byte(protocol.IDBanned), GUID: 5}
				return [][]byte{noise, no.Append(nil), noise}
			case b[17] == 10:
				no := wire.IncompatibleVersion{Version: 8, GUID: 5}
				b := no.Append(nil)
				copy(b[1:], b[2:18]) // marker first
				b[17] = 8
				return [][]byte{b, b}
			case b[17] == 8 && len(b) < 1200:
				yes := wire.OpenReply1{MTU: 0}
				return [][]byte{yes.Append(nil)}
			case b[17] == 8:
				key := wire.OpenReply1{GUID: 5, Security: true, Cookie: 9, MTU: 1}
				b := key.Append(nil)
				for len(b) < 330 {
					b = append(b, 0xaa)
				}
				return [][]byte{b}
			}
			return nil
		})
		r := w.look()
		require.Equal(w, xray.FormNone, r.Pong.Form)
		require.False(w, r.Pong.TimeKept)
		require.Empty(w, r.Pong.Data)
		require.Equal(w, []xray.Version{
			{Version: 11, Answer: xray.Refused, Reason: offline.Banned},
			{Version: 10, Answer: xray.Mismatch, Speaks: 8, MagicFirst: true},
			{Version: 9}, {Version: 8, Answer: xray.Accepted}, {Version: 7}, {Version: 6},
		}, r.Versions)
		require.EqualValues(w, 8, r.Spoken)
		require.True(w, r.Probes[0].Libcat)
		require.False(w, r.Probes[1].Libcat, "1200 is asked with 1172 bytes")
		require.Equal(w, xray.Accepted, r.Probes[2].Answer)
		require.Zero(w, r.Probes[2].Granted)
	})
}
