package interop

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// Wireshark's dissector, whose authors never saw this library, reads what it sends.

// What the dissector (tshark 4.0.17) says about datagrams that are right. Everything else it complains about fails the test. Faults
// of its that don't show as complaints, because they only make it print wrong values: an IPv6 address is 28 bytes and it reads 18; it
// takes the times of 10 and 13 from behind ten internal addresses, whatever their number; out of band messages have the GUID before the magic.
// A retransmitted fragment is called an overlap. It calls pong data without a length malformed, which is what the original sends
// but not what this library does, and the original's own four zero bytes at startup.
var dissectorFaults = []struct {
	why    string
	covers func(d Datagram, complaints []string) bool
}{
	{"a connection request without a password is called malformed", func(d Datagram, c []string) bool {
		return slices.Equal(c, []string{exception}) && hasMessage(d, protocol.IDConnectionRequest)
	}},
	{"it doesn't know the disconnect, nor what applications send", func(d Datagram, c []string) bool {
		return !slices.ContainsFunc(c, func(s string) bool { return s != unknownID && s != noSubdissector }) && wire.Classify(d.Payload) == wire.KindFrameSet
	}},
	{"security in reply 1 means the original's encryption to it, with a key behind the cookie", func(d Datagram, c []string) bool {
		var r wire.OpenReply1
		return slices.Equal(c, []string{exception}) && r.Parse(d.Payload) == nil && r.Security
	}},
}

const (
	complaint      = "_ws.expert.message" // the field with what is wrong
	exception      = "Malformed Packet (Exception occurred)"
	unknownID      = "RakNet unknown message ID"
	noSubdissector = "RakNet message subdissector failed, trying the next candidate or heuristics"
	// Encrypted is what the dissector says of all datagrams after one with a cookie.
	Encrypted = "RakNet encrypted message"
)

// fields is what the dissector is asked for: its complaints, and the values that both sides read.
var fields = []string{
	complaint, "raknet.offline.message.id", "raknet.proto_ver", "raknet.MTU", "raknet.cookie", "raknet.packet_number",
	"raknet.message.reliability", "raknet.payload.length", "raknet.reliable.number", "raknet.sequencing.index", "raknet.ordering.index",
	"raknet.ordering.channel", "raknet.split.count", "raknet.split.id", "raknet.split.index", "raknet.NACK.record_count",
	"raknet.range.packet_number.min", "raknet.range.packet_number.max", "raknet.fragment.count", "udp.port",
}

// A Sight is what the dissector reads in a datagram: the values of some fields by their names, several of one name with semicolons
// between.
type Sight map[string]string

// List returns the values of a field.
func (s Sight) List(field string) []string {
	if s[field] == "" {
		return nil
	}
	return strings.Split(s[field], ";")
}

// Complaints returns what the dissector says against a datagram, other than by its known faults.
func (s Sight) Complaints(d Datagram) []string {
	// What it makes of a port in the range of traceroute says nothing about the datagram.
	c := slices.DeleteFunc(s.List(complaint), func(c string) bool { return strings.HasPrefix(c, "Possible traceroute") })
	if len(c) > 0 && !excused(d, c) {
		return c
	}
	return nil
}

// Dispute compares what the dissector reads with what this library reads in the same datagram, and returns the difference or "". Of
// an unpassworded connection request, and what follows it, the dissector shows the header only.
func (s Sight) Dispute(d Datagram) string {
	if slices.Contains(s.List(complaint), exception) {
		return ""
	}
	want := sight(d.Payload)
	for field, value := range want {
		if s[field] != value {
			return fmt.Sprintf("of %s tshark reads %q, this library %q", field, s[field], value)
		}
	}
	return ""
}

// Tshark says whether the dissector is there.
func Tshark() bool {
	_, err := exec.LookPath("tshark")
	return err == nil
}

// Dissect lets the dissector read datagrams of which one side has the port given.
func Dissect(dir string, port uint16, datagrams []Datagram) ([]Sight, error) {
	file := filepath.Join(dir, "own.pcap")
	var pcap bytes.Buffer
	if err := WritePcap(&pcap, datagrams); err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, pcap.Bytes(), 0o600); err != nil {
		return nil, err
	}
	args := []string{"-n", "-r", file, "-T", "fields", "-E", "separator=/t", "-E", "aggregator=;", "-d", fmt.Sprintf("udp.port==%d,raknet", port),
		"--disable-protocol", "mcpe"}
	for _, f := range fields {
		args = append(args, "-e", f)
	}
	cmd := exec.Command("tshark", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("tshark: %w\n%s", err, &stderr)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(datagrams) {
		return nil, fmt.Errorf("tshark shows %d frames of %d\n%s", len(lines), len(datagrams), &stderr)
	}
	sights := make([]Sight, 0, len(lines))
	for _, line := range lines {
		s := Sight{}
		for i, value := range strings.Split(line, "\t") {
			s[fields[i]] = value
		}
		sights = append(sights, s)
	}
	return sights, nil
}

// CapturesVariable names the environment variable with the directory into which the captures of failed conversations are written.
const CapturesVariable = "RAKNET_INTEROP_CAPTURES"

// Dissected is the name under which it is told that the dissector agrees.
const Dissected = "what we send is read alike by a packet dissector"

// dissect lets the dissector read everything that this library sent in the conversations. What holds a cookie is left out, since a
// cookie makes the dissector take all that follows for encrypted: another test reads cookies.
func (k *talk) dissect(t testing.TB) {
	if !Full() {
		return
	}
	if dir := os.Getenv(CapturesVariable); dir != "" && t.Failed() {
		all, _ := k.capture.Datagrams()
		var pcap bytes.Buffer
		if err := WritePcap(&pcap, all); err != nil {
			t.Error(err)
		} else if err := os.WriteFile(filepath.Join(dir, k.results.report.fileName()+".pcap"), pcap.Bytes(), 0o644); err != nil {
			t.Error(err)
		}
	}
	datagrams := k.sent()
	if !Tshark() || len(datagrams) == 0 {
		t.Errorf("%d datagrams for tshark (there: %v)", len(datagrams), Tshark())
		return
	}
	slots <- struct{}{}
	defer func() { <-slots }()
	sights, err := Dissect(t.TempDir(), capturePort, datagrams)
	if err != nil {
		t.Error(err)
		return
	}
	wrong := 0
	for i, s := range sights {
		c, dispute := s.Complaints(datagrams[i]), s.Dispute(datagrams[i])
		if len(c) == 0 && dispute == "" {
			continue
		}
		if wrong++; wrong <= 5 {
			t.Errorf("tshark says %q about %.64x (%d bytes) %s", c, datagrams[i].Payload, len(datagrams[i].Payload), dispute)
		}
	}
	t.Logf("tshark read %d datagrams", len(sights))
	k.results.note(Dissected, Result{OK: wrong == 0})
}

// sent returns what this library sent, but for packets with cookies.
func (k *talk) sent() []Datagram {
	all, ours := k.capture.Datagrams()
	cookies := map[netip.AddrPort]bool{} // the dialers that were sent one
	var sent []Datagram
	for i, d := range all {
		var reply wire.OpenReply1
		if reply.Parse(d.Payload) == nil && reply.Security {
			cookies[d.To] = true
			continue
		}
		if d.Payload[0] == byte(protocol.IDOpenConnectionRequest2) && cookies[d.From] {
			continue
		}
		if ours[i] {
			sent = append(sent, d)
		}
	}
	return sent
}

func excused(d Datagram, complaints []string) bool {
	for _, f := range dissectorFaults {
		if f.covers(d, complaints) {
			return true
		}
	}
	return false
}

func hasMessage(d Datagram, id protocol.ID) bool {
	_, frames, err := wire.ParseDatagramHeader(d.Payload)
	if err != nil {
		return false
	}
	var f wire.Frame
	for it := wire.Frames(frames); it.Next(&f); {
		if protocol.ID(f.Payload[0]) == id {
			return true
		}
	}
	return false
}

// sight is what this library's codecs read in a datagram, in the dissector's terms.
func sight(b []byte) Sight {
	r := Sight{}
	add := func(field string, v any) {
		if r[field] != "" {
			r[field] += ";"
		}
		r[field] += fmt.Sprint(v)
	}
	switch wire.Classify(b) {
	case wire.KindOffline:
		add("raknet.offline.message.id", fmt.Sprintf("0x%02x", b[0]))
		var one wire.OpenRequest1
		var reply1 wire.OpenReply1
		var two wire.OpenRequest2
		var reply2 wire.OpenReply2
		switch {
		case one.Parse(b) == nil:
			add("raknet.proto_ver", one.Version)
		case reply1.Parse(b) == nil:
			add("raknet.MTU", reply1.MTU)
		case two.Parse(b, false) == nil:
			add("raknet.MTU", two.MTU)
		case reply2.Parse(b) == nil:
			add("raknet.MTU", reply2.MTU)
		}
	case wire.KindACK, wire.KindNACK:
		it, err := wire.ParseRanges(b)
		if err != nil {
			return Sight{"raknet.NACK.record_count": err.Error()}
		}
		add("raknet.NACK.record_count", it.Count())
		for {
			g, ok := it.Next()
			if !ok {
				break
			}
			add("raknet.range.packet_number.min", g.First)
			if g.First != g.Last {
				add("raknet.range.packet_number.max", g.Last)
			}
		}
	case wire.KindFrameSet:
		number, frames, _ := wire.ParseDatagramHeader(b)
		add("raknet.packet_number", number)
		it := wire.Frames(frames)
		for f := (wire.Frame{}); it.Next(&f); {
			add("raknet.message.reliability", strconv.Itoa(int(f.Reliability)))
			add("raknet.payload.length", f.Bits)
			if f.Reliability.IsReliable() {
				add("raknet.reliable.number", f.Reliable)
			}
			if f.Reliability.IsSequenced() {
				add("raknet.sequencing.index", f.Sequence)
			}
			if f.Reliability.HasChannel() {
				add("raknet.ordering.index", f.Order)
				add("raknet.ordering.channel", f.Channel)
			}
			if f.Split {
				add("raknet.split.count", f.SplitCount)
				add("raknet.split.id", f.SplitID)
				add("raknet.split.index", f.SplitIndex)
			}
		}
		if err := it.Err(); err != nil {
			return Sight{"raknet.packet_number": err.Error() + ": " + hex.EncodeToString(b)}
		}
	default:
		return Sight{"raknet.packet_number": "nothing"}
	}
	return r
}
