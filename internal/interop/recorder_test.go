package interop

import (
	"bytes"
	"encoding/hex"
	"net"
	"net/netip"
	"testing"
	"time"
)

func TestRecorderNotesBothDirections(t *testing.T) {
	var r Recorder
	server, err := r.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	client, err := net.Dial("udp4", server.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	client.Write([]byte("there"))
	b := make([]byte, 100)
	server.SetReadDeadline(time.Now().Add(5 * time.Second))
	n, from, err := server.ReadFrom(b)
	if err != nil {
		t.Fatal(err)
	}
	server.WriteTo(append(b[:n:n], " and back"...), from)

	got := r.Datagrams()
	if len(got) != 2 || string(got[0].Payload) != "there" || string(got[1].Payload) != "there and back" {
		t.Fatalf("recorded %v", got)
	}
	if got[0].From != got[1].To || got[0].To != got[1].From || got[0].From.String() != client.LocalAddr().String() {
		t.Fatalf("the ends are %v -> %v and %v -> %v", got[0].From, got[0].To, got[1].From, got[1].To)
	}
}

func TestWritePcap(t *testing.T) {
	var file bytes.Buffer
	err := WritePcap(&file, []Datagram{{
		Time: time.Unix(0x01020304, 5_000), From: netip.MustParseAddrPort("127.0.0.1:258"), To: netip.MustParseAddrPort("127.0.0.2:772"), Payload: []byte{0xc0, 1},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := "d4c3b2a1 0200 0400 00000000 00000000 00000100 65000000" + // file
		"04030201 05000000 1e000000 1e000000" + // packet
		"45 00 001e 0000 4000 40 11 3ccc 7f000001 7f000002" + // IP
		"0102 0304 000a 0000 c001"
	if got := hex.EncodeToString(file.Bytes()); got != hex.EncodeToString(unhex(t, want)) {
		t.Fatalf("got  %s\nwant %s", got, hex.EncodeToString(unhex(t, want)))
	}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(string(bytes.ReplaceAll([]byte(s), []byte(" "), nil)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
