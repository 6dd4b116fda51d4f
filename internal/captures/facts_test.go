package captures

import (
	"slices"

	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// facts are what stands in one side of a recording, read with the naked eye: raw bits
// where the codecs would iron them out.
type facts struct {
	offline    map[byte]int // packets by first byte
	versions   []byte       // of requests 1
	ipv6       map[uint16]int
	modes      map[byte]int // top three bits of frames' flags
	splitModes map[byte]int // those of fragments
	lowBits    int          // frames with low bits in their flags
	channels   map[uint8]int
	oddBits    []int          // lengths that are no multiple of 8
	messages   map[byte]int   // whole messages by first byte
	internal   map[int]int    // internal addresses in 10 and 13
	parts      map[uint16]int // most fragments announced of a split id
	order      []uint32       // indexes of fragments in the order they came
	sizes      []int          // of unsplit messages
	assembled  []int          // of messages whose fragments all came
	largest    int            // payload of a connected datagram
	first      map[byte]int   // first bytes of connected datagrams
	repeated   int            // frame sets whose number came before
	lower      int            // frame sets whose number is below an earlier one's
	bare       map[byte]int   // single-byte datagrams
	unreadable int            // frame sets that do not parse
}

func look(c Capture, fromClient bool) *facts {
	f := &facts{offline: map[byte]int{}, ipv6: map[uint16]int{}, modes: map[byte]int{}, splitModes: map[byte]int{}, channels: map[uint8]int{},
		messages: map[byte]int{}, internal: map[int]int{}, parts: map[uint16]int{}, first: map[byte]int{}, bare: map[byte]int{}}
	seen := map[uint32]bool{}
	came := map[uint16]map[uint32]int{}
	newest := -1
	for _, d := range c.Datagrams {
		if d.FromClient != fromClient {
			continue
		}
		if len(d.Data) == 1 {
			f.bare[d.Data[0]]++
			continue
		}
		switch wire.Classify(d.Data) {
		case wire.KindOffline:
			f.lookOffline(d.Data)
		case wire.KindFrameSet:
			f.first[d.Data[0]]++
			f.largest = max(f.largest, len(d.Data))
			number, body, _ := wire.ParseDatagramHeader(d.Data)
			if number == 0 && newest > 50 || number == 0 && seen[0] && !sameBegin(c, d.Data) {
				seen, came, newest = map[uint32]bool{}, map[uint16]map[uint32]int{}, -1 // another connection
			}
			if seen[number] {
				f.repeated++
			} else if int(number) < newest {
				f.lower++
			}
			seen[number] = true
			newest = max(newest, int(number))
			f.lookFrames(body, came)
		default:
			f.first[d.Data[0]]++
		}
	}
	slices.Sort(f.sizes)
	return f
}

// sameBegin reports whether a datagram 0 is the first one of its side again.
func sameBegin(c Capture, data []byte) bool {
	n := 0
	for _, d := range c.Datagrams {
		if slices.Equal(d.Data, data) {
			n++
		}
	}
	return n > 1
}

func (f *facts) lookOffline(b []byte) {
	f.offline[b[0]]++
	family := func(at int) {
		if b[at] == 6 {
			f.ipv6[uint16(b[at+1])|uint16(b[at+2])<<8]++
		}
	}
	switch protocol.ID(b[0]) {
	case protocol.IDOpenConnectionRequest1:
		f.versions = append(f.versions, b[17])
	case protocol.IDOpenConnectionRequest2:
		family(17)
	case protocol.IDOpenConnectionReply2:
		family(25)
	}
}

func (f *facts) lookFrames(body []byte, came map[uint16]map[uint32]int) {
	var fr wire.Frame
	for at := 0; at < len(body); {
		n, err := fr.Parse(body[at:])
		if err != nil {
			f.unreadable++
			return
		}
		flags := body[at]
		at += n
		mode := flags >> 5
		f.modes[mode]++
		if flags&0x0f != 0 {
			f.lowBits++
		}
		if fr.Reliability.HasChannel() {
			f.channels[fr.Channel]++
		}
		if fr.Bits%8 != 0 {
			f.oddBits = append(f.oddBits, fr.Bits)
		}
		if fr.Split {
			f.splitModes[mode]++
			f.parts[fr.SplitID] = max(f.parts[fr.SplitID], int(fr.SplitCount))
			f.order = append(f.order, fr.SplitIndex)
			if came[fr.SplitID] == nil {
				came[fr.SplitID] = map[uint32]int{}
			}
			parts := came[fr.SplitID]
			if _, before := parts[fr.SplitIndex]; !before {
				parts[fr.SplitIndex] = len(fr.Payload)
				if len(parts) == int(fr.SplitCount) {
					sum := 0
					for _, n := range parts {
						sum += n
					}
					f.assembled = append(f.assembled, sum)
					delete(came, fr.SplitID)
				}
			}
			continue
		}
		f.messages[fr.Payload[0]]++
		f.sizes = append(f.sizes, len(fr.Payload))
		var accepted wire.ConnectionRequestAccepted
		var incoming wire.NewIncomingConnection
		switch {
		case accepted.Parse(fr.Payload) == nil:
			f.internal[accepted.Internal]++
		case fr.Payload[0] == byte(protocol.IDNewIncomingConnection) && incoming.Parse(fr.Payload) == nil:
			f.internal[incoming.Internal]++
		}
	}
}
