package wire

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/raknet-go/raknet/internal/captures"
	"github.com/raknet-go/raknet/protocol"
	"github.com/stretchr/testify/require"
)

// dialect is one way in which recorded bytes differ from what this package
// writes for the same packet. Each has a reason, and shows in exactly the
// recordings listed; without a list, it is too common for one.
type dialect struct {
	reason     string
	recordings []string
}

var dialects = map[string]dialect{
	"raw pong": {
		reason:     "the original sends pong data without a length; Bedrock needs one",
		recordings: []string{"original-connect-ipv6", "original-ping", "raknet-native-idle", "raknet-native-incompatible"},
	},
	"padded reply 1": {
		reason:     "one server answers request 1 at its size; the rest is zeros",
		recordings: []string{"raknet-native-idle"},
	},
	"connection type": {
		reason:     "JRakNet appends its name and version to request 2 and reply 2",
		recordings: []string{"jraknet-self"},
	},
	"cookie left out": {
		reason:     "one client knows no cookies, so its request 2 has the layout without one",
		recordings: []string{"cookie-jsp-raknet"},
	},
	"IPv6 family": {
		reason:     "the original writes the family number of its platform, here 10 of Linux",
		recordings: []string{"original-connect-ipv6"},
	},
	"internal addresses": {
		reason: "peers list the addresses of their interfaces, or 0.0.0.0 in another spelling; we write unassigned ones",
	},
	"low bits of frame flags": {
		reason:     "Cloudburst sets low bits of the flags; every receiver ignores them",
		recordings: []string{"cloudburst-client", "cloudburst-server"},
	},
	"receipt mode on the wire": {
		reason:     "JRakNet sends modes 5, 6 and 7 as they are, in the layout of 0, 2 and 3",
		recordings: []string{"jraknet-self"},
	},
	"odd bit length": {
		reason:     "the original refuses a password with 9 bits; we announce whole bytes",
		recordings: []string{"original-bit-length-9"},
	},
	"no sequencing index": {
		reason:     "JRakNet leaves the sequencing index out of modes 1 and 4; nothing in the frame tells, and everybody else needs it",
		recordings: []string{"jraknet-self"},
	},
}

// reader parses recorded datagrams, writes them again, and notes every dialect
// that had to be ironed out of the recorded bytes for the two to agree.
type reader struct {
	recording string
	cookie    bool // reply 1 of the recording asked for one
	seen      map[string]map[string]bool
	counts    map[string]int
}

func (r *reader) note(dialect string) {
	if r.seen[dialect] == nil {
		r.seen[dialect] = map[string]bool{}
	}
	r.seen[dialect][r.recording] = true
}

// check parses one datagram; what is written again must equal what was recorded.
func (r *reader) check(data []byte) error {
	kind := Classify(data)
	r.counts[fmt.Sprintf("kind %d", kind)]++
	switch kind {
	case KindOffline:
		return r.offline(data)
	case KindACK, KindNACK:
		return r.ranges(data)
	case KindFrameSet:
		return r.frames(data)
	}
	return fmt.Errorf("kind %d", kind)
}

func same(got, want []byte) error {
	if !bytes.Equal(got, want) {
		return fmt.Errorf("written again as\n%x, was\n%x", got, want)
	}
	return nil
}

type packet interface {
	Append([]byte) []byte
	Parse([]byte) error
}

func (r *reader) offline(data []byte) error {
	r.counts[fmt.Sprintf("offline %02x", data[0])]++
	var p packet
	want := slices.Clone(data)
	switch protocol.ID(data[0]) {
	case protocol.IDUnconnectedPing, protocol.IDUnconnectedPingOpen:
		p = new(UnconnectedPing)
	case protocol.IDUnconnectedPong:
		var pong UnconnectedPong
		p = &pong
		if err := pong.Parse(data); err == nil && len(pong.Data) == len(data)-33 {
			r.note("raw pong")
			n := len(pong.Data)
			want = slices.Insert(want, 33, byte(n>>8), byte(n))
		}
	case protocol.IDOpenConnectionRequest1:
		p = new(OpenRequest1)
	case protocol.IDOpenConnectionReply1:
		p = new(OpenReply1)
		size := 28
		if data[25] != 0 {
			size, r.cookie = 32, true
		}
		want = r.trailing("padded reply 1", want, size)
	case protocol.IDOpenConnectionRequest2:
		return r.request2(data)
	case protocol.IDOpenConnectionReply2:
		p = new(OpenReply2)
		size := 28 + r.address(want[25:])
		want = r.trailing("connection type", want, size)
	case protocol.IDIncompatibleVersion:
		p = new(IncompatibleVersion)
	default:
		p = new(Refusal)
	}
	if err := p.Parse(data); err != nil {
		return err
	}
	return same(p.Append(nil), want)
}

// request2 is in the layout that reply 1 asked for, unless the client knows no
// cookies: its request is refused then, and readable only without one.
func (r *reader) request2(data []byte) error {
	var p OpenRequest2
	err := p.Parse(data, r.cookie)
	if err != nil && r.cookie {
		r.note("cookie left out")
		err = p.Parse(data, false)
	}
	if err != nil {
		return err
	}
	want := slices.Clone(data)
	at := 17
	if p.HasCookie {
		at += 5
	}
	size := at + r.address(want[at:]) + 10
	want = r.trailing("connection type", want, size)
	return same(p.Append(nil), want)
}

// trailing cuts b to the size of its packet.
func (r *reader) trailing(dialect string, b []byte, size int) []byte {
	if len(b) > size {
		r.note(dialect)
		b = b[:size]
	}
	return b
}

// address irons out what the address at the start of b says beyond itself, and
// returns its size.
func (r *reader) address(b []byte) int {
	if b[0] != addrVersion6 {
		return addrSize4
	}
	if b[1] != familyInet6 || b[2] != 0 {
		r.note("IPv6 family")
		b[1], b[2] = familyInet6, 0
	}
	return addrSize6
}

func (r *reader) ranges(data []byte) error {
	it, err := ParseRanges(data)
	if err != nil {
		return err
	}
	a := StartRanges(nil, data[0], len(data))
	for rec, ok := it.Next(); ok; rec, ok = it.Next() {
		if !a.Add(rec.First, rec.Last) {
			return fmt.Errorf("no room for %v", rec)
		}
	}
	return same(a.Finish(), data)
}

func (r *reader) frames(data []byte) error {
	number, body, err := ParseDatagramHeader(data)
	if err != nil {
		return err
	}
	got := AppendDatagramHeader(nil, data[0], number)
	want := slices.Clone(data)
	it := Frames(body)
	var f Frame
	for it.Next(&f) {
		header := want[len(got):]
		if header[0]&0x0f != 0 {
			r.note("low bits of frame flags")
			header[0] &^= 0x0f
		}
		if mode := protocol.Reliability(header[0] >> 5); mode.WithReceipt() {
			r.note("receipt mode on the wire")
			header[0] = header[0]&0x1f | byte(mode.Wire())<<5
		}
		if f.Bits%8 != 0 {
			r.note("odd bit length")
			bits := len(f.Payload) * 8
			header[1], header[2] = byte(bits>>8), byte(bits)
		}
		got = append(AppendFrameHeader(got, &f, len(f.Payload)), f.Payload...)
		if !f.Split {
			if err := r.message(f.Payload); err != nil {
				return fmt.Errorf("message %x: %w", f.Payload, err)
			}
		}
		r.counts[fmt.Sprintf("mode %d", f.Reliability)]++
	}
	if err := it.Err(); err != nil {
		return err
	}
	return same(got, r.trailing("padded datagram", want, len(got)))
}

// message checks connected control messages; what else a frame holds is the
// application's.
func (r *reader) message(data []byte) error {
	id := protocol.ID(data[0])
	if !id.IsControl() {
		return nil
	}
	r.counts[fmt.Sprintf("message %02x", data[0])]++
	var p packet
	want := slices.Clone(data)
	switch id {
	case protocol.IDConnectedPing:
		p = new(ConnectedPing)
	case protocol.IDConnectedPong:
		p = new(ConnectedPong)
	case protocol.IDConnectionRequest:
		p = new(ConnectionRequest)
	case protocol.IDConnectionRequestAccepted:
		p = new(ConnectionRequestAccepted)
		want = r.internal(want, 1+r.address(want[1:])+2)
	case protocol.IDNewIncomingConnection:
		p = new(NewIncomingConnection)
		want = r.internal(want, 1+r.address(want[1:]))
	default:
		return nil // no fields
	}
	if err := p.Parse(data); err != nil {
		return err
	}
	return same(p.Append(nil), want)
}

// internal replaces the internal addresses, which begin at the given place, by
// unassigned ones.
func (r *reader) internal(b []byte, at int) []byte {
	middle := b[at : len(b)-handshakeTimes]
	n, ok := countAddrs(middle)
	if !ok {
		return b
	}
	plain := appendUnassigned(nil, n)
	if bytes.Equal(plain, middle) {
		return b
	}
	r.note("internal addresses")
	return slices.Concat(b[:at], plain, b[len(b)-handshakeTimes:])
}

// knownUnreadable are the datagrams that no receiver but their sender's can read,
// by recording and position.
var knownUnreadable = map[string][]int{"jraknet-self": {22, 34}}

func TestEveryRecordedDatagramReadsAndWritesBack(t *testing.T) {
	all, err := captures.All()
	require.NoError(t, err)
	seen := map[string]map[string]bool{}
	counts := map[string]int{}
	for _, c := range all {
		r := reader{recording: c.Name, seen: seen, counts: counts}
		for i, d := range c.Datagrams {
			err := r.check(d.Data)
			if slices.Contains(knownUnreadable[c.Name], i) {
				require.ErrorIs(t, err, ErrTruncated, "%s, datagram %d", c.Name, i)
				r.note("no sequencing index")
				continue
			}
			if err != nil {
				t.Errorf("%s, datagram %d: %v", c.Name, i, err)
			}
		}
	}

	// A dialect that appears or disappears is a change worth a look.
	require.Equal(t, slices.Sorted(maps.Keys(dialects)), slices.Sorted(maps.Keys(seen)))
	for name, d := range dialects {
		require.NotEmpty(t, d.reason, name)
		if d.recordings != nil {
			require.Equal(t, d.recordings, slices.Sorted(maps.Keys(seen[name])), name)
		}
	}

	// The recordings are only worth something while they hold every kind of thing.
	for _, kind := range []string{
		"kind 1", "kind 2", "kind 3", "kind 4", "mode 0", "mode 1", "mode 2", "mode 3", "mode 4",
		"offline 01", "offline 02", "offline 05", "offline 06", "offline 07", "offline 08", "offline 12", "offline 14",
		"offline 19", "offline 1c", "message 00", "message 03", "message 09", "message 10", "message 13", "message 15", "message 18",
	} {
		require.Positive(t, counts[kind], kind)
	}
}
