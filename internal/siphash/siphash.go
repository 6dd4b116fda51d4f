// Package siphash is SipHash-2-4, the keyed hash of Aumasson and Bernstein: a
// pseudo-random function that is fast on the 16 to 24 bytes of an address. It
// makes cookies that strangers cannot guess and table positions that they
// cannot aim at.
package siphash

import (
	"encoding/binary"
	"math/bits"
)

// Key is a 128-bit secret. The runtime draws it; its zero value works but is no secret.
type Key [16]byte

// Sum returns the hash of b under k. It allocates nothing.
func Sum(k *Key, b []byte) uint64 {
	k0 := binary.LittleEndian.Uint64(k[0:8])
	k1 := binary.LittleEndian.Uint64(k[8:16])
	v0 := k0 ^ 0x736f6d6570736575 // "somepseudorandomlygeneratedbytes", the paper's constants
	v1 := k1 ^ 0x646f72616e646f6d
	v2 := k0 ^ 0x6c7967656e657261
	v3 := k1 ^ 0x7465646279746573

	last := uint64(len(b)) << 56
	for ; len(b) >= 8; b = b[8:] {
		m := binary.LittleEndian.Uint64(b)
		v3 ^= m
		v0, v1, v2, v3 = round(v0, v1, v2, v3)
		v0, v1, v2, v3 = round(v0, v1, v2, v3)
		v0 ^= m
	}
	for i, c := range b {
		last |= uint64(c) << (8 * i)
	}
	v3 ^= last
	v0, v1, v2, v3 = round(v0, v1, v2, v3)
	v0, v1, v2, v3 = round(v0, v1, v2, v3)
	v0 ^= last

	v2 ^= 0xff
	for range 4 {
		v0, v1, v2, v3 = round(v0, v1, v2, v3)
	}
	return v0 ^ v1 ^ v2 ^ v3
}

// round is the paper's SipRound. It takes and returns its state by value so that
// the compiler inlines it into Sum and keeps the state in registers.
func round(v0, v1, v2, v3 uint64) (uint64, uint64, uint64, uint64) {
	v0 += v1
	v1 = bits.RotateLeft64(v1, 13) ^ v0
	v0 = bits.RotateLeft64(v0, 32)
	v2 += v3
	v3 = bits.RotateLeft64(v3, 16) ^ v2
	v0 += v3
	v3 = bits.RotateLeft64(v3, 21) ^ v0
	v2 += v1
	v1 = bits.RotateLeft64(v1, 17) ^ v2
	return v0, v1, bits.RotateLeft64(v2, 32), v3
}
