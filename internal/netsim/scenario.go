package netsim

import (
	"fmt"
	"strings"
	"time"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/pool"
	"github.com/raknet-go/raknet/protocol"
)

// Scenario is everything that happens in a World. Generate draws one from a seed; tests
// with a plan of their own fill it in and call Prepare.
type Scenario struct {
	Seed    uint64
	Clients []ClientPlan
	Cookies bool // the server demands them
	// ServerMTU is the largest MTU that the server grants; 0: the protocol's.
	ServerMTU int
	// HalfOpen and HalfOpenPerIP bound half-open connections; 0: the defaults.
	HalfOpen, HalfOpenPerIP int
	// MaxConnections bounds the server's connections; 0: none.
	MaxConnections int
	// OneIP puts all clients behind one address.
	OneIP     bool
	Strangers Strangers
	// Limits hold for every connection at both ends.
	Limits arq.Limits
	Start  Start
	// Window, if not 0, is the congestion window of every connection in datagrams, fixed.
	Window int
	// EpochMilli is what the server's clock adds to its time stamps.
	EpochMilli int64
	// Budget is how many datagrams a connection sends in one turn; 0: any number.
	Budget int
}

// Start is where the counters of every connection start.
type Start struct {
	Datagram, Reliable, Order int64
	Split                     uint16
}

// ClientPlan is what one client does, and what its path to the server does to it.
type ClientPlan struct {
	Up, Down    Link // to the server, and back
	Faults      []Fault
	DialAt      time.Duration
	DialFor     time.Duration // patience with the offline handshake; 0: a minute
	Redials     int           // connections after the first
	RedialAfter time.Duration
	Version     byte // 0: the newest
	MTU         int  // largest probe; 0: the protocol's
	EpochMilli  int64
	ToServer    Workload
	ToClient    Workload
	End         End

	excuse excuse
}

// End is how a connection is to end.
type End struct {
	Server bool // it is the server's end that acts
	When   EndWhen
	At     time.Duration // not 0: so long after the client is connected, instead of When
	Idle   time.Duration // EndWhenDelivered: and so long after that
	How    EndHow
}

// EndWhen says when a connection ends by itself.
type EndWhen uint8

// The moments.
const (
	EndWhenDelivered EndWhen = iota // everything was delivered
	EndWhenSent                     // the acting end has just sent its last message
)

// EndHow says how a connection ends.
type EndHow uint8

// The ways.
const (
	HowClose  EndHow = iota // in good order
	HowAbort                // at once
	HowBoth                 // both ends close in good order at the same moment
	HowVanish               // the client stops without a word
)

var endNames = [...]string{"closes", "aborts", "and the other close", "vanishes"}

// Prepare fills in what follows from the rest. It must be called after every change.
func (s *Scenario) Prepare() {
	for i := range s.Clients {
		c := &s.Clients[i]
		if c.DialFor == 0 {
			c.DialFor = time.Minute
		}
		for _, l := range []*Workload{&c.ToServer, &c.ToClient} {
			if l.Messages > 0 && len(l.Modes) == 0 {
				l.Modes = []protocol.Reliability{protocol.ReliableOrdered}
			}
			l.BigSize = max(l.BigSize, 1)
		}
	}
	for i := range s.Clients {
		s.Clients[i].excuse = s.excuseOf(i)
	}
}

func (s *Scenario) excuseOf(i int) excuse {
	c := &s.Clients[i]
	x := excuse{loss: max(c.Up.loss(), c.Down.loss()), vanishes: c.End.How == HowVanish}
	x.damaged = c.Up.damages() || c.Down.damages()
	x.crowded = s.HalfOpen > 0 || s.HalfOpenPerIP > 0 || s.MaxConnections > 0
	x.tight = s.Limits.HeldMessages > 0 || s.Limits.ReassemblyGroups > 0
	for n := range s.Clients {
		// A pause of the server is everybody's.
		for _, f := range s.Clients[n].Faults {
			if f.Kind == FaultPauseServer {
				x.pause += f.For
			}
		}
	}
	dark := time.Duration(0)
	for _, f := range c.Faults {
		switch f.Kind {
		case FaultBlackout, FaultBlackoutUp, FaultBlackoutDown:
			x.blackout = true
			if dark += f.For; f.For == 0 {
				dark = time.Hour
			}
		case FaultRebind:
			x.rebind = true
		case FaultPauseClient:
			x.pause += f.For
		case FaultDeafClient, FaultDeafServer:
			x.deaf = true
		case FaultMTU:
			x.mtu = true
		}
	}
	x.partition = dark > 4*time.Second
	return x
}

func (s *Scenario) anyDamage() bool {
	for i := range s.Clients {
		if s.Clients[i].excuse.damaged {
			return true
		}
	}
	return false
}

// loss is the share of datagrams that the link loses in the long run, or in the long run
// of a burst: one that outlasts a second of resends does as much harm.
func (l *Link) loss() float64 {
	pass := 1 - l.Loss
	if b := l.Burst; b != nil && b.ToBad+b.ToGood > 0 {
		bad := b.ToBad / (b.ToBad + b.ToGood)
		pass *= 1 - bad*b.LossBad - (1-bad)*b.LossGood
		pass = min(pass, 1-(1-b.ToGood)*b.LossBad)
	}
	return 1 - pass
}

func (l *Link) damages() bool { return l.Corrupt > 0 || l.Truncate > 0 }

// biggest is the length of the longest message of all, roughly.
func (s *Scenario) biggest() int {
	n := 0
	for i := range s.Clients {
		for _, l := range []*Workload{&s.Clients[i].ToServer, &s.Clients[i].ToClient} {
			n = max(n, l.Size+headerSize, l.BigSize+headerSize)
		}
	}
	return n
}

// biggestKept is the memory that the longest message may take on its way to an application over a path of this MTU: that of the buffers that
// its fragments lie in, and of the lists of them.
func (s *Scenario) biggestKept(mtu int) int {
	fragments := s.biggest()/arq.MaxFrame(mtu) + 2
	return fragments*(pool.ClassRead+pool.Overhead) + (fragments/pool.RefsLen+1)*3000
}

// transfer is how long a workload may take on a link, generously: eight times what the
// bandwidth says.
func (l *Link) transfer(bytes int) time.Duration {
	if l.Bandwidth <= 0 {
		return 0
	}
	return time.Duration(int64(bytes) * 8 * int64(time.Second) / l.Bandwidth)
}

// stuckAfter is how long a connection may get nothing reliable through.
func (s *Scenario) stuckAfter(c *ClientPlan) time.Duration {
	biggest := s.biggest() + 300<<10 // what may be queued in front of it
	return stuckTime + max(c.Up.transfer(biggest), c.Down.transfer(biggest))
}

// limit is when the scenario must have come to its end.
func (s *Scenario) limit() time.Duration {
	limit := 2 * time.Minute
	for i := range s.Clients {
		c := &s.Clients[i]
		one := c.DialFor + handshakeTime + c.RedialAfter + c.End.At + c.End.Idle + drainTime + farewellTime + lingerTime + 2*time.Minute + unackedTime
		up, down := c.ToServer.bytes(), c.ToClient.bytes()
		one += c.Up.transfer(up) + c.Down.transfer(down) + time.Duration(c.excuse.loss*float64(time.Second)*float64(up+down)/2000)
		for _, l := range []*Workload{&c.ToServer, &c.ToClient} {
			one += time.Duration(l.Messages) * l.Every
		}
		one *= time.Duration(1 + c.Redials)
		for _, f := range c.Faults {
			one += f.For
		}
		limit = max(limit, c.DialAt+one)
	}
	return limit
}

// String describes the scenario in a few lines.
func (s Scenario) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: cookies %v, server MTU %d, half-open %d/%d, max %d, one IP %v, budget %d, start %+v\n",
		s.Seed, s.Cookies, s.ServerMTU, s.HalfOpen, s.HalfOpenPerIP, s.MaxConnections, s.OneIP, s.Budget, s.Start)
	if s.Strangers.Datagrams > 0 {
		fmt.Fprintf(&b, "strangers: %+v\n", s.Strangers)
	}
	if s.Limits != (arq.Limits{}) {
		fmt.Fprintf(&b, "limits: %+v\n", s.Limits)
	}
	for i := range s.Clients {
		c := &s.Clients[i]
		fmt.Fprintf(&b, "client %d (%s): up %v; down %v\n", i, c.excuse.describe(), c.Up, c.Down)
		fmt.Fprintf(&b, "  dial at %v, %d redials after %v, version %d, MTU %d\n", c.DialAt, c.Redials, c.RedialAfter, c.Version, c.MTU)
		fmt.Fprintf(&b, "  to server %v\n  to client %v\n", c.ToServer, c.ToClient)
		who := "client"
		if c.End.Server {
			who = "server"
		}
		fmt.Fprintf(&b, "  %s %s, when %d, at %v, idle %v\n", who, endNames[c.End.How], c.End.When, c.End.At, c.End.Idle)
		for _, f := range c.Faults {
			fmt.Fprintf(&b, "  %v\n", f)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// String describes the workload.
func (l Workload) String() string {
	return fmt.Sprintf("%d messages, up to %d every %v, %d bytes, %.3g of %d, modes %d, %d channels, receipts %v",
		l.Messages, l.Burst, l.Every, l.Size, l.Big, l.BigSize, l.Modes, l.Channels, l.Receipts)
}
