package lab

import (
	"time"

	"github.com/raknet-go/raknet/internal/netsim"
	"github.com/raknet-go/raknet/protocol"
)

const (
	mbit = 1_000_000 / 8 // bytes a second

	oneWay = 25 * time.Millisecond
	// bdp is what 100 Mbit/s carry in a round trip of 50 ms.
	bdp = 100 * mbit * 50 / 1000
)

// game sends like a game server: 60 messages of 200 bytes a second. It is urgent, which
// only matters where it has company.
var game = Source{Every: time.Second / 60, Size: 200, Priority: protocol.PriorityImmediate}

// bulk sends as much as the connection takes.
func bulk(size int) Source { return Source{Size: size} }

func one(sources ...Source) []Flow { return []Flow{{Sources: sources}} }

// symmetric fills in both directions.
func symmetric(l netsim.Link, s Scenario) Scenario {
	s.Up, s.Down = l, l
	return s
}

var (
	clean  = netsim.Link{Delay: oneWay}
	bursts = netsim.Link{Delay: oneWay, Burst: &netsim.GilbertElliott{ToBad: 1.0 / 12, ToGood: 1.0 / 3, LossBad: 1}}
	fast   = netsim.Link{Delay: oneWay, Bandwidth: 100 * mbit, Queue: bdp}
	narrow = netsim.Link{Delay: oneWay, Bandwidth: 20 * mbit, Queue: 64 << 10}
	lan    = netsim.Link{Delay: 100 * time.Microsecond, Bandwidth: 1000 * mbit, Queue: netsim.DefaultQueue}
	orbit  = netsim.Link{Delay: 300 * time.Millisecond, Bandwidth: 20 * mbit, Queue: 20 * mbit * 600 / 1000, Loss: 0.01}
)

func lossy(l netsim.Link, share float64) netsim.Link {
	l.Loss = share
	return l
}

func queued(l netsim.Link, bytes int) netsim.Link {
	l.Queue = bytes
	return l
}

func reordering(l netsim.Link) netsim.Link {
	l.Reorder, l.ReorderBy = 0.02, 5*time.Millisecond
	return l
}

var (
	latencyShow = []Metric{LatencyP50, LatencyP99, LatencyP999, LatencyMax, BytesRatio, Resent, Needless}
	bulkShow    = []Metric{Share, Goodput, QueueP50, QueueP95, Dropped, Resent, Needless}
)

// Scenarios are what the recovery algorithms are measured by. RTT 50 ms unless said.
var Scenarios = []Scenario{
	symmetric(clean, Scenario{Name: "game-0", Family: "game", Title: "60 messages/s of 200 B, no loss: what the others are compared with",
		Flows: one(game), From: time.Second, Until: 61 * time.Second, Show: latencyShow, Ideal: idealGame}),
	symmetric(lossy(clean, 0.01), Scenario{Name: "game-1", Family: "game", Title: "60 messages/s of 200 B, 1 % loss each way",
		Flows: one(game), From: time.Second, Until: 61 * time.Second, Baseline: "game-0", Show: latencyShow, Ideal: idealGame,
		Goals: []Goal{atMost(LatencyP99, 45)}}),
	symmetric(lossy(clean, 0.05), Scenario{Name: "game-5", Family: "game", Title: "60 messages/s of 200 B, 5 % loss each way",
		Flows: one(game), From: time.Second, Until: 61 * time.Second, Baseline: "game-0", Show: latencyShow, Ideal: idealGame,
		Goals: []Goal{atMost(LatencyP99, 50), atMost(LatencyP999, 90), atMost(BytesRatio, 3.2)}}),
	symmetric(bursts, Scenario{Name: "game-bursts", Family: "game", Title: "60 messages/s of 200 B, 20 % loss each way in bursts of 3 on average",
		Flows: one(game), From: time.Second, Until: 61 * time.Second, Baseline: "game-0", Show: latencyShow, Ideal: idealGame,
		Goals: []Goal{atMost(LatencyP99, 250)}}),

	symmetric(fast, Scenario{Name: "bulk-0", Family: "bulk", Title: "1 KB messages over 100 Mbit/s, queue of 1 BDP (625 KB), no loss",
		Flows: one(bulk(1024)), From: 2 * time.Second, Until: 10 * time.Second, Show: bulkShow, Bound: "100 % of the link",
		Goals: []Goal{atLeast(Share, 95), atMost(QueueP95, 20)}}),
	symmetric(fast, Scenario{Name: "bulk-0-100k", Family: "bulk", Title: "100 KB messages over the same link",
		Flows: one(bulk(100 << 10)), From: 2 * time.Second, Until: 10 * time.Second, Show: bulkShow, Bound: "100 % of the link",
		Goals: []Goal{atLeast(Share, 95), atMost(QueueP95, 20)}}),
	symmetric(lossy(fast, 0.01), Scenario{Name: "bulk-1", Family: "bulk", Title: "1 KB messages over the same link with 1 % random loss each way",
		Flows: one(bulk(1024)), From: 2 * time.Second, Until: 10 * time.Second, Show: bulkShow, Bound: "99 %: what is not lost",
		Goals: []Goal{atLeast(Share, 90)}}),
	symmetric(lossy(fast, 0.01), Scenario{Name: "bulk-1-100k", Family: "bulk", Title: "100 KB messages, 1 % random loss each way",
		Flows: one(bulk(100 << 10)), From: 2 * time.Second, Until: 10 * time.Second, Show: bulkShow, Bound: "99 %: what is not lost",
		Goals: []Goal{atLeast(Share, 90)}}),
	symmetric(lossy(fast, 0.05), Scenario{Name: "bulk-5", Family: "bulk", Title: "1 KB messages, 5 % random loss each way",
		Flows: one(bulk(1024)), From: 2 * time.Second, Until: 10 * time.Second, Show: bulkShow, Bound: "95 %: what is not lost",
		Goals: []Goal{atLeast(Share, 75)}}),
	symmetric(lossy(fast, 0.05), Scenario{Name: "bulk-5-100k", Family: "bulk", Title: "100 KB messages, 5 % random loss each way",
		Flows: one(bulk(100 << 10)), From: 2 * time.Second, Until: 10 * time.Second, Show: bulkShow, Bound: "95 %: what is not lost",
		Goals: []Goal{atLeast(Share, 75)}}),

	symmetric(clean, Scenario{Name: "open-0", Family: "open", Title: "1 KB messages over a path without a rate limit, no loss",
		Flows: one(bulk(1024)), From: 2 * time.Second, Until: 6 * time.Second, Show: []Metric{Goodput, Resent, Needless}}),
	symmetric(lossy(clean, 0.01), Scenario{Name: "open-1", Family: "open", Title: "the same, 1 % random loss each way", Baseline: "open-0",
		Flows: one(bulk(1024)), From: 2 * time.Second, Until: 6 * time.Second, Show: []Metric{Goodput, GoodputRatio, Resent, Needless},
		Goals: []Goal{atLeast(GoodputRatio, 80)}}),
	symmetric(lossy(clean, 0.05), Scenario{Name: "open-5", Family: "open", Title: "the same, 5 % random loss each way", Baseline: "open-0",
		Flows: one(bulk(1024)), From: 2 * time.Second, Until: 6 * time.Second, Show: []Metric{Goodput, GoodputRatio, Resent, Needless},
		Goals: []Goal{atLeast(GoodputRatio, 60)}}),

	symmetric(lossy(clean, 0.2), Scenario{Name: "open-20", Family: "open", Title: "the same, 20 % random loss each way", Baseline: "open-0",
		Flows: one(bulk(1024)), From: 2 * time.Second, Until: 6 * time.Second, Show: []Metric{Goodput, GoodputRatio, Resent, Needless}}),

	symmetric(narrow, Scenario{Name: "droptail", Family: "droptail", Title: "1 KB messages over 20 Mbit/s with a drop-tail queue of 64 KB",
		Flows: one(bulk(1024)), From: time.Second, Until: 21 * time.Second, Show: bulkShow, Bound: "100 % of the link, nothing resent",
		Goals: []Goal{atLeast(Share, 93), atMost(Resent, 2)}}),
	symmetric(narrow, Scenario{Name: "droptail-100k", Family: "droptail", Title: "100 KB messages over the same link",
		Flows: one(bulk(100 << 10)), From: time.Second, Until: 21 * time.Second, Show: bulkShow, Bound: "100 % of the link, nothing resent",
		Goals: []Goal{atLeast(Share, 93), atMost(Resent, 2)}}),

	symmetric(fast, Scenario{Name: "mixed", Family: "mixed", Title: "100 Mbit/s, queue of 1 BDP: a game flow on another channel beside bulk of 1 KB messages",
		Flows: one(bulk(1024), game), From: time.Second, Until: 11 * time.Second,
		Show: []Metric{LatencyP50, LatencyP99, LatencyP999, LatencyMax, Share, QueueP95, Dropped, Resent}, Bound: "p99 25.1 ms: an empty queue",
		Goals: []Goal{atMost(LatencyP99, 40)}}),
	symmetric(fast, Scenario{Name: "mixed-100k", Family: "mixed", Title: "the same beside bulk of 100 KB messages",
		Flows: one(bulk(100<<10), game), From: time.Second, Until: 11 * time.Second,
		Show: []Metric{LatencyP50, LatencyP99, LatencyP999, LatencyMax, Share, QueueP95, Dropped, Resent}, Bound: "p99 25.1 ms: an empty queue",
		Goals: []Goal{atMost(LatencyP99, 40)}}),

	symmetric(reordering(fast), Scenario{Name: "reorder", Family: "reorder", Title: "100 Mbit/s, queue of 1 BDP, 2 % of datagrams 5 to 20 ms late each way, no loss",
		Spread: 15 * time.Millisecond, Flows: one(bulk(1024)), From: 2 * time.Second, Until: 10 * time.Second, Baseline: "bulk-0",
		Show: []Metric{GoodputRatio, Share, QueueP95, Dropped, Resent, Needless}, Bound: "100 % of the run in order, nothing resent without need",
		Goals: []Goal{atLeast(GoodputRatio, 98), atMost(Needless, 0.2)}}),

	symmetric(fast, Scenario{Name: "two", Family: "sharing", Title: "two flows on 100 Mbit/s, queue of 1 BDP, the second 2 s later; from 10 s to 30 s",
		Flows: []Flow{{Sources: []Source{bulk(1024)}}, {Start: 2 * time.Second, Sources: []Source{bulk(1024)}}},
		From:  10 * time.Second, Until: 30 * time.Second, Show: []Metric{Jain, Share, QueueP95, Dropped, Resent}, Bound: "Jain 1",
		Goals: []Goal{atLeast(Jain, 0.95)}}),
	symmetric(fast, Scenario{Name: "tcp", Family: "sharing", Title: "one flow beside a CUBIC TCP model on 100 Mbit/s, queue of 1 BDP, ours 2 s later; from 10 s to 30 s",
		Flows: []Flow{{Start: 2 * time.Second, Sources: []Source{bulk(1024)}}, {TCP: true}},
		From:  10 * time.Second, Until: 30 * time.Second, Show: []Metric{TCPShare, Share, Jain, QueueP95, Dropped, Resent}, Bound: "TCP 50 % is fair",
		Goals: []Goal{atLeast(TCPShare, 35)}}),

	symmetric(fast, Scenario{Name: "four", Family: "sharing", Title: "four flows on the same link, one every 2 s; from 10 s to 30 s",
		Flows: []Flow{{Sources: []Source{bulk(1024)}}, {Start: 2 * time.Second, Sources: []Source{bulk(1024)}},
			{Start: 4 * time.Second, Sources: []Source{bulk(1024)}}, {Start: 6 * time.Second, Sources: []Source{bulk(1024)}}},
		From: 10 * time.Second, Until: 30 * time.Second, Show: []Metric{Jain, Share, QueueP95, Dropped, Resent}, Bound: "Jain 1"}),
	symmetric(queued(fast, bdp/4), Scenario{Name: "tcp-shallow", Family: "sharing", Title: "one flow beside a CUBIC TCP model, the queue a quarter of a BDP",
		Flows: []Flow{{Start: 2 * time.Second, Sources: []Source{bulk(1024)}}, {TCP: true}},
		From:  10 * time.Second, Until: 30 * time.Second, Show: []Metric{TCPShare, Share, Jain, QueueP95, Dropped, Resent}, Bound: "TCP 50 % is fair"}),
	symmetric(queued(fast, 4*bdp), Scenario{Name: "tcp-deep", Family: "sharing", Title: "one flow beside a CUBIC TCP model, the queue four BDPs",
		Flows: []Flow{{Start: 2 * time.Second, Sources: []Source{bulk(1024)}}, {TCP: true}},
		From:  10 * time.Second, Until: 30 * time.Second, Show: []Metric{TCPShare, Share, Jain, QueueP95, Dropped, Resent}, Bound: "TCP 50 % is fair"}),
	symmetric(fast, Scenario{Name: "tcp-late", Family: "sharing", Title: "one flow, and a CUBIC TCP model that begins 2 s after it",
		Flows: []Flow{{Sources: []Source{bulk(1024)}}, {Start: 2 * time.Second, TCP: true}},
		From:  10 * time.Second, Until: 30 * time.Second, Show: []Metric{TCPShare, Share, Jain, QueueP95, Dropped, Resent}, Bound: "TCP 50 % is fair"}),

	symmetric(fast, Scenario{Name: "blackout", Family: "blackout", Title: "1 KB messages over 100 Mbit/s, queue of 1 BDP, a blackout of 3.0 to 3.3 s",
		BlackoutAt: 4 * time.Second, Blackout: 3 * time.Second, Flows: one(bulk(1024)), From: time.Second, Until: 12 * time.Second,
		Show: []Metric{Flowing, Refilled, Resent, Needless}, Bound: "flowing 25 ms: one way",
		Goals: []Goal{atMost(Flowing, 300)}}),
	symmetric(clean, Scenario{Name: "blackout-game", Family: "blackout", Title: "60 messages/s of 200 B, a blackout of 3.0 to 3.3 s",
		BlackoutAt: 4 * time.Second, Blackout: 3 * time.Second, Flows: one(game), From: time.Second, Until: 12 * time.Second,
		Show: []Metric{Flowing, LatencyP50, LatencyMax, Resent, Needless}, Bound: "flowing 25 to 41.7 ms: one way, and up to a send interval",
		Goals: []Goal{atMost(Flowing, 300)}}),

	symmetric(fast, Scenario{Name: "slow-acks", Family: "slow-acks", Title: "1 KB messages over 100 Mbit/s, queue of 1 BDP, to a peer that sends every 100 ms only",
		AckEvery: 100 * time.Millisecond, Flows: one(bulk(1024)), From: 2 * time.Second, Until: 10 * time.Second, Show: bulkShow, Bound: "100 % of the link",
		Goals: []Goal{atLeast(Share, 90), atMost(Needless, 0)}}),
	symmetric(clean, Scenario{Name: "slow-acks-game", Family: "slow-acks", Title: "60 messages/s of 200 B to a peer that sends every 100 ms only, no loss",
		AckEvery: 100 * time.Millisecond, Flows: one(game), From: 2 * time.Second, Until: 32 * time.Second, Show: []Metric{LatencyP50, LatencyP99, LatencyMax, Resent, Needless},
		Bound: "nothing resent", Goals: []Goal{atMost(Needless, 0)}}),

	symmetric(lan, Scenario{Name: "lan", Family: "lan", Title: "1 KB messages over 1 Gbit/s, RTT 0.2 ms, queue 256 KB",
		Flows: one(bulk(1024)), From: 200 * time.Millisecond, Until: 1200 * time.Millisecond, Show: bulkShow, Bound: "100 % of the link",
		Goals: []Goal{atLeast(Share, 95)}}),
	symmetric(orbit, Scenario{Name: "satellite", Family: "satellite", Title: "1 KB messages over 20 Mbit/s, RTT 600 ms, 1 % loss each way, queue of 1 BDP; from 10 s to 30 s",
		Flows: one(bulk(1024)), From: 10 * time.Second, Until: 30 * time.Second, Show: bulkShow, Bound: "99 %: what is not lost",
		Goals: []Goal{atLeast(Share, 80)}}),
}
