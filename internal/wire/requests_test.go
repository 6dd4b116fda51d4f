package wire

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRequest1IsAsLongAsItsMTU(t *testing.T) {
	for mtu, size := range map[int]int{1492: 1464, 1200: 1172, 576: 548, 46: 18} {
		b := (&OpenRequest1{Version: 11, MTU: mtu}).Append(nil)
		require.Len(t, b, size)
		require.Equal(t, unhex(t, "05 M 0b"), b[:18])
		require.True(t, allZero(b[18:]))

		var p OpenRequest1
		require.NoError(t, p.Parse(b))
		require.Equal(t, OpenRequest1{Version: 11, MTU: mtu}, p)
	}
	for _, mtu := range []int{45, 0, -1} {
		require.Len(t, (&OpenRequest1{MTU: mtu}).Append(nil), 18, "an MTU below the packet adds nothing")
	}
}

func TestRequest1PaddingMayBeAnything(t *testing.T) {
	var p OpenRequest1
	require.NoError(t, p.Parse(unhex(t, "05 M 06 0102030405060708")))
	require.Equal(t, OpenRequest1{Version: 6, MTU: 18 + 8 + 28}, p)

	whole := unhex(t, "05 M 06")
	for n := range whole {
		require.ErrorIs(t, p.Parse(whole[:n]), ErrTruncated)
	}
	whole[5] ^= 1
	require.ErrorIs(t, p.Parse(whole), ErrMagic)
	require.ErrorIs(t, p.Parse(unhex(t, "06 M 06")), ErrID)
}

func TestRequest2InBothLayouts(t *testing.T) {
	server := addrPort("127.0.0.1:19132")
	for _, g := range []golden{
		{
			name:   "plain",
			packet: &request2{OpenRequest2{Server: server, MTU: 1400, GUID: -0x7fffffffffffffff}},
			bytes:  "07 M 0480fffffe4abc 0578 8000000000000001",
		},
		{
			name:   "plain, IPv6",
			packet: &request2{OpenRequest2{Server: addrPort("[::1]:19133"), MTU: 65535, GUID: 1}},
			bytes:  "07 M 0617004abd000000000000000000000000000000000000000100000000 ffff 0000000000000001",
		},
		{
			name:   "with a cookie",
			packet: &request2Cookie{OpenRequest2{HasCookie: true, Cookie: 0x11223344, Server: server, MTU: 1400, GUID: 1}},
			bytes:  "07 M 11223344 00 0480fffffe4abc 0578 0000000000000001",
		},
		{
			name:   "with a cookie, IPv6",
			packet: &request2Cookie{OpenRequest2{HasCookie: true, Server: addrPort("[::1]:19133"), GUID: 1}},
			bytes:  "07 M 00000000 00 0617004abd000000000000000000000000000000000000000100000000 0000 0000000000000001",
		},
	} {
		g.check(t)
		g.checkMagic(t, 1)
		g.checkTrailing(t)
	}
}

func TestRequest2InTheOtherLayoutIsRefused(t *testing.T) {
	var p OpenRequest2
	server := addrPort("127.0.0.1:19132")
	plain := (&OpenRequest2{Server: server, MTU: 1400, GUID: 1}).Append(nil)
	require.Error(t, p.Parse(plain, true), "a client that knows no cookies")

	cookie := (&OpenRequest2{HasCookie: true, Cookie: 0x11223344, Server: server, MTU: 1400, GUID: 1}).Append(nil)
	require.ErrorIs(t, p.Parse(cookie, false), ErrAddressFamily)
}

func TestRequest2WithAChallengeOrABadAddress(t *testing.T) {
	var p OpenRequest2
	challenge := append(unhex(t, "07 M 00000007 01"), make([]byte, 64)...)
	challenge = append(challenge, unhex(t, "0480fffffe4abc 0578 8000000000000001")...)
	require.ErrorIs(t, p.Parse(challenge, true), ErrSecurity)
	require.True(t, p.Challenge)
	require.Equal(t, uint32(7), p.Cookie)

	require.ErrorIs(t, p.Parse(unhex(t, "07 M 00000000 00 0580fffffe4abc 0578 8000000000000001"), true), ErrAddressFamily)
}

func TestRequest1PadsWithZerosOverUsedRoom(t *testing.T) {
	room := bytes.Repeat([]byte{0xaa}, 2048)
	b := (&OpenRequest1{Version: 11, MTU: 1492}).Append(room[:3])
	require.Len(t, b, 3+1464)
	require.True(t, allZero(b[3+18:]))
	require.Equal(t, byte(0xaa), room[3+1464], "nothing beyond the packet is touched")
}
