package netsim

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/protocol"
)

// dice draws the parts of a scenario.
type dice struct{ *rand.Rand }

// Generate draws a scenario from a seed: mostly one client, sometimes several; paths from
// perfect to dreadful; every mode of delivery; faults; ends of all kinds. link, if not nil,
// takes the place of every path.
func Generate(seed uint64, link *Link) Scenario {
	d := dice{rand.New(rand.NewPCG(seed, 0x67656e))}
	s := Scenario{Seed: seed, Cookies: d.chance(0.8), EpochMilli: d.epoch()}
	if d.chance(0.5) {
		s.Start = d.start()
	}
	if d.chance(0.3) {
		s.Budget = 1 << d.IntN(7)
	}
	if d.chance(0.15) {
		s.ServerMTU = d.between(protocol.MinMTU, protocol.MaxMTU)
	}
	clients := 1
	if d.chance(0.4) {
		clients = d.between(2, 6)
	}
	if d.chance(0.2) {
		s.Limits = d.limits()
	}
	if d.chance(0.15) {
		s.Strangers = Strangers{Datagrams: d.between(20, 600), Every: d.duration(time.Millisecond, 50*time.Millisecond),
			Hosts: d.between(1, 40), Finish: d.Float64()}
		if d.chance(0.3) {
			s.HalfOpen, s.HalfOpenPerIP = d.between(1, 8), d.between(1, 4)
			s.OneIP = d.chance(0.5)
		}
	}
	if clients > 1 && d.chance(0.1) {
		s.MaxConnections = d.between(1, clients)
	}
	for range clients {
		s.Clients = append(s.Clients, d.client(&s, clients, link))
	}
	s.Prepare()
	return s
}

func (d dice) chance(p float64) bool      { return d.Float64() < p }
func (d dice) between(low, high int) int  { return low + d.IntN(high-low+1) }
func (d dice) share(high float64) float64 { return d.Float64() * high }

// duration is spread evenly over the orders of magnitude.
func (d dice) duration(low, high time.Duration) time.Duration {
	return time.Duration(float64(low) * math.Pow(float64(high)/float64(low), d.Float64()))
}

// epoch is what a wall clock may show that was set right, wrong, or jumped.
func (d dice) epoch() int64 {
	switch d.IntN(5) {
	case 0:
		return 0
	case 1:
		return d.Int64() // beyond every calendar, so that sums overflow
	case 2:
		return -d.Int64()
	}
	return 1_760_000_000_000 + d.Int64N(7_200_000) - 3_600_000
}

func (d dice) start() Start {
	near := func() int64 { return 1<<24 - 1 - d.Int64N(300) }
	return Start{Datagram: near(), Reliable: near(), Order: near(), Split: uint16(1<<16 - 1 - d.IntN(8))}
}

func (d dice) limits() arq.Limits {
	var l arq.Limits
	if d.chance(0.5) {
		l.SendBuffer = d.between(20<<10, 200<<10)
	}
	if d.chance(0.5) {
		l.ReceiveBuffer = d.between(8<<10, 100<<10)
	}
	if d.chance(0.5) {
		l.HeldMessages, l.HeldBytes = d.between(4, 100), d.between(4<<10, 100<<10)
	}
	if d.chance(0.5) {
		l.ReassemblyBytes, l.ReassemblyGroups = 512<<10, d.between(1, 4)
	}
	return l
}

func (d dice) client(s *Scenario, clients int, link *Link) ClientPlan {
	c := ClientPlan{EpochMilli: d.epoch(), DialAt: d.duration(time.Millisecond, 3*time.Second)}
	c.Up = d.link()
	c.Down = c.Up
	if d.chance(0.4) {
		c.Down = d.link()
	}
	if link != nil {
		c.Up, c.Down = *link, *link
	}
	if d.chance(0.15) {
		mtu := d.between(protocol.MinMTU+200, protocol.MaxMTU)
		c.Up.MTU, c.Down.MTU = mtu, mtu
	}
	switch d.IntN(6) {
	case 0:
		c.Version = protocol.VersionPre1_19
	case 1:
		c.MTU = d.between(protocol.MinMTU, protocol.MaxMTU)
	}
	budget := 300 << 10
	for _, l := range []*Link{&c.Up, &c.Down} {
		if l.Bandwidth > 0 {
			budget = min(budget, int(l.Bandwidth)*6)
		}
	}
	budget /= (clients + 1) / 2
	c.ToServer, c.ToClient = d.workload(s, budget), d.workload(s, budget)
	if d.chance(0.1) {
		c.ToServer.Messages = 0
	}
	if d.chance(0.1) {
		c.ToClient.Messages = 0
	}
	c.End = d.end()
	if d.chance(0.25) {
		c.Redials, c.RedialAfter = d.between(1, 2), d.duration(time.Millisecond, 5*time.Second)
	}
	for d.chance(0.3) {
		c.Faults = append(c.Faults, d.fault())
	}
	if s.Limits.ReceiveBuffer > 0 && d.chance(0.6) {
		c.Faults = append(c.Faults, Fault{FaultDeafClient + FaultKind(d.IntN(2)), d.duration(300*time.Millisecond, 3*time.Second), d.duration(time.Second, 15*time.Second)})
	}
	return c
}

func (d dice) link() Link {
	l := Link{Delay: d.duration(50*time.Microsecond, 150*time.Millisecond)}
	if d.chance(0.5) {
		l.Jitter = d.duration(10*time.Microsecond, 30*time.Millisecond)
	}
	switch d.IntN(5) {
	case 0, 1:
		l.Loss = d.share(0.1)
	case 2:
		l.Loss = d.share(0.4)
	case 3:
		l.Burst = &GilbertElliott{ToBad: d.share(0.05), ToGood: 0.2 + d.share(0.7), LossGood: d.share(0.01), LossBad: 0.3 + d.share(0.7)}
	}
	if d.chance(0.2) {
		l.Duplicate = d.share(0.3)
	}
	if d.chance(0.3) {
		l.Reorder, l.ReorderBy = d.share(0.3), d.duration(100*time.Microsecond, 200*time.Millisecond)
	}
	if d.chance(0.2) {
		l.Bandwidth = int64(d.duration(30_000, 5_000_000))
		l.Queue = d.between(8<<10, 256<<10)
	}
	if d.chance(0.02) {
		l.Corrupt = d.share(0.3)
	}
	if d.chance(0.02) {
		l.Truncate = d.share(0.3)
	}
	return l
}

func (d dice) workload(s *Scenario, budget int) Workload {
	l := Workload{Burst: 1 << d.IntN(6), Every: d.duration(time.Millisecond, 300*time.Millisecond), Channels: 1 + d.IntN(4),
		Receipts: d.chance(0.2)}
	if d.chance(0.1) {
		l.Channels = protocol.OrderingChannels
	}
	all := []protocol.Reliability{0, 1, 2, 3, 4, 5, 6, 7}
	if d.chance(0.3) {
		l.Modes = all[3:4]
	} else {
		d.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		l.Modes = all[:d.between(1, len(all))]
	}
	l.Size = d.between(headerSize+1, 60)
	if d.chance(0.4) {
		l.Size = d.between(60, 3000)
	}
	if d.chance(0.3) {
		l.Big, l.BigSize = d.share(0.05), d.between(5000, 200_000)
		if s.Limits.ReassemblyBytes > 0 || s.Limits.SendBuffer > 0 {
			l.BigSize = min(l.BigSize, 60_000)
		}
		l.BigSize = min(l.BigSize, budget)
	}
	per := l.Size/2 + 20 + int(l.Big*float64(l.BigSize)/2)
	l.Messages = min(d.between(1, 400), max(budget/per, 1))
	return l
}

func (d dice) end() End {
	e := End{Server: d.chance(0.4)}
	switch d.IntN(10) {
	case 0, 1, 2:
		e.When = EndWhenSent
	case 3, 4:
		e.At = d.duration(10*time.Millisecond, 20*time.Second)
	default:
		if d.chance(0.4) {
			e.Idle = d.duration(time.Second, 60*time.Second)
		}
	}
	switch d.IntN(10) {
	case 0:
		e.How = HowAbort
	case 1:
		e.How = HowBoth
	case 2:
		e.How = HowVanish
	}
	return e
}

func (d dice) fault() Fault {
	f := Fault{Kind: FaultKind(d.IntN(int(faultKinds))), At: d.duration(50*time.Millisecond, 20*time.Second)}
	switch f.Kind {
	case FaultRebind:
	case FaultPauseClient, FaultPauseServer:
		f.For = d.duration(100*time.Millisecond, 8*time.Second)
	case FaultDeafClient, FaultDeafServer:
		f.For = d.duration(100*time.Millisecond, 8*time.Second)
		if d.chance(0.3) {
			f.For = 30 * time.Second
		}
	default:
		f.For = d.duration(50*time.Millisecond, 4*time.Second)
		if d.chance(0.3) {
			f.For = d.duration(4*time.Second, 30*time.Second)
		}
	}
	return f
}
