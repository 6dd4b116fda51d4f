package dialect

import (
	"encoding/binary"
	"net"
	"net/netip"
	"time"

	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// Client is a peer that dials. It sends every message of an application back in the mode and on the channel it came in,
// and closes the connection in its own way when "bye" comes.
type Client struct {
	h    *Habits
	pc   net.PacketConn
	to   netip.AddrPort
	done chan struct{}

	probe     int       // sent of requests 1
	asked     time.Time // when the last request left
	reply1    *wire.OpenReply1
	mtu       int
	requests2 int

	// The rest may be read when Wait has returned.

	Conn     *Conn // nil: the offline handshake did not end
	Mismatch byte  // the version of a 0x19
	Refused  byte  // the identifier of a refusal
}

// Dial plays a client at pc until that is closed.
func Dial(h Habits, pc net.PacketConn, to netip.AddrPort) *Client {
	c := &Client{h: &h, pc: pc, to: to, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.tick()
		loop(c.pc, c.h.Slow, func(b []byte, from netip.AddrPort) {
			if from == to {
				c.take(b)
			}
		}, c.tick)
	}()
	return c
}

// Wait returns when the client has ended.
func (c *Client) Wait() { <-c.done }

func (c *Client) send(b []byte) { _, _ = c.pc.WriteTo(b, net.UDPAddrFromAddrPort(c.to)) }

func (c *Client) tick() {
	interval := c.h.Interval
	if interval == 0 {
		interval = 500 * time.Millisecond
	}
	switch {
	case c.Conn != nil:
		c.Conn.tick()
	case c.Mismatch != 0 || c.Refused != 0 || time.Since(c.asked) < interval:
	case c.reply1 != nil:
		c.request2()
	default:
		c.asked = time.Now()
		probes := c.h.Probes
		if probes == nil {
			probes = protocol.ProbeMTUs[:]
		}
		c.mtu = probes[min(c.probe, len(probes)-1)]
		c.probe++
		r := wire.OpenRequest1{Version: c.h.Version, MTU: c.mtu}
		c.send(r.Append(nil))
	}
}

// request2 asks for the connection. A client that knows no cookies writes none, and may take the
// cookie's first half for the MTU.
func (c *Client) request2() {
	c.asked = time.Now()
	b := wire.AppendMagic([]byte{byte(protocol.IDOpenConnectionRequest2)})
	mtu := min(c.reply1.MTU, c.mtu)
	if c.reply1.Security {
		if c.h.NoCookies {
			mtu = int(c.reply1.Cookie >> 16)
		} else {
			b = append(binary.BigEndian.AppendUint32(b, c.reply1.Cookie), 0)
		}
	}
	c.requests2++
	b = c.h.address(b, c.to)
	b = binary.BigEndian.AppendUint16(b, uint16(mtu))
	b = binary.BigEndian.AppendUint64(b, uint64(c.h.guid()))
	c.send(append(b, c.h.Trailing...))
}

func (c *Client) take(b []byte) {
	if c.Conn != nil {
		if b[0]&0x80 != 0 {
			c.Conn.receive(b)
		}
		return
	}
	var reply1 wire.OpenReply1
	var reply2 wire.OpenReply2
	var mismatch wire.IncompatibleVersion
	var refusal wire.Refusal
	switch {
	case reply1.Parse(b) == nil:
		if c.reply1 == nil {
			c.reply1 = &reply1
			c.request2()
		}
	case reply2.Parse(b) == nil:
		c.Conn = newConn(c.h, false, min(reply2.MTU, c.mtu), c.to, c.send, echo)
	case mismatch.Parse(b) == nil:
		c.Mismatch = mismatch.Version
	case refusal.Parse(b) == nil:
		c.Refused = refusal.ID
	}
}
