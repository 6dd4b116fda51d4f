package captures

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// notes are what the lines beside the recordings say, and what else is looked for in them, as
// assertions about the bytes. Every recording has some.
var notes = map[string]func(t *testing.T, c, s *facts){
	"bedrock-protocol-jsp": func(t *testing.T, c, s *facts) {
		require.Equal(t, []byte{10}, c.versions)
		require.Equal(t, []int{25665}, c.assembled, "a login of the game")
		require.Equal(t, 2, s.internal[20], "the 10 comes twice")
	},
	"bedrock-protocol-native": func(t *testing.T, c, s *facts) {
		require.Equal(t, 1, c.internal[10])
		require.Equal(t, []int{25666}, c.assembled)
		require.Equal(t, 1, c.modes[2], "its 09 is reliable, as the original's")
	},
	"cloudburst-client": func(t *testing.T, c, s *facts) {
		require.Equal(t, []uint32{0, 1, 3, 7, 15, 31, 63, 74, 73}, c.order[3:12], "fragments leave in heap order")
		require.Equal(t, 1+3+62, c.lowBits, "low bits of the flags are set in every frame")
	},
	"cloudburst-server": func(t *testing.T, c, s *facts) {
		require.Equal(t, 1, s.internal[10])
		require.Equal(t, 6, s.lowBits)
		require.Equal(t, []int{3000}, s.assembled)
	},
	"cookie-jsp-raknet": func(t *testing.T, c, s *facts) {
		require.Equal(t, 1, c.offline[7], "it does not know cookies, and is ignored")
		require.Zero(t, s.offline[8])
		require.Empty(t, c.first)
	},
	"cookie-raknet-native": func(t *testing.T, c, s *facts) {
		require.Equal(t, 1, s.offline[8], "it knows them, and is connected")
		require.Equal(t, 2, c.messages[9], "its 09 comes twice")
		require.Equal(t, 1, s.messages[16])
	},
	"jraknet-self": func(t *testing.T, c, s *facts) {
		require.Equal(t, []byte{10}, c.versions)
		require.Equal(t, 1200, c.largest, "payloads as large as the whole MTU, which was 1200")
		require.Equal(t, 1200, s.largest)
		require.Equal(t, 2, c.modes[7], "0x13 in mode 7, and a message")
		require.Equal(t, 1, c.messages[19])
		require.Equal(t, 1, c.modes[5])
		require.Equal(t, 1, c.modes[6])
		require.Equal(t, 2, c.unreadable, "sequenced messages without their index")
	},
	"jsp-raknet-client": func(t *testing.T, c, s *facts) {
		require.Equal(t, 3, s.messages[16], "its server says 10 three times")
		require.Equal(t, map[byte]int{0x80: 0x25, 0xc0: 5}, c.first, "0x80 and nothing else")
		require.Equal(t, []int{3000}, c.assembled)
	},
	"jsp-raknet-server": func(t *testing.T, c, s *facts) {
		require.Equal(t, []byte{10}, c.versions)
		require.Contains(t, c.sizes, 12)
		require.Equal(t, []int{3000}, c.assembled, "small, 3 KB and")
		require.Equal(t, 76, c.parts[1], "100 KB messages")
		require.Equal(t, []int{3000}, s.assembled, "echoed")
		require.Equal(t, 5, s.first[0x80])
	},
	"netty-raknet-all-reliabilities": func(t *testing.T, c, s *facts) {
		require.Equal(t, []byte{9, 9, 9}, c.versions, "three requests before the first answer")
		require.Equal(t, 4, c.offline[7], "and a request 2 for each reply 1")
		for mode := range byte(5) {
			require.Positive(t, c.modes[mode], mode)
		}
	},
	"original-already-connected": func(t *testing.T, c, s *facts) {
		require.Equal(t, map[byte]int{0x06: 2, 0x08: 1, 0x12: 1}, s.offline)
	},
	"original-bit-length-9": func(t *testing.T, c, s *facts) {
		require.Equal(t, []int{9}, s.oddBits)
		require.Equal(t, 1, s.messages[0x18])
		require.Contains(t, s.sizes, 2, "two bytes")
		require.Subset(t, c.sizes, []int{23, 24}, "a wrong password and the right one, behind 18 bytes")
		require.Equal(t, 1, s.messages[0x10], "one was right")
	},
	"original-connect-ipv6": func(t *testing.T, c, s *facts) {
		require.Equal(t, map[uint16]int{10: 1}, c.ipv6, "the family in host order, that of Linux")
		require.Equal(t, map[uint16]int{10: 1}, s.ipv6)
		require.Contains(t, s.sizes, 118, "a 10 with ten addresses of 7 bytes behind one of 29")
		require.Equal(t, 1, s.internal[10])
		disconnects(t, c)
	},
	"original-connect-v11-20addr": func(t *testing.T, c, s *facts) {
		original(t, c, s, 11, 20)
	},
	"original-connect-v11": func(t *testing.T, c, s *facts) {
		original(t, c, s, 11, 10)
	},
	"original-connect-v6": func(t *testing.T, c, s *facts) {
		original(t, c, s, 6, 10)
	},
	"original-incompatible": func(t *testing.T, c, s *facts) {
		require.Equal(t, []byte{11}, c.versions)
		require.Equal(t, map[byte]int{0x19: 1}, s.offline)
	},
	"original-loss-10-percent": func(t *testing.T, c, s *facts) {
		require.Positive(t, c.first[0xa0], "NACKs, so something was lost")
		require.Positive(t, s.first[0xa0])
		require.Equal(t, 3, c.messages[21], "the disconnect was resent twice")
	},
	"original-no-free-slots": func(t *testing.T, c, s *facts) {
		require.Equal(t, map[byte]int{0x06: 2, 0x08: 1, 0x14: 1}, s.offline)
	},
	"original-ordered-channels": func(t *testing.T, c, s *facts) {
		require.Equal(t, []uint8{0, 5, 31}, slices.Sorted(maps.Keys(c.channels)))
		require.Equal(t, []uint8{0, 5, 31}, slices.Sorted(maps.Keys(s.channels)))
	},
	"original-ping": func(t *testing.T, c, s *facts) {
		require.Equal(t, map[byte]int{0x01: 1, 0x02: 1}, c.offline)
		require.Equal(t, map[byte]int{0x1c: 2}, s.offline)
	},
	"original-reliability-0": func(t *testing.T, c, s *facts) { reliability(t, c, s, 0) },
	"original-reliability-1": func(t *testing.T, c, s *facts) { reliability(t, c, s, 1) },
	"original-reliability-2": func(t *testing.T, c, s *facts) { reliability(t, c, s, 2) },
	"original-reliability-3": func(t *testing.T, c, s *facts) { reliability(t, c, s, 3) },
	"original-reliability-4": func(t *testing.T, c, s *facts) { reliability(t, c, s, 4) },
	"original-reorder-duplicate": func(t *testing.T, c, s *facts) {
		require.Positive(t, s.repeated, "a datagram twice with one number")
		require.Positive(t, s.lower, "a late, lower one")
		require.Positive(t, s.first[0xa0])
	},
	"original-sequenced-and-ordered": func(t *testing.T, c, s *facts) {
		require.Equal(t, 18, c.channels[1], "all on one channel")
		require.Equal(t, 8, c.modes[1])
		require.Equal(t, 2, c.modes[4])
		require.Equal(t, 10-2, c.modes[3]-c.messages[0x13]-c.messages[0x15])
	},
	"original-split-20k-reliability-0": func(t *testing.T, c, s *facts) { split20k(t, c, s, 2) },
	"original-split-20k-reliability-2": func(t *testing.T, c, s *facts) { split20k(t, c, s, 2) },
	"original-split-20k-reliability-3": func(t *testing.T, c, s *facts) { split20k(t, c, s, 3) },
	"original-split-boundary": func(t *testing.T, c, s *facts) {
		require.Equal(t, 1432, slices.Max(c.sizes), "the largest whole message at an MTU of 1492")
		require.Equal(t, []int{1433, 1434, 1435, 1436}, c.assembled, "the smallest that are split")
		require.Equal(t, c.assembled, s.assembled)
	},
	"raklib-client": func(t *testing.T, c, s *facts) {
		require.Equal(t, []int{3000}, c.assembled)
		require.Equal(t, 72, c.parts[2])
		require.Zero(t, c.first[0x84], "0x80 and nothing else")
	},
	"raklib-server": func(t *testing.T, c, s *facts) {
		require.Equal(t, []int{3000}, s.assembled)
		require.Zero(t, s.first[0x84])
		require.Equal(t, 2, s.messages[0], "it pings, also before the client is connected")
	},
	"raknet-native-idle": func(t *testing.T, c, s *facts) {
		require.GreaterOrEqual(t, c.messages[0], 13, "pings")
		require.Equal(t, c.messages[0], s.messages[3], "and as many pongs")
	},
	"raknet-native-incompatible": func(t *testing.T, c, s *facts) {
		require.Equal(t, []byte{11}, c.versions)
		require.Equal(t, 1, s.offline[0x19])
	},
	"raknet-native-reliabilities": func(t *testing.T, c, s *facts) {
		for mode := range byte(5) {
			require.Positive(t, c.modes[mode], mode)
		}
		require.Equal(t, []byte{2, 3, 4}, slices.Sorted(maps.Keys(c.splitModes)), "what is split goes reliable")
		require.Equal(t, 1459, c.largest, "the original keeps five bytes below what an MTU of 1492 allows")
	},
	"rust-raknet-server": func(t *testing.T, c, s *facts) {
		require.Equal(t, 2, s.messages[16], "the 10 comes twice")
		require.Equal(t, 2, s.internal[10])
		require.Zero(t, s.messages[21], "it never closes inside the connection")
	},
	"serenity-server": func(t *testing.T, c, s *facts) {
		require.Equal(t, 1480, s.largest, "more than the 1464 that an MTU of 1492 allows")
	},
}

func disconnects(t *testing.T, f *facts) {
	t.Helper()
	require.Equal(t, 1, f.messages[21], "a clean disconnect")
}

func original(t *testing.T, c, s *facts, version byte, addresses int) {
	t.Helper()
	require.Equal(t, []byte{version}, c.versions)
	require.Equal(t, map[int]int{addresses: 1}, c.internal)
	require.Equal(t, map[int]int{addresses: 1}, s.internal)
	disconnects(t, c)
}

func reliability(t *testing.T, c, s *facts, mode byte) {
	t.Helper()
	control := map[byte]int{0: 2, 2: 1, 3: 2} // ping, pong; request; incoming, disconnect
	require.Equal(t, 4, c.modes[mode]-control[mode])
	require.Equal(t, 4, c.messages[134])
	require.Equal(t, 4, s.messages[134], "all of them came back")
}

func split20k(t *testing.T, c, s *facts, mode byte) {
	t.Helper()
	for _, f := range []*facts{c, s} {
		require.Equal(t, []int{20_000}, f.assembled)
		require.Equal(t, map[byte]int{mode: 14}, f.splitModes)
	}
}

func TestTheNotesBesideTheRecordingsAreTrue(t *testing.T) {
	all, err := All()
	require.NoError(t, err)
	require.Len(t, all, len(notes))
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			check := notes[c.Name]
			require.NotNil(t, check, "nothing is said about it")
			client, server := look(c, true), look(c, false)
			check(t, client, server)
			if strings.Contains(c.Title, "start only") {
				require.Zero(t, client.messages[21]+server.messages[21], "it ends before the end")
			}
			if strings.HasPrefix(c.Name, "original-") {
				for mode := byte(5); mode < 8; mode++ {
					require.Zero(t, client.modes[mode]+server.modes[mode], "modes 5 to 7 are never on the wire")
				}
				if !strings.Contains(c.Title, "protocol 11") && !strings.Contains(c.Name, "incompatible") {
					for _, v := range client.versions {
						require.EqualValues(t, 6, v)
					}
				}
			}
		})
	}
}
