package protocol

// Protocol versions in use. A server answers a request 1 of a version that it
// does not speak with 0x19 and its own version.
const (
	VersionOriginal byte = 6  // the original C++ engine 4.08x; Pocket Edition also 7
	VersionLegacy   byte = 8  // Bedrock before 1.16, with 9
	VersionPre1_19  byte = 10 // Bedrock before 1.19.30
	VersionCurrent  byte = 11 // Bedrock since 1.19.30
	// VersionTwentyAddresses is the first version whose handshake carries 20
	// internal addresses instead of 10.
	VersionTwentyAddresses byte = 9
)

// Sizes in bytes. An MTU on this wire counts 28 bytes of IPv4 and UDP headers,
// over IPv6 as well, so a datagram's UDP payload is at most MTU - UDPOverhead.
const (
	MaxMTU      = 1492 // the largest probe of every known client
	MinMTU      = 400  // smaller leaves too little for a fragment; also the original's minimum
	UDPOverhead = 28
	// FragmentOverhead is what an MTU loses before it becomes the largest payload
	// of one frame: UDP and IP headers, the original's nominal datagram header of
	// 9 and the largest frame header of 23, for every mode.
	FragmentOverhead = 60
)

// ProbeMTUs are the sizes that clients try in turn, largest first.
var ProbeMTUs = [...]int{1492, 1200, 576}

// InternalAddresses returns how many internal addresses the connected handshake
// carries between peers of the given version: 20 from version 9, else 10.
func InternalAddresses(version byte) int {
	if version >= VersionTwentyAddresses {
		return 20
	}
	return 10
}
