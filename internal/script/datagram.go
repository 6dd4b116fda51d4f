package script

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// Datagrams are written as their fields: "84 #3 reliable r=2 "hi"" is a frame set of
// flags 84 and number 3 with one frame, "ACK 0-2 5" an acknowledgement. Each field
// is as on the wire, so that after the wrap numbers begin at 0 again.

// shortDatagram is the length up to which the bytes stand beside the fields.
const shortDatagram = 20

// showDatagram returns the lines that tell what a datagram is.
func showDatagram(b []byte) []string {
	lines := fieldsOf(b)
	if len(b) <= shortDatagram && !strings.HasPrefix(lines[0], "hex ") {
		lines[0] += fmt.Sprintf("  [% x]", b)
	}
	return lines
}

func fieldsOf(b []byte) []string {
	raw := "hex " + hex.EncodeToString(b)
	if len(b) > 64 {
		raw = fmt.Sprintf("hex %x... (%d bytes)", b[:64], len(b))
	}
	switch wire.Classify(b) {
	case wire.KindFrameSet:
		if lines := frameLines(b); lines != nil {
			return lines
		}
	case wire.KindACK, wire.KindNACK:
		name := "ACK"
		if b[0]&0x40 == 0 {
			name = "NACK"
		}
		it, err := wire.ParseRanges(b)
		if err != nil {
			break
		}
		for r, ok := it.Next(); ok; r, ok = it.Next() {
			if r.First == r.Last {
				name += fmt.Sprintf(" %d", r.First)
			} else {
				name += fmt.Sprintf(" %d-%d", r.First, r.Last)
			}
		}
		return []string{name}
	case wire.KindOffline:
		if s := showOffline(b); s != "" {
			return []string{s}
		}
	}
	return []string{raw}
}

// frameLines returns nil if b is no frame set from beginning to end.
func frameLines(b []byte) []string {
	number, rest, err := wire.ParseDatagramHeader(b)
	if err != nil {
		return nil
	}
	head := fmt.Sprintf("%02x #%d", b[0], number)
	var frames []string
	it := wire.Frames(rest)
	var f wire.Frame
	for it.Next(&f) {
		frames = append(frames, showFrame(&f))
	}
	switch {
	case it.Err() != nil:
		return nil
	case len(frames) == 0:
		return []string{head + " without frames"}
	case len(frames) == 1:
		return []string{head + " " + frames[0]}
	}
	return append([]string{head + fmt.Sprintf(" %d frames", len(frames))}, frames...)
}

func showFrame(f *wire.Frame) string {
	s := modeName(f.Reliability)
	if f.Reliability.IsReliable() {
		s += fmt.Sprintf(" r=%d", f.Reliable)
	}
	if f.Reliability.IsSequenced() {
		s += fmt.Sprintf(" q=%d", f.Sequence)
	}
	if f.Reliability.HasChannel() {
		s += fmt.Sprintf(" o=%d ch=%d", f.Order, f.Channel)
	}
	if f.Split {
		s += fmt.Sprintf(" split=%d part=%d/%d", f.SplitID, f.SplitIndex, f.SplitCount)
	}
	if f.Bits%8 != 0 {
		s += fmt.Sprintf(" bits=%d", f.Bits)
	}
	return s + " " + showPayload(f.Payload, !f.Split)
}

// modeName is the mode in one word; parseMode is its opposite.
func modeName(r protocol.Reliability) string { return strings.ReplaceAll(r.String(), " ", "-") }

func parseMode(s string) (protocol.Reliability, error) {
	for r := protocol.Unreliable; r.Valid(); r++ {
		if modeName(r) == s {
			return r, nil
		}
	}
	return 0, fmt.Errorf("unknown mode %q", s)
}

// readDatagram makes a datagram from its description. Frames are separated by +.
func readDatagram(words []string) ([]byte, error) {
	if len(words) == 0 {
		return nil, fmt.Errorf("no datagram")
	}
	switch words[0] {
	case "hex":
		return hex.DecodeString(strings.Join(words[1:], ""))
	case "ACK":
		return readRanges(wire.ACKID, words[1:])
	case "NACK":
		return readRanges(wire.NACKID, words[1:])
	}
	var flags byte
	if n, err := fmt.Sscanf(words[0], "%02x", &flags); n != 1 || err != nil || len(words[0]) != 2 || flags&0x80 == 0 {
		return readOffline(words)
	}
	var number uint32
	if len(words) < 2 {
		return nil, fmt.Errorf("a frame set needs a number, as in #5")
	}
	if _, err := fmt.Sscanf(words[1], "#%d", &number); err != nil {
		return nil, fmt.Errorf("a frame set needs a number, as in #5: %q", words[1])
	}
	b := wire.AppendDatagramHeader(nil, flags, number)
	words = words[2:]
	if strings.Join(words, " ") == "without frames" {
		return b, nil
	}
	for len(words) > 0 {
		n := 0
		for n < len(words) && words[n] != "+" {
			n++
		}
		var err error
		if b, err = readFrame(b, words[:n]); err != nil {
			return nil, err
		}
		words = words[min(n+1, len(words)):]
	}
	return b, nil
}

func readFrame(dst []byte, words []string) ([]byte, error) {
	f := newFields(words)
	mode, err := parseMode(f.word())
	if err != nil {
		return nil, err
	}
	frame := wire.Frame{Reliability: mode, Reliable: uint32(f.number("r", 0)), Sequence: uint32(f.number("q", 0)),
		Order: uint32(f.number("o", 0)), Channel: uint8(f.number("ch", 0))}
	if f.has("split") {
		frame.Split, frame.SplitID = true, uint16(f.number("split", 0))
		part := f.text("part", "")
		if _, err := fmt.Sscanf(part, "%d/%d", &frame.SplitIndex, &frame.SplitCount); err != nil {
			return nil, fmt.Errorf("part=%s is not of the form part=0/3", part)
		}
	}
	payload, err := readPayload(f.word())
	if err != nil {
		return nil, err
	}
	dst = wire.AppendFrameHeader(dst, &frame, len(payload))
	if f.has("bits") {
		bits := f.number("bits", 0)
		at := len(dst) - wire.FrameHeaderSize(mode, frame.Split)
		dst[at+1], dst[at+2] = byte(bits>>8), byte(bits)
	}
	return append(dst, payload...), f.done()
}

func readRanges(id byte, words []string) ([]byte, error) {
	a := wire.StartRanges(nil, id, 1464)
	for _, w := range words {
		var first, last uint32
		if _, err := fmt.Sscanf(w, "%d-%d", &first, &last); err != nil {
			if _, err := fmt.Sscanf(w, "%d", &first); err != nil {
				return nil, fmt.Errorf("%q is neither a number nor a range of numbers", w)
			}
			last = first
		}
		a.Add(first, last)
	}
	return a.Finish(), nil
}
