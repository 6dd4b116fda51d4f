package interop

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Fill makes the content of a test message: 0xfe, the first byte of a game packet; then the seed, when there is room for it, which
// names the message at the receiver; then bytes in which every position counts, so that fragments put together in a wrong order
// show. The peers in other languages make the same bytes.
func Fill(seed uint32, size int) []byte {
	b := make([]byte, size)
	x := seed*2654435761 | 1
	for i := range b {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b[i] = byte(x)
	}
	if size >= 5 {
		binary.BigEndian.PutUint32(b[1:], seed)
	}
	b[0] = 0xfe
	return b
}

// Hash is the short form in which both sides report a message's content.
func Hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// seedOf reads the name of a message from its content: 0 when it is too short to have one.
func seedOf(b []byte) uint32 {
	if len(b) < 5 {
		return 0
	}
	return binary.BigEndian.Uint32(b[1:])
}

// MessageEvent is what a peer in this process reports for a received message.
func MessageEvent(b []byte) Event {
	return Event{Kind: Message, Size: len(b), Hash: Hash(b), Seed: seedOf(b)}
}
