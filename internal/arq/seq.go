package arq

// Datagram numbers and the reliable, ordering and sequencing indexes travel as 24
// bits and wrap. Inside they are 64-bit and never do: this file is the only place
// that knows both forms.

const (
	seqBits = 24
	seqMask = 1<<seqBits - 1
)

// expand24 returns the number nearest to near whose low 24 bits are wire. It may
// be negative. A number exactly half the space away counts as behind: in the
// original engine, too, "newer" means a forward difference below 2^23.
func expand24(wire uint32, near int64) int64 {
	return near + int64(int32((wire-uint32(near))<<(32-seqBits))>>(32-seqBits))
}

// wire24 returns the 24 bits of n that travel.
func wire24(n int64) uint32 { return uint32(n) & seqMask }

// older24 reports whether a lies behind b in serial arithmetic.
func older24(a, b uint32) bool { return (a-b)&seqMask >= 1<<(seqBits-1) }
