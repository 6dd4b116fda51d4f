package wire

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReplyGoldenVectors(t *testing.T) {
	for _, g := range []golden{
		{
			name:   "reply 1",
			packet: &OpenReply1{GUID: -0x7fffffffffffffff, MTU: 1400},
			bytes:  "06 M 8000000000000001 00 0578",
		},
		{
			name:   "reply 1 with a cookie",
			packet: &OpenReply1{GUID: 1, Security: true, Cookie: 0x11223344, MTU: 1400},
			bytes:  "06 M 0000000000000001 01 11223344 0578",
		},
		{
			name:   "reply 1 of a protection box",
			packet: &OpenReply1{},
			bytes:  "06 M 0000000000000000 00 0000",
		},
		{
			name:   "reply 2",
			packet: &OpenReply2{GUID: 1, Client: addrPort("127.0.0.1:40000"), MTU: 1400},
			bytes:  "08 M 0000000000000001 0480fffffe9c40 0578 00",
		},
		{
			name:   "reply 2 over IPv6",
			packet: &OpenReply2{GUID: -1, Client: addrPort("[::1]:19133"), MTU: 1492, Encryption: true},
			bytes:  "08 M ffffffffffffffff 0617004abd000000000000000000000000000000000000000100000000 05d4 01",
		},
	} {
		g.check(t)
		g.checkMagic(t, 1)
		g.checkTrailing(t)
	}
}

func TestReply1PaddedToTheSizeOfRequest1(t *testing.T) {
	padding := make([]byte, 1432)
	for _, want := range []OpenReply1{
		{GUID: 5, MTU: 1492},
		{GUID: 5, Security: true, Cookie: 9, MTU: 1492},
	} {
		var p OpenReply1
		require.NoError(t, p.Parse(append(want.Append(nil), padding...)))
		require.Equal(t, want, p)
	}
}

func TestReply1WithALibcatKeyHasNoMTU(t *testing.T) {
	head := unhex(t, "06 M 8000000000000001 01 00000001")
	want := OpenReply1{GUID: -0x7fffffffffffffff, Security: true, Cookie: 1, LibcatKey: true}
	mtu := []byte{0x05, 0x78}
	for name, key := range map[string][]byte{
		"64 bytes":            bytes.Repeat([]byte{0xa5}, 64),
		"64 zeros, then MTU":  make([]byte, 64),
		"294 bytes, has flag": append([]byte{1, 0, 0, 0}, bytes.Repeat([]byte{0x30}, 294)...),
	} {
		var p OpenReply1
		require.NoError(t, p.Parse(bytes.Join([][]byte{head, key, mtu}, nil)), name)
		require.Equal(t, want.LibcatKey, p.LibcatKey, name)
		require.Zero(t, p.MTU, name)
	}
	// Too little for a key is trailing rubbish behind an MTU.
	var p OpenReply1
	require.NoError(t, p.Parse(bytes.Join([][]byte{head, mtu, bytes.Repeat([]byte{1}, 63)}, nil)))
	require.Equal(t, 1400, p.MTU)
	require.False(t, p.LibcatKey)
}

func TestReply2EncryptionIsABitOrAByte(t *testing.T) {
	for value, want := range map[byte]bool{0x00: false, 0x01: true, 0x80: true} {
		var p OpenReply2
		b := append(unhex(t, "08 M 0000000000000001 0480fffffe9c40 0578"), value)
		require.NoError(t, p.Parse(b))
		require.Equal(t, want, p.Encryption, "%#x", value)
	}
	var p OpenReply2
	require.ErrorIs(t, p.Parse(unhex(t, "08 M 0000000000000001 0580fffffe9c40 0578 00")), ErrAddressFamily)
}
