package wire

import "github.com/raknet-go/raknet/protocol"

// A second parser of datagrams, written field by field from the protocol and
// caring for nothing but being obvious. The fuzz targets hold the real one
// against it.

// taker hands out the bytes of a datagram; ok turns false when they run out.
type taker struct {
	b  []byte
	ok bool
}

func (t *taker) take(n int) []byte {
	if n > len(t.b) {
		t.ok = false
		return make([]byte, n)
	}
	taken := t.b[:n]
	t.b = t.b[n:]
	return taken
}

func (t *taker) big(n int) (v uint32) {
	for _, c := range t.take(n) {
		v = v<<8 | uint32(c)
	}
	return v
}

func (t *taker) little24() uint32 {
	c := t.take(3)
	return uint32(c[0]) + uint32(c[1])*256 + uint32(c[2])*65536
}

// naiveFrame reads one frame; ok is false when the original would refuse it.
func naiveFrame(b []byte) (f Frame, size int, ok bool) {
	t := taker{b: b, ok: true}
	flags := t.big(1)
	f.Bits = int(t.big(2))
	f.Reliability = []protocol.Reliability{0, 1, 2, 3, 4, 0, 2, 3}[flags/32]
	f.Split = flags/16%2 == 1
	mode := f.Reliability
	if mode == 2 || mode == 3 || mode == 4 {
		f.Reliable = t.little24()
	}
	if mode == 1 || mode == 4 {
		f.Sequence = t.little24()
	}
	if mode == 1 || mode == 3 || mode == 4 {
		f.Order = t.little24()
		f.Channel = uint8(t.big(1))
	}
	if f.Split {
		f.SplitCount = t.big(4)
		f.SplitID = uint16(t.big(2))
		f.SplitIndex = t.big(4)
	}
	bytes := f.Bits / 8
	if f.Bits%8 != 0 {
		bytes++
	}
	f.Payload = t.take(bytes)
	ok = t.ok && f.Bits > 0 && f.Channel < 32 && (!f.Split || f.SplitIndex < f.SplitCount)
	return f, len(b) - len(t.b), ok
}

// naiveDatagram reads a frame set: its number and its frames up to the first that is
// none; whole is false when there is such a one. Up to three zeros at the end are padding.
func naiveDatagram(b []byte) (number uint32, frames []Frame, whole, ok bool) {
	t := taker{b: b, ok: true}
	if flags := t.big(1); flags < 0x80 || flags >= 0xa0 {
		return 0, nil, false, false
	}
	number = t.little24()
	if !t.ok {
		return 0, nil, false, false
	}
	for len(t.b) > 0 {
		if len(t.b) < 4 && len(frames) > 0 {
			zeros := true
			for _, c := range t.b {
				zeros = zeros && c == 0
			}
			return number, frames, zeros, true
		}
		f, size, good := naiveFrame(t.b)
		if !good {
			return number, frames, false, true
		}
		frames = append(frames, f)
		t.take(size)
	}
	return number, frames, true, true
}

// naiveRanges reads the records of an ACK or NACK.
func naiveRanges(b []byte) (all []Range, ok bool) {
	t := taker{b: b, ok: true}
	id := t.big(1)
	if id < 0xa0 {
		return nil, false
	}
	if id >= 0xe0 {
		t.take(4)
	}
	for count := t.big(2); count > 0 && t.ok; count-- {
		single := t.big(1)
		if single > 1 {
			return nil, false
		}
		first := t.little24()
		last := first
		if single == 0 {
			last = t.little24()
		}
		if wrapped := last + 1<<24; last < first && wrapped-first >= 1<<23 {
			return nil, false
		}
		all = append(all, Range{first, last})
	}
	return all, t.ok
}
