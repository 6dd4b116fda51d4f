package dialect

import "time"

// Habits are how one implementation differs from the plainest one. The zero value of a field is
// the plain way, that of most.
type Habits struct {
	Name    string
	Version byte // spoken; a server answers others with 0x19, a client told 0x19 gives up

	// The offline handshake.

	Probes     []int             // client: sizes of requests 1, one every Interval; nil: 1492, 1200, 576
	Interval   time.Duration     // client: between two requests; 0: 500 ms
	Grant      func(mtu int) int // server: the MTU in reply 1 to a probe; nil: that of the probe
	Cookie     bool              // server: demands one
	NoCookies  bool              // client: does not know them, so that it leaves them out
	PadReply1  bool              // server: reply 1 is as long as request 1
	BoxFirst   bool              // server: a box in front of it answers the first request 1 with GUID 0 and MTU 0
	MagicFirst bool              // server: 0x19 has its marker before the version
	Echo19     bool              // server: 0x19 names the version that the client asked in
	Trailing   string            // behind request 2 and reply 2
	Family     uint16            // of IPv6 addresses; 0: 23
	Plain      bool              // octets of IPv4 addresses are not inverted
	Repeated2  Repeated2         // server: what a repeated request 2 gets
	PingFirst  bool              // server: a connected ping leaves with reply 2, and before every answer to anything
	Pong       func(p *Pong)     // server: changes the pong
	GUID       int64             // 0: 0x1122334455667788

	// The connected handshake.

	Addresses    int  // internal ones, in 10 and 13
	Long         bool // they have 29 bytes
	OneByteIndex bool // server: that of 10
	NoTimes      bool // client: 13 ends before its times
	Accepts      int  // server: 10 is sent so many times; 0: once
	Loose        bool // server: 10 is unreliable
	Once         bool // what was lost of the handshake is sent again only when it is asked for

	// Datagrams and frames.

	First     byte              // of frame sets; 0: 0x84
	FlagBits  byte              // low bits of a frame's flags
	Receipts  bool              // modes 0, 2 and 3 are written as 5, 6 and 7
	WholeMTU  bool              // UDP payloads are as long as the MTU, 28 bytes more than it allows
	OddBits   bool              // lengths are a bit or more short of whole bytes
	Twice     bool              // every datagram leaves twice, with one number
	OneNumber bool              // all datagrams have the number 0, and none is sent again
	Order     func(n int) []int // in which fragments leave; nil: as they are
	Empty     bool              // frame sets without a frame leave now and then
	Padded    bool              // three zeros end a frame set
	Backwards bool              // of two datagrams that leave together the higher number leaves first

	// Acknowledging.

	AckAfter time.Duration // tick of ACKs and NACKs; 0: at once
	Singles  bool          // ACKs have no ranges
	AckAS    bool          // ACKs begin with e0 and a float
	NackAll  bool          // everything that came is asked for again, at every tick
	Empties  bool          // ACKs without a record leave at every tick
	First1   bool          // of an ACK that came only the first number is looked at
	Resend   time.Duration // how long an unacknowledged datagram is waited for; 0: 300 ms
	Slow     time.Duration // how long it takes for each datagram that came

	// Pings.

	PongTime PongTime

	// Ends.

	Close Close

	// What it acknowledges and drops, or worse. 0: nothing.

	MaxFragments int  // messages of more
	MaxSplits    int  // fragments of the one that makes it more at once
	Window       int  // reliable indexes further ahead of the lowest missing one
	MaxRate      int  // more datagrams than this in a tick of 10 ms, and it hears nothing more
	NoTopBit     bool // a frame whose flags have the top bit makes it drop the datagram, unacknowledged
}

// Repeated2 says what a server does with a request 2 from an address that it has a connection with.
type Repeated2 uint8

// The zero value is to answer as before.
const (
	AnswerAgain Repeated2 = iota
	IgnoreIt
	RefuseIt // with 0x12
)

// PongTime says what stands in pongs.
type PongTime uint8

// The zero value is the ping's time and that of the peer.
const (
	BothTimes PongTime = iota
	OnlyPings          // 9 bytes
	OnlyOwn            // its own time where the ping's should be
)

// Close says how a peer ends a connection.
type Close uint8

// The zero value is the message 15.
const (
	CloseMessage Close = iota
	CloseBare          // a bare datagram of one byte
	CloseSilence
)
