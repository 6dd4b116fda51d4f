package wire

import "encoding/binary"

// An ACK or NACK is its identifier, a float that only some ACKs have, a 16-bit
// count of records, and the records: a tag, one number, and for a range another.
const (
	recordRange  = 0
	recordSingle = 1

	singleSize = 1 + 3
	rangeSize  = 1 + 3 + 3

	maxRecords = 1<<16 - 1
)

// rangesHeaderSize returns the size of what precedes the records.
func rangesHeaderSize(id byte) int {
	if id&0xe0 == ACKID|ackHasAS {
		return 1 + 4 + 2
	}
	return 1 + 2
}

// Range is a run of datagram numbers, First and Last included, as on the wire. It
// may cross the wrap: it holds Len numbers from First upwards, modulo 2^24.
type Range struct{ First, Last uint32 }

// Len returns how many numbers the range holds, 1 to 2^24.
func (r Range) Len() int { return int((r.Last-r.First)&Mask24) + 1 }

// RangeIter walks the records of an ACK or NACK, which were checked before. It
// never expands a range: seven bytes may name all 2^24 numbers. Its zero value is
// empty.
type RangeIter struct {
	rest  []byte
	count int
}

// ParseRanges checks a whole ACK or NACK, which b is from its identifier on, and
// returns an iterator that borrows from it. One bad record refuses all of it: a
// count beyond what is there, a tag that is neither single nor range, a range that
// ends before it begins. A range that crosses the wrap forwards, by less than half
// of all numbers, is good. Trailing bytes are ignored, and so is the AS value.
func ParseRanges(b []byte) (RangeIter, error) {
	if len(b) == 0 {
		return RangeIter{}, ErrTruncated
	}
	if b[0]&0xc0 != 0xc0 && b[0]&0xe0 != 0xa0 {
		return RangeIter{}, ErrDatagram
	}
	header := rangesHeaderSize(b[0])
	if len(b) < header {
		return RangeIter{}, ErrTruncated
	}
	count := int(binary.BigEndian.Uint16(b[header-2:]))
	body := b[header:]
	if count*singleSize > len(body) {
		return RangeIter{}, ErrTruncated
	}
	at := 0
	for range count {
		if at == len(body) {
			return RangeIter{}, ErrTruncated
		}
		switch body[at] {
		case recordSingle:
			if at += singleSize; at > len(body) {
				return RangeIter{}, ErrTruncated
			}
		case recordRange:
			if at += rangeSize; at > len(body) {
				return RangeIter{}, ErrTruncated
			}
			if reversed(Uint24(body[at-6:]), Uint24(body[at-3:])) {
				return RangeIter{}, ErrRange
			}
		default:
			return RangeIter{}, ErrRecord
		}
	}
	return RangeIter{rest: body[:at], count: count}, nil
}

// reversed reports whether a range ends before it begins: it is no plain
// ascending range, nor one that crosses the wrap.
func reversed(first, last uint32) bool {
	return last < first && (last-first)&Mask24 >= 1<<23
}

// Count returns how many records are left.
func (it *RangeIter) Count() int { return it.count }

// Next returns the next record as a range, and false when there is none left.
func (it *RangeIter) Next() (Range, bool) {
	if it.count == 0 {
		return Range{}, false
	}
	it.count--
	b := it.rest
	first := Uint24(b[1:])
	if b[0] == recordSingle {
		it.rest = b[singleSize:]
		return Range{first, first}, true
	}
	it.rest = b[rangeSize:]
	return Range{first, Uint24(b[4:])}, true
}

// RangeAppender builds an ACK or NACK within a size. Start one with StartRanges.
type RangeAppender struct {
	dst   []byte
	start int // where the packet begins in dst
	limit int // len(dst) must not pass this
	count int
}

// StartRanges begins an ACK (ACKID) or NACK (NACKID) of at most maxSize bytes that
// is appended to dst.
func StartRanges(dst []byte, id byte, maxSize int) RangeAppender {
	start := len(dst)
	return RangeAppender{dst: append(dst, id, 0, 0), start: start, limit: start + maxSize}
}

// Add appends the numbers from first to last, both included and taken modulo
// 2^24. A range that crosses the wrap is written as two, since the original
// refuses it otherwise; the part from 0 goes first, since the original stops
// reading at a record that ends at the highest number. Add returns false, with
// nothing added, when there is no room left.
func (a *RangeAppender) Add(first, last uint32) bool {
	first, last = first&Mask24, last&Mask24
	if first <= last {
		return a.add(first, last)
	}
	size := recordSize(first, Mask24) + recordSize(0, last)
	if !a.fits(size, 2) {
		return false
	}
	return a.add(0, last) && a.add(first, Mask24)
}

func (a *RangeAppender) add(first, last uint32) bool {
	if !a.fits(recordSize(first, last), 1) {
		return false
	}
	a.count++
	if first == last {
		a.dst = AppendUint24(append(a.dst, recordSingle), first)
		return true
	}
	a.dst = AppendUint24(append(a.dst, recordRange), first)
	a.dst = AppendUint24(a.dst, last)
	return true
}

func (a *RangeAppender) fits(size, records int) bool {
	return len(a.dst)+size <= a.limit && a.count+records <= maxRecords
}

func recordSize(first, last uint32) int {
	if first == last {
		return singleSize
	}
	return rangeSize
}

// Count returns how many records were written so far.
func (a *RangeAppender) Count() int { return a.count }

// Finish returns dst with the packet behind it; dst as it was when nothing was added.
func (a *RangeAppender) Finish() []byte {
	if a.count == 0 {
		return a.dst[:a.start]
	}
	binary.BigEndian.PutUint16(a.dst[a.start+1:], uint16(a.count))
	return a.dst
}
