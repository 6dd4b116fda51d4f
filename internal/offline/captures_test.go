package offline

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/captures"
	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/siphash"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// recordedAddress is where a recorded client or server is.
var recordedAddress = netip.MustParseAddrPort("127.0.0.1:19132")

// every version that was ever in use.
var every = []byte{6, 7, 8, 9, 10, 11}

// Every packet that a recorded client sent to a stranger is taken for what it is by a server of
// ours, whatever trails behind it, and answered.
func TestRecordedClientsGetTheirAnswers(t *testing.T) {
	all, err := captures.All()
	require.NoError(t, err)
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			cookies := CookiesOff
			for _, d := range c.Datagrams {
				if !d.FromClient && d.Data[0] == 0x06 && d.Data[25] != 0 {
					cookies = CookiesRequired
				}
			}
			var s Server
			s.Init(0, &ServerConfig{GUID: -5, Versions: every, Cookies: cookies, Key: siphash.Key{1, 2}})
			var version byte
			var granted int
			var issued [4]byte
			for i, d := range c.Datagrams {
				if !d.FromClient || d.Data[0]&0x80 != 0 {
					continue
				}
				b := slices.Clone(d.Data)
				knows := len(b) == 39 || len(b) == 61 // a request 2 with a cookie in it
				if cookies == CookiesRequired && b[0] == 0x07 && knows {
					copy(b[17:], issued[:]) // this server's
				}
				reply, out := s.Handle(monotime.Time(d.At), recordedAddress, b, nil)
				switch b[0] {
				case 0x01, 0x02:
					require.Equal(t, Ping, out.Kind, "%d", i)
					require.Equal(t, int64(binary.BigEndian.Uint64(b[1:])), out.Time)
					require.Equal(t, int64(binary.BigEndian.Uint64(b[25:])), out.GUID)
					require.Equal(t, b[0] == 0x02, out.OnlyIfOpen)
				case 0x05:
					require.Equal(t, Reply, out.Kind, "%d", i)
					require.Equal(t, len(b)+28, out.MTU)
					require.LessOrEqual(t, len(reply), len(b))
					version, granted = b[17], out.MTU
					require.Equal(t, version, out.Version)
					if cookies == CookiesRequired {
						copy(issued[:], reply[26:])
					}
				case 0x07:
					if cookies == CookiesRequired && !knows {
						require.Equal(t, DropNoCookie, out.Reason, "%d", i)
						require.Nil(t, reply)
						continue
					}
					at := 17
					if cookies == CookiesRequired {
						at += 5
						require.Equal(t, version, out.Version)
					}
					at += map[byte]int{4: 7, 6: 29}[b[at]]
					require.Equal(t, Accept, out.Kind, "%d: %v", i, out.Reason)
					require.Equal(t, int(binary.BigEndian.Uint16(b[at:])), out.MTU)
					require.LessOrEqual(t, out.MTU, granted)
					require.Equal(t, int64(binary.BigEndian.Uint64(b[at+2:])), out.GUID)
				default:
					t.Fatalf("%d: a client sent %x", i, b[0])
				}
			}
		})
	}
}

// attempts are the dials in a recording: what the client sent to a stranger and what it was answered.
func attempts(c captures.Capture) (all [][]captures.Datagram) {
	over := true
	for _, d := range c.Datagrams {
		if d.Data[0]&0x80 != 0 || len(d.Data) < 2 || slices.Contains([]byte{0x01, 0x02, 0x1c}, d.Data[0]) {
			continue
		}
		if over && d.FromClient && d.Data[0] == 0x05 {
			all = append(all, nil)
			over = false
		}
		if len(all) == 0 {
			continue
		}
		all[len(all)-1] = append(all[len(all)-1], d)
		over = over || !d.FromClient && d.Data[0] != 0x06
	}
	return all
}

// A client of ours that gets what a recorded one got comes to the same end.
func TestRecordedServersAreDialed(t *testing.T) {
	all, err := captures.All()
	require.NoError(t, err)
	total, ends := 0, map[byte]int{}
	for _, c := range all {
		for _, a := range attempts(c) {
			total++
			t.Run(c.Name, func(t *testing.T) { ends[dialRecorded(t, a)]++ })
		}
	}
	require.Equal(t, 49, total)
	require.Equal(t, map[byte]int{0x08: 44, 0x12: 1, 0x14: 1, 0x19: 2, 0: 1}, ends, "connected, refused, and one without an end")
}

// dialRecorded dials against the answers of a recording and returns the packet that ended it.
func dialRecorded(t *testing.T, a []captures.Datagram) (end byte) {
	first := a[0].Data
	var dial Client
	now := monotime.Time(1)
	dial.Init(now, &ClientConfig{GUID: -7, Version: first[17], MaxMTU: len(first) + 28, ServerAddr: recordedAddress})
	b, probe := dial.Transmit(now, nil)
	require.True(t, probe)
	require.Equal(t, first, b, "our request 1 is that of the recorded client, byte for byte")
	var reply1, last []byte
	for _, d := range a {
		if d.FromClient {
			continue
		}
		if d.Data[0] == 0x06 && reply1 == nil {
			reply1 = d.Data
		}
		last = d.Data
		now = now.Add(time.Millisecond)
		dial.Receive(now, d.Data)
		for b, _ := dial.Transmit(now, nil); b != nil; b, _ = dial.Transmit(now, nil) {
			require.Equal(t, byte(0x07), b[0])
			var r wire.OpenRequest2
			require.NoError(t, r.Parse(b, reply1[25] != 0))
			require.EqualValues(t, -7, r.GUID)
			if r.HasCookie {
				require.Equal(t, reply1[26:30], b[17:21], "the cookie goes back as it came")
			}
			require.LessOrEqual(t, r.MTU, len(first)+28)
		}
	}
	n, done, err := dial.Result()
	guid := func(at int) int64 { return int64(binary.BigEndian.Uint64(last[at:])) }
	switch protocol.ID(last[0]) {
	case protocol.IDOpenConnectionReply2:
		require.NoError(t, err)
		require.True(t, done)
		at := 25 + map[byte]int{4: 7, 6: 29}[last[25]]
		require.Equal(t, min(int(binary.BigEndian.Uint16(last[at:])), len(first)+28), n.MTU)
		require.Equal(t, guid(17), n.ServerGUID)
		require.Equal(t, first[17], n.Version)
		require.True(t, n.ClientAddr.Addr().IsLoopback(), "%v", n.ClientAddr)
	case protocol.IDIncompatibleVersion:
		var mismatch *VersionError
		require.True(t, errors.As(err, &mismatch))
		require.Equal(t, &VersionError{Client: first[17], Server: last[1]}, mismatch)
	case protocol.IDOpenConnectionReply1:
		require.False(t, done, "the server went no further")
		return 0
	case protocol.IDAlreadyConnected:
		// Another port might be luckier, so it waits for that, and then says so.
		require.True(t, dial.NeedFreshPort())
		for !done {
			now = max(now, dial.Deadline())
			dial.Advance(now)
			for b, _ := dial.Transmit(now, nil); b != nil; b, _ = dial.Transmit(now, nil) {
			}
			_, done, err = dial.Result()
		}
		fallthrough
	default:
		var refused *RefusedError
		require.True(t, errors.As(err, &refused), "%v", err)
		require.Equal(t, RefusalFromID(protocol.ID(last[0])), refused.Reason)
	}
	return last[0]
}
