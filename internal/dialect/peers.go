package dialect

import "time"

// Peers are the implementations that are played, by what is known of each: from a recording of it
// where there is one, from live runs, and from what is public about it.
func Peers() []Habits {
	var all []Habits
	// The original engine: the family of IPv6 addresses is its platform's, ACKs come in ticks, a request 2 that was
	// answered is answered again while the client is unverified, and messages of a password's
	// refusal have 9 bits.
	for _, version := range []byte{6, 11} {
		for _, addresses := range []int{10, 20} {
			all = append(all, Habits{
				Name: name("original", version, addresses), Version: version, Addresses: addresses, Family: 10, NoCookies: version == 6,
				AckAfter: 10 * time.Millisecond, Interval: 500 * time.Millisecond, GUID: 0x0006616f5a69ccef,
				Pong: func(p *Pong) { p.Raw = true },
			})
		}
	}
	return append(all,
		Habits{
			Name: "RakLib", Version: 11, Addresses: 20, First: 0x80, AckAfter: 10 * time.Millisecond, PingFirst: true,
			Repeated2: IgnoreIt, MaxFragments: 127, MaxSplits: 4, Window: 2048, MaxRate: 200,
		},
		Habits{
			Name: "Cloudburst", Version: 11, Addresses: 10, FlagBits: 4, Order: HeapOrder, AckAfter: 10 * time.Millisecond, Singles: true,
			Grant: func(mtu int) int { return min(mtu, 1400) }, NoTopBit: true, MaxRate: 120, Repeated2: IgnoreIt,
		},
		Habits{
			Name: "netty-raknet", Version: 9, Addresses: 20, NoCookies: true, First: 0x80, AckAfter: 5 * time.Millisecond,
			Grant: func(mtu int) int { return mtu - 31 }, Interval: 70 * time.Millisecond, Probes: []int{1428},
		},
		Habits{
			Name: "JRakNet", Version: 10, Addresses: 10, NoCookies: true, Receipts: true, WholeMTU: true, Probes: []int{1218}, Grant: func(int) int { return 1200 },
			Trailing: "\x00\x03\x08\x05\x0bCTIPM\xa9\xb2\xa3\x1cM\xb6\xbc\xc3\x18\xe5\xfe/",
		},
		Habits{
			Name: "rust-raknet", Version: 11, Addresses: 10, Grant: func(mtu int) int { return min(mtu, 1400) }, Accepts: 2,
			AckAfter: 50 * time.Millisecond, Close: CloseBare,
		},
		Habits{
			Name: "rak-rs", Version: 11, Addresses: 10, AckAfter: 50 * time.Millisecond,
		},
		// A server that looks at no ACK, and numbers all its datagrams alike.
		Habits{
			Name: "PieRakNet", Version: 11, Addresses: 10, FlagBits: 4, OneNumber: true, AckAfter: 50 * time.Millisecond, Slow: 50 * time.Millisecond, Close: CloseSilence,
		},
		// A server whose 10 is unreliable, which takes one number from each ACK and sends the others
		// again after eight seconds.
		Habits{
			Name: "RakNet.py", Version: 10, Echo19: true, Addresses: 20, AckAfter: 50 * time.Millisecond, Loose: true, Empties: true, First1: true, Resend: 8 * time.Second,
		},
		Habits{
			Name: "go-raknet", Version: 11, Addresses: 20, AckAfter: 100 * time.Millisecond, Cookie: true, GUID: -0x77fe11770724566d,
		},
		Habits{
			Name: "jsp-raknet", Version: 10, Addresses: 20, NoCookies: true, First: 0x80, Accepts: 3, Grant: func(mtu int) int { return min(mtu, 1400) }, Probes: []int{1427},
		},
		Habits{
			Name: "serenity", Version: 11, Addresses: 20, First: 0x80, WholeMTU: true,
		},
		Habits{
			Name: "raknet-native behind a box", Version: 11, Addresses: 10, BoxFirst: true, PadReply1: true, GUID: -0x157e68a03eb64cb8, AckAfter: 10 * time.Millisecond,
			Pong: func(p *Pong) { p.Raw = true },
		},
		// What was seen of somebody, in one peer each: of the handshake, and of what follows.
		Habits{
			Name: "an odd handshake", Version: 8, Addresses: 5, Plain: true, OneByteIndex: true, NoTimes: true, MagicFirst: true, Repeated2: RefuseIt,
			Grant: func(mtu int) int { return mtu - 59 }, Pong: func(p *Pong) { p.Time, p.Data = 1, nil }, Close: CloseSilence,
		},
		Habits{
			Name: "odd datagrams", Version: 7, Addresses: 1, Twice: true, NackAll: true, PongTime: OnlyOwn, AckAfter: 20 * time.Millisecond,
		},
		Habits{
			Name: "odd frames", Version: 9, Addresses: 3, Long: true, Family: 0x1c1e, OddBits: true, Empty: true, Padded: true, Backwards: true, AckAS: true,
			First: 0x9f, FlagBits: 0xf, PongTime: OnlyPings, Grant: func(mtu int) int { return mtu + 40 },
		},
	)
}

func name(of string, version byte, addresses int) string {
	n := of + " at version 6"
	if version != 6 {
		n = of + " at version 11"
	}
	if addresses == 10 {
		return n + " with 10 addresses"
	}
	return n + " with 20 addresses"
}

// HeapOrder is that in which fragments leave a heap whose entries weigh the same: 0, 1, 3, 7, 15
// and so on, then the rest from the end.
func HeapOrder(n int) []int {
	order := make([]int, 0, n)
	first := map[int]bool{}
	for i := 0; i < n; i = 2*i + 1 {
		order = append(order, i)
		first[i] = true
	}
	for i := n - 1; i > 0; i-- {
		if !first[i] {
			order = append(order, i)
		}
	}
	return order
}
