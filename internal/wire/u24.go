package wire

// Mask24 keeps the 24 bits that datagram numbers and frame indices have on the wire.
const Mask24 = 1<<24 - 1

// Uint24 reads the little-endian 24-bit number at the start of b, which must
// hold at least three bytes.
func Uint24(b []byte) uint32 {
	_ = b[2]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
}

// PutUint24 writes the low 24 bits of v, little endian, at the start of b, which
// must hold at least three bytes.
func PutUint24(b []byte, v uint32) {
	_ = b[2]
	b[0], b[1], b[2] = byte(v), byte(v>>8), byte(v>>16)
}

// AppendUint24 appends the low 24 bits of v, little endian.
func AppendUint24(dst []byte, v uint32) []byte {
	return append(dst, byte(v), byte(v>>8), byte(v>>16))
}
