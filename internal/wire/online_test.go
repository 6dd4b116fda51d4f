package wire

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const noAddr = "04ffffffff0000"

func TestConnectedMessageGoldenVectors(t *testing.T) {
	for _, g := range []golden{
		{
			name:   "ping",
			packet: &ConnectedPing{Time: 77},
			bytes:  "00 000000000000004d",
		},
		{
			name:   "pong",
			packet: &ConnectedPong{PingTime: 77, Time: -1},
			bytes:  "03 000000000000004d ffffffffffffffff",
			needed: 9, // some leave their own time out
		},
		{
			name:   "connection request",
			packet: &ConnectionRequest{GUID: -0x7fffffffffffffff, Time: 1, Password: []byte{}},
			bytes:  "09 8000000000000001 0000000000000001 00",
		},
		{
			name:   "connection request with a password",
			packet: &ConnectionRequest{GUID: 1, Time: 2, Security: true, Password: []byte("pass")},
			bytes:  "09 0000000000000001 0000000000000002 01 70617373",
			needed: 18, // any rest is a password
		},
	} {
		g.check(t)
	}
}

func TestPongWithoutItsOwnTime(t *testing.T) {
	p := ConnectedPong{PingTime: 1, Time: 2}
	require.NoError(t, p.Parse(unhex(t, "03 000000000000004d")))
	require.Equal(t, ConnectedPong{PingTime: 77}, p)
}

// The sizes are those of the original (10 addresses) and of Bedrock (20).
func TestHandshakeMessagesByNumberOfAddresses(t *testing.T) {
	for _, test := range []struct {
		internal     int
		accept, done int
	}{{0, 26, 24}, {1, 33, 31}, {10, 96, 94}, {20, 166, 164}} {
		accept := &ConnectionRequestAccepted{
			Client:   addrPort("127.0.0.1:40000"),
			Index:    0x0102,
			Internal: test.internal, RequestTime: 3, Time: 4,
		}
		b := accept.Append(nil)
		require.Len(t, b, test.accept)
		require.Equal(t, unhex(t, "10 0480fffffe9c40 0102"+strings.Repeat(noAddr, test.internal)+
			"0000000000000003 0000000000000004"), b)
		var gotAccept ConnectionRequestAccepted
		require.NoError(t, gotAccept.Parse(b))
		require.Equal(t, *accept, gotAccept)

		done := &NewIncomingConnection{
			Server:   addrPort("127.0.0.1:19132"),
			Internal: test.internal, HasTimes: true, AcceptedTime: 4, Time: 5,
		}
		b = done.Append(nil)
		require.Len(t, b, test.done)
		require.Equal(t, unhex(t, "13 0480fffffe4abc"+strings.Repeat(noAddr, test.internal)+
			"0000000000000004 0000000000000005"), b)
		var gotDone NewIncomingConnection
		require.NoError(t, gotDone.Parse(b))
		require.Equal(t, *done, gotDone)
	}
}

func TestAcceptedReadsWhateverStandsBeforeTheTimes(t *testing.T) {
	const client, ipv6 = "10 0480fffffe9c40", "0617004abd000000000000000000000000000000000000000100000000"
	const times = "0000000000000003 0000000000000004"
	want := ConnectionRequestAccepted{Client: addrPort("127.0.0.1:40000"), RequestTime: 3, Time: 4}
	for name, test := range map[string]struct {
		middle   string
		index    uint16
		internal int
	}{
		"no addresses":                {"0007", 7, 0},
		"one IPv6 address":            {"0000" + ipv6, 0, 1},
		"IPv6 and IPv4 mixed":         {"0000" + ipv6 + noAddr + ipv6, 0, 3},
		"twenty IPv6 addresses":       {"0000" + strings.Repeat(ipv6, 20), 0, 20},
		"a one-byte index, alone":     {"05", 5, 0},
		"a one-byte index":            {"05" + noAddr + noAddr, 5, 2},
		"rubbish":                     {"0000 0102030405", 0, 0},
		"half an address":             {"0000" + noAddr + "04ff", 0, 0},
		"addresses of another family": {"0000 07ffffffff0000", 0, 0},
	} {
		var p ConnectionRequestAccepted
		require.NoError(t, p.Parse(unhex(t, client+test.middle+times)), name)
		want.Index, want.Internal = test.index, test.internal
		require.Equal(t, want, p, name)
	}

	// An IPv6 client address.
	var p ConnectionRequestAccepted
	require.NoError(t, p.Parse(unhex(t, "10"+ipv6+"0000"+times)))
	require.Equal(t, addrPort("[::1]:19133"), p.Client)
}

func TestAcceptedTooShortForItsTimes(t *testing.T) {
	var p ConnectionRequestAccepted
	whole := unhex(t, "10 0480fffffe9c40 0000 0000000000000003 0000000000000004")
	// The last of these has the room of a one-byte index; nothing tells them apart.
	for n := range len(whole) - 1 {
		require.ErrorIs(t, p.Parse(whole[:n]), ErrTruncated, "first %d bytes", n)
	}
	require.NoError(t, p.Parse(whole[:len(whole)-1]))
	require.ErrorIs(t, p.Parse(unhex(t, "13 0480fffffe9c40")), ErrID)
	require.ErrorIs(t, p.Parse(make([]byte, 26)), ErrID)
	require.ErrorIs(t, p.Parse(append([]byte{0x10}, make([]byte, 26)...)), ErrAddressFamily)
}

func TestNewIncomingConnectionIsNeverJudged(t *testing.T) {
	server := addrPort("127.0.0.1:19132")
	const times = "0000000000000004 0000000000000005"
	for name, test := range map[string]struct {
		body string
		want NewIncomingConnection
	}{
		"nothing":                  {"", NewIncomingConnection{}},
		"an address":               {"0480fffffe4abc", NewIncomingConnection{Server: server}},
		"an address and one more":  {"0480fffffe4abc" + noAddr, NewIncomingConnection{Server: server}},
		"half an address":          {"0480ff", NewIncomingConnection{}},
		"an unknown address":       {"09" + times, NewIncomingConnection{HasTimes: true, AcceptedTime: 4, Time: 5}},
		"no internal addresses":    {"0480fffffe4abc" + times, NewIncomingConnection{Server: server, HasTimes: true, AcceptedTime: 4, Time: 5}},
		"one internal address":     {"0480fffffe4abc" + noAddr + times, NewIncomingConnection{Server: server, Internal: 1, HasTimes: true, AcceptedTime: 4, Time: 5}},
		"rubbish before the times": {"0480fffffe4abc ffff" + times, NewIncomingConnection{Server: server, HasTimes: true, AcceptedTime: 4, Time: 5}},
	} {
		p := NewIncomingConnection{Internal: 9, Time: 9}
		require.NoError(t, p.Parse(unhex(t, "13"+test.body)), name)
		require.Equal(t, test.want, p, name)
	}
	var p NewIncomingConnection
	require.ErrorIs(t, p.Parse(nil), ErrTruncated)
	require.ErrorIs(t, p.Parse([]byte{0x10}), ErrID)

	whole := (&NewIncomingConnection{Server: server, Internal: 20}).Append(nil)
	for n := 1; n <= len(whole); n++ {
		require.NoError(t, p.Parse(whole[:n]), "first %d bytes", n)
	}
}

func TestParsedBytesAreBorrowed(t *testing.T) {
	b := (&ConnectionRequest{Password: []byte("pass")}).Append(nil)
	var p ConnectionRequest
	require.NoError(t, p.Parse(b))
	copy(b[18:], "word")
	require.Equal(t, "word", string(p.Password))
	require.True(t, slices.Equal(p.Append(nil), b))
	require.Equal(t, netip.AddrPort{}, NewIncomingConnection{}.Server)
}
