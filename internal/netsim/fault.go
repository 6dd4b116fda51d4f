package netsim

import (
	"fmt"
	"time"
)

// Fault is something that happens to a client at a time, and maybe ends.
type Fault struct {
	Kind FaultKind
	At   time.Duration // after the start of the world
	For  time.Duration // 0: for ever
}

// FaultKind says what.
type FaultKind uint8

// The kinds of faults.
const (
	FaultBlackout     FaultKind = iota // nothing passes
	FaultBlackoutUp                    // nothing passes to the server
	FaultBlackoutDown                  // nothing passes to the client
	FaultRebind                        // a NAT gives the client another address
	FaultPauseClient                   // the client's process sleeps
	FaultPauseServer                   // the server's process sleeps
	FaultDeafClient                    // the client's application does not read
	FaultDeafServer                    // the server's application does not read
	FaultMTU                           // full datagrams vanish
	FaultDelay                         // the path becomes 150 ms longer each way
	faultKinds
)

var faultNames = [...]string{"blackout", "blackout up", "blackout down", "rebind", "client pauses", "server pauses",
	"client does not read", "server does not read", "mtu shrinks", "path grows"}

// String describes the fault.
func (f Fault) String() string {
	return fmt.Sprintf("%s at %v for %v", faultNames[f.Kind], f.At, f.For)
}

// fault begins or ends a fault.
func (c *client) fault(arg int) {
	f, end := &c.plan.Faults[arg>>1], arg&1 == 1
	if c.w.trace != nil {
		c.w.note("client %d: %v, end %v", c.id, f, end)
	}
	switch f.Kind {
	case FaultBlackout, FaultBlackoutUp, FaultBlackoutDown:
		d := 1
		if end {
			d = -1
		}
		if f.Kind != FaultBlackoutDown {
			c.cut[0] += d
		}
		if f.Kind != FaultBlackoutUp {
			c.cut[1] += d
		}
	case FaultRebind:
		if c.peer != nil {
			c.peer.moved = true
			if s := c.peer.pair.server; s != nil {
				s.moved = true
			}
			c.move()
		}
	case FaultPauseClient:
		if !end {
			c.host.pause(c.w.now.Add(f.For))
		}
	case FaultPauseServer:
		if !end {
			c.w.server.host.pause(c.w.now.Add(f.For))
		}
	case FaultDeafClient, FaultDeafServer:
		if c.peer == nil {
			return
		}
		p := c.peer
		if f.Kind == FaultDeafServer {
			p = p.pair.server
		}
		if p != nil && !p.gone {
			p.app.deaf = !end
			if end && !p.host.paused {
				p.turn(false)
			}
		}
	case FaultMTU:
		c.links[0].MTU, c.links[1].MTU = 600, 600
		if end {
			c.links[0].MTU, c.links[1].MTU = c.plan.Up.MTU, c.plan.Down.MTU
		}
	case FaultDelay:
		for i, l := range []*Link{&c.plan.Up, &c.plan.Down} {
			c.links[i].Delay = l.Delay + 150*time.Millisecond
			if end {
				c.links[i].Delay = l.Delay
			}
		}
	}
	for i, p := range []*Pipe{c.up, c.down} {
		l := c.links[i]
		if c.cut[i] > 0 {
			l.Loss = 1
		}
		p.SetLink(l)
	}
}
