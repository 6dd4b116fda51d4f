package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// flight is a datagram under way, or held by the script.
type flight struct {
	at   monotime.Time
	from side
	port uint16 // the client's
	data []byte
}

// path carries datagrams, and damages those that a rule names.
type path struct {
	delay   time.Duration
	mtu     int // larger datagrams vanish, 28 bytes of headers included; 0: none does
	flights []flight
	shelf   [2][]flight // held, by sender
	rules   [2][]rule
}

// rule says what becomes of the next datagrams of a sender that fit it.
type rule struct {
	action string // drop, hold, dup, delay, corrupt
	count  int    // how many are left; negative: all
	what   string // "", data, ack, nack, offline, #5, or a message's or packet's identifier in hex
	by     time.Duration
	byte   int
}

// send puts a datagram on its way and returns what is worth telling about its fate.
func (p *path) send(now monotime.Time, from side, port uint16, data []byte) string {
	f := flight{at: now.Add(p.delay), from: from, port: port, data: slices.Clone(data)}
	if p.mtu > 0 && len(data)+protocol.UDPOverhead > p.mtu {
		return " -- too large for the path"
	}
	for i := range p.rules[from] {
		r := &p.rules[from][i]
		if r.count == 0 || !fits(r.what, data) {
			continue
		}
		r.count--
		switch r.action {
		case "drop":
			return " -- lost"
		case "hold":
			p.shelf[from] = append(p.shelf[from], f)
			return fmt.Sprintf(" -- held as %d", len(p.shelf[from]))
		case "dup":
			again := f
			again.at = again.at.Add(r.by)
			p.flights = append(p.flights, f, again)
			if r.by > 0 {
				return fmt.Sprintf(" -- twice, %v apart", r.by)
			}
			return " -- twice"
		case "delay":
			f.at = f.at.Add(r.by)
			p.flights = append(p.flights, f)
			return fmt.Sprintf(" -- %v late", r.by)
		case "corrupt":
			if r.byte < len(f.data) {
				f.data[r.byte] ^= 0x80
			}
			p.flights = append(p.flights, f)
			return fmt.Sprintf(" -- byte %d damaged", r.byte)
		}
	}
	p.flights = append(p.flights, f)
	return ""
}

// next is when the next datagram arrives.
func (p *path) next() monotime.Time {
	at := monotime.Never
	for _, f := range p.flights {
		at = min(at, f.at)
	}
	return at
}

// take removes what has arrived at an end, in the order of arrival.
func (p *path) take(now monotime.Time, to side) []flight {
	var due []flight
	p.flights = slices.DeleteFunc(p.flights, func(f flight) bool {
		if f.from == to || f.at > now {
			return false
		}
		due = append(due, f)
		return true
	})
	slices.SortStableFunc(due, func(a, b flight) int { return int(a.at.Sub(b.at)) })
	return due
}

// release returns held datagrams by their numbers from 1, or all that are left.
func (p *path) release(from side, order []string) ([]flight, error) {
	shelf := p.shelf[from]
	var out []flight
	if len(order) == 0 {
		p.shelf[from] = nil
		return slices.DeleteFunc(shelf, func(f flight) bool { return f.data == nil }), nil
	}
	for _, s := range order {
		i, err := strconv.Atoi(s)
		if err != nil || i < 1 || i > len(shelf) || shelf[i-1].data == nil {
			return nil, fmt.Errorf("no held datagram %s", s)
		}
		out = append(out, shelf[i-1])
		shelf[i-1].data = nil
	}
	if !slices.ContainsFunc(shelf, func(f flight) bool { return f.data != nil }) {
		p.shelf[from] = nil
	}
	return out, nil
}

// fits reports whether a rule means a datagram.
func fits(what string, data []byte) bool {
	kind := wire.Classify(data)
	switch what {
	case "":
		return true
	case "data":
		return kind == wire.KindFrameSet
	case "ack":
		return kind == wire.KindACK
	case "nack":
		return kind == wire.KindNACK
	case "offline":
		return kind == wire.KindOffline
	}
	number, rest, err := wire.ParseDatagramHeader(data)
	if digits, ok := strings.CutPrefix(what, "#"); ok {
		return err == nil && digits == strconv.Itoa(int(number))
	}
	id, bad := strconv.ParseUint(what, 16, 8)
	if bad != nil || len(data) == 0 {
		return false
	}
	if err != nil {
		return kind == wire.KindOffline && data[0] == byte(id)
	}
	it := wire.Frames(rest)
	var f wire.Frame
	for it.Next(&f) {
		if f.Payload[0] == byte(id) && f.SplitIndex == 0 {
			return true
		}
	}
	return false
}

// checkWhat reports a rule that could never fit.
func checkWhat(what string) error {
	switch what {
	case "", "data", "ack", "nack", "offline":
		return nil
	}
	if _, err := strconv.Atoi(strings.TrimPrefix(what, "#")); err == nil && what[0] == '#' {
		return nil
	}
	if _, err := strconv.ParseUint(what, 16, 8); err == nil && len(what) == 2 {
		return nil
	}
	return fmt.Errorf("%q is none of data, ack, nack, offline, #5 and 1c", what)
}
