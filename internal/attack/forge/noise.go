package forge

import "encoding/binary"

// scatter makes of a number another one that has nothing to do with its neighbours'
// (the finalizer of splitmix64).
func scatter(i uint64) uint64 {
	i += 0x9e3779b97f4a7c15
	i = (i ^ i>>30) * 0xbf58476d1ce4e5b9
	i = (i ^ i>>27) * 0x94d049bb133111eb
	return i ^ i>>31
}

// noise appends n bytes without a pattern, the same for the same i.
func noise(dst []byte, i uint64, n int) []byte {
	for k := 0; k < n; k += 8 {
		dst = binary.LittleEndian.AppendUint64(dst, scatter(i<<8+uint64(k)))
	}
	return dst[:len(dst)-(8-n%8)%8]
}
