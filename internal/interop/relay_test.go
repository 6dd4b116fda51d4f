package interop

import (
	"net"
	"testing"
	"time"
)

// A path without faults carries everything in order, both ways, and the capture tells who sent what.
func TestACleanRelayCarriesEverything(t *testing.T) {
	server, client, c := relayed(t, Clean)
	for i := range byte(100) {
		write(t, client, server.LocalAddr(), i)
		b, from := read(t, server)
		if b != i {
			t.Fatalf("datagram %d arrived as %d", i, b)
		}
		if _, err := server.WriteTo([]byte{b + 100}, from); err != nil {
			t.Fatal(err)
		}
		if b, _ := read(t, client); b != i+100 {
			t.Fatalf("the answer to %d arrived as %d", i, b)
		}
	}
	datagrams, ours := c.Datagrams()
	if len(datagrams) != 200 {
		t.Fatalf("%d datagrams are recorded, want 200", len(datagrams))
	}
	for i, d := range datagrams {
		if ours[i] != (d.Payload[0] >= 100) {
			t.Fatalf("datagram %d (%v) has the wrong sender", i, d.Payload)
		}
	}
}

// A bad path loses some, and lets some come late; what is recorded is what was sent.
func TestALossyRelayLosesAndDelays(t *testing.T) {
	server, client, c := relayed(t, Path{Loss: 0.2, Late: 0.3})
	const sent = 200
	for i := range byte(sent) {
		write(t, client, server.LocalAddr(), i)
		time.Sleep(time.Millisecond)
	}
	arrived, overtaken, last := 0, 0, -1
	for {
		if err := server.SetReadDeadline(time.Now().Add(2 * time.Second)); err != nil {
			t.Fatal(err)
		}
		var b [10]byte
		if _, _, err := server.ReadFrom(b[:]); err != nil {
			break
		}
		arrived++
		if int(b[0]) < last {
			overtaken++
		}
		last = max(last, int(b[0]))
	}
	if arrived == 0 || arrived == sent {
		t.Fatalf("%d of %d datagrams arrived", arrived, sent)
	}
	if overtaken == 0 {
		t.Fatal("no datagram was overtaken")
	}
	if datagrams, _ := c.Datagrams(); len(datagrams) != sent {
		t.Fatalf("%d datagrams are recorded, want %d", len(datagrams), sent)
	}
}

// Nothing is lost before a relay is told to begin.
func TestACalmRelayLosesNothing(t *testing.T) {
	server, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	r := Path{Loss: 1}.Relay(t, nil, Side{})
	r.Point(Options{}, server.LocalAddr().(*net.UDPAddr).Port)
	r.Calm(true)
	client, err := net.Dial("udp4", r.front.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Write([]byte{7}); err != nil {
		t.Fatal(err)
	}
	if b, _ := read(t, server); b != 7 {
		t.Fatalf("got %d", b)
	}
}

func relayed(t *testing.T, p Path) (server, client net.PacketConn, c *Capture) {
	t.Helper()
	server, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	c = &Capture{}
	r := p.Relay(t, c, Side{Listener: true})
	r.Point(Options{}, server.LocalAddr().(*net.UDPAddr).Port)
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return server, through{conn, r.front.LocalAddr()}, c
}

// through is a socket that writes to one address, whatever it is told.
type through struct {
	net.PacketConn
	to net.Addr
}

func (c through) WriteTo(b []byte, _ net.Addr) (int, error) { return c.PacketConn.WriteTo(b, c.to) }

func write(t *testing.T, c net.PacketConn, to net.Addr, b byte) {
	t.Helper()
	if _, err := c.WriteTo([]byte{b}, to); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, c net.PacketConn) (byte, net.Addr) {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	var b [10]byte
	_, from, err := c.ReadFrom(b[:])
	if err != nil {
		t.Fatal(err)
	}
	return b[0], from
}
