package interop_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/interop"
	"github.com/raknet-go/raknet/internal/interop/ours"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// The tests here let Wireshark's dissector, whose authors never saw this library, read what it sends.

// What the dissector (tshark 4.0.17) says about datagrams that are right. Everything else it complains about fails the test. Faults
// of its that don't show as complaints, because they only make it print wrong values: an IPv6 address is 28 bytes and it reads 18; it
// takes the times of 10 and 13 from behind ten internal addresses, whatever their number; out of band messages have the GUID before the magic.
// A retransmitted fragment is called an overlap. It calls pong data without a length malformed, which is what the original sends
// but not what this library does, and the original's own four zero bytes at startup.
var dissectorFaults = []struct {
	why    string
	covers func(d interop.Datagram, complaints []string) bool
}{
	{"a connection request without a password is called malformed", func(d interop.Datagram, c []string) bool {
		return slices.Equal(c, []string{exception}) && hasMessage(d, protocol.IDConnectionRequest)
	}},
	{"it doesn't know the disconnect, nor what applications send", func(d interop.Datagram, c []string) bool {
		return !slices.ContainsFunc(c, func(s string) bool { return s != unknownID && s != noSubdissector }) && wire.Classify(d.Payload) == wire.KindFrameSet
	}},
	{"security in reply 1 means the original's encryption to it, with a key behind the cookie", func(d interop.Datagram, c []string) bool {
		var r wire.OpenReply1
		return slices.Equal(c, []string{exception}) && r.Parse(d.Payload) == nil && r.Security
	}},
}

const (
	exception      = "Malformed Packet (Exception occurred)"
	unknownID      = "RakNet unknown message ID"
	noSubdissector = "RakNet message subdissector failed, trying the next candidate or heuristics"
	encrypted      = "RakNet encrypted message"
)

// Without cookies, since a cookie makes the dissector take all that follows for encrypted.
func TestDissectorReadsTheSame(t *testing.T) {
	datagrams := converse(t, true)
	saw := map[string]int{}
	for i, row := range dissect(t, datagrams) {
		d := datagrams[i]
		if complaints := row.list("_ws.expert.message"); len(complaints) > 0 && !excused(t, d, complaints) {
			t.Errorf("datagram %d: tshark says %q about %x", i, complaints, d.Payload)
		}
		if want := sight(d.Payload); !row.agrees(want) {
			t.Errorf("datagram %d: %x\ntshark reads %v\nthis library reads %v", i, d.Payload, row, want)
		}
		saw[row["raknet.offline.message.id"]]++
		for _, mode := range row.list("raknet.message.reliability") {
			saw["mode "+mode]++
		}
		if strings.Contains(row["raknet.fragment.count"], "70") {
			saw["reassembled"]++
		}
	}
	for _, want := range []string{"0x01", "0x1c", "0x05", "0x06", "0x07", "0x08", "mode 0", "mode 1", "mode 2", "mode 3", "mode 4", "reassembled"} {
		if saw[want] == 0 {
			t.Errorf("tshark saw nothing of %q; it saw %v", want, saw)
		}
	}
}

func TestDissectorReadsCookies(t *testing.T) {
	datagrams := converse(t, false)
	var sent, returned string
	for i, row := range dissect(t, datagrams) {
		d := datagrams[i]
		complaints := row.list("_ws.expert.message")
		if wire.Classify(d.Payload) != wire.KindOffline {
			if !slices.Equal(complaints, []string{encrypted}) {
				t.Errorf("datagram %d: tshark says %q about %x", i, complaints, d.Payload)
			}
			continue
		}
		if len(complaints) > 0 && !excused(t, d, complaints) {
			t.Errorf("datagram %d: tshark says %q about %x", i, complaints, d.Payload)
		}
		switch row["raknet.offline.message.id"] {
		case "0x06":
			sent = row["raknet.cookie"]
		case "0x07":
			returned = row["raknet.cookie"]
		}
	}
	if sent == "" || sent != returned {
		t.Errorf("tshark reads the cookie %q in reply 1 and %q in request 2", sent, returned)
	}
}

// converse records what a connection with a little of everything looks like.
func converse(t *testing.T, noCookies bool) []interop.Datagram {
	if _, err := exec.LookPath("tshark"); err != nil {
		interop.Missing(t, "tshark", "install the package of that name")
	}
	var recorder interop.Recorder
	server := ours.Peer{NoCookies: noCookies, Recorder: &recorder}
	client := ours.Peer{}
	l, port := server.Listen(t, interop.Options{Pong: "MCPE;recorded;"})
	interop.Await(t, "ping", client.Ping(t, port), interop.Pong, 5*time.Second)
	d := client.Dial(t, port, interop.Options{})
	interop.Await(t, "dialer", d, interop.Connected, 5*time.Second)
	interop.Await(t, "listener", l, interop.Connected, 5*time.Second)
	l.Echo(3, 5)
	for mode := byte(0); mode <= 4; mode++ {
		// One after the other: a sequenced message may be passed over when a newer one comes first.
		for i := range uint32(3) {
			d.Send(interop.Burst{Size: 20 + int(i), Seed: i, Count: 1, Reliability: mode, Channel: mode})
			interop.Await(t, "echo", d, interop.Message, 5*time.Second)
		}
	}
	d.Send(interop.Burst{Size: 100_000, Count: 1, Reliability: 3})
	interop.Await(t, "echo", d, interop.Message, 10*time.Second)
	d.Close()
	interop.AwaitEnd(t, "listener", l, 5*time.Second)
	return recorder.Datagrams()
}

// fields is what the dissector is asked for: its complaints, and the values that both sides read.
var fields = []string{
	"_ws.expert.message", "raknet.offline.message.id", "raknet.proto_ver", "raknet.MTU", "raknet.cookie", "raknet.packet_number",
	"raknet.message.reliability", "raknet.payload.length", "raknet.reliable.number", "raknet.sequencing.index", "raknet.ordering.index",
	"raknet.ordering.channel", "raknet.split.count", "raknet.split.id", "raknet.split.index", "raknet.NACK.record_count",
	"raknet.range.packet_number.min", "raknet.range.packet_number.max", "raknet.fragment.count", "udp.port",
}

type row map[string]string

func (r row) list(field string) []string {
	if r[field] == "" {
		return nil
	}
	return strings.Split(r[field], ";")
}

// agrees compares what is in want. Of an unpassworded connection request, and what follows it, the dissector shows the header only.
func (r row) agrees(want row) bool {
	for field, value := range want {
		if r[field] != value && !slices.Contains(r.list("_ws.expert.message"), exception) {
			return false
		}
	}
	return true
}

func dissect(t *testing.T, datagrams []interop.Datagram) []row {
	t.Helper()
	file := filepath.Join(t.TempDir(), "own.pcap")
	var pcap bytes.Buffer
	if err := interop.WritePcap(&pcap, datagrams); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, pcap.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-n", "-r", file, "-T", "fields", "-E", "separator=/t", "-E", "aggregator=;"}
	args = append(args, "-d", fmt.Sprintf("udp.port==%d,raknet", datagrams[0].To.Port())) // the first is a ping to the server
	for _, f := range fields {
		args = append(args, "-e", f)
	}
	cmd := exec.Command("tshark", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tshark: %v\n%s", err, &stderr)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(datagrams) {
		t.Fatalf("tshark shows %d frames of %d\n%s", len(lines), len(datagrams), &stderr)
	}
	var rows []row
	for _, line := range lines {
		r := row{}
		for i, value := range strings.Split(line, "\t") {
			r[fields[i]] = value
		}
		rows = append(rows, r)
	}
	return rows
}

func excused(t *testing.T, d interop.Datagram, complaints []string) bool {
	for _, f := range dissectorFaults {
		if f.covers(d, complaints) {
			return true
		}
	}
	return false
}

func hasMessage(d interop.Datagram, id protocol.ID) bool {
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
func sight(b []byte) row {
	r := row{}
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
			return row{"raknet.NACK.record_count": err.Error()}
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
			return row{"raknet.packet_number": err.Error() + ": " + hex.EncodeToString(b)}
		}
	default:
		return row{"raknet.packet_number": "nothing"}
	}
	return r
}
