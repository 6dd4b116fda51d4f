package dialect

import (
	"encoding/binary"
	"net/netip"

	"github.com/raknet-go/raknet/internal/wire"
)

// Pong is what a server answers a ping with.
type Pong struct {
	Time int64
	GUID int64
	Data []byte
	Raw  bool // no length before the data
}

func (p *Pong) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(append(b, 0x1c), uint64(p.Time))
	b = wire.AppendMagic(binary.BigEndian.AppendUint64(b, uint64(p.GUID)))
	if p.Data == nil {
		return b
	}
	if !p.Raw {
		b = binary.BigEndian.AppendUint16(b, uint16(len(p.Data)))
	}
	return append(b, p.Data...)
}

// address appends an address as h writes it.
func (h *Habits) address(b []byte, a netip.AddrPort) []byte {
	at := len(b)
	b = wire.AppendAddr(b, a)
	switch {
	case b[at] == 6 && h.Family != 0:
		binary.LittleEndian.PutUint16(b[at+1:], h.Family)
	case b[at] == 4 && h.Plain:
		for i := at + 1; i < at+5; i++ {
			b[i] = ^b[i]
		}
	}
	return b
}

// internal appends the internal addresses.
func (h *Habits) internal(b []byte) []byte {
	a := netip.AddrPort{}
	if h.Long {
		a = netip.MustParseAddrPort("[fe80::1]:19132")
	}
	for range h.Addresses {
		b = h.address(b, a)
	}
	return b
}

// accepted is the 10 that h writes.
func (h *Habits) accepted(client netip.AddrPort, requestTime, now int64) []byte {
	b := h.address([]byte{0x10}, client)
	if b = append(b, 0); !h.OneByteIndex {
		b = append(b, 0)
	}
	b = h.internal(b)
	b = binary.BigEndian.AppendUint64(b, uint64(requestTime))
	return binary.BigEndian.AppendUint64(b, uint64(now))
}

// incoming is the 13 that h writes.
func (h *Habits) incoming(server netip.AddrPort, acceptedTime, now int64) []byte {
	b := h.internal(h.address([]byte{0x13}, server))
	if h.NoTimes {
		return b
	}
	b = binary.BigEndian.AppendUint64(b, uint64(acceptedTime))
	return binary.BigEndian.AppendUint64(b, uint64(now))
}

// lastTimes are the two numbers that end a message.
func lastTimes(b []byte) (first, second int64) {
	if len(b) < 16 {
		return 0, 0
	}
	b = b[len(b)-16:]
	return int64(binary.BigEndian.Uint64(b)), int64(binary.BigEndian.Uint64(b[8:]))
}
