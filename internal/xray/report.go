package xray

import (
	"time"

	"github.com/raknet-go/raknet/internal/offline"
)

// Report is what a server told.
type Report struct {
	// Pong is its answer to a ping; nil: none came.
	Pong *Pong
	// Versions are the protocol versions it was asked in, newest first.
	Versions []Version
	// Probes are the sizes it was asked with, in the version Spoken, largest first.
	Probes []Probe
	// Spoken is the newest version that it takes, or else the one it says it speaks; 0: it never answered.
	Spoken byte
	// Sent and Received count datagrams.
	Sent, Received int
}

// Form is how a pong carries its data.
type Form uint8

// The forms. The zero value is no data at all.
const (
	FormNone   Form = iota
	FormLength      // Bedrock: behind a length
	FormRaw         // the original: up to the packet's end
)

// String names the form.
func (f Form) String() string {
	return [...]string{"no data", "data behind its length", "data without a length"}[f]
}

// Pong is an answer to a ping.
type Pong struct {
	GUID      int64
	Data      []byte
	Form      Form
	Size      int  // bytes of the packet
	TimeKept  bool // it has the ping's time in it, as it should
	RoundTrip time.Duration
}

// Answer says how a server took a request.
type Answer uint8

// The answers. The zero value is none.
const (
	Silence  Answer = iota
	Accepted        // with the next packet of the handshake
	Mismatch        // with the version that it speaks
	Refused         // with a reason
)

// Version is the answer to a request in one protocol version.
type Version struct {
	Version byte
	Answer  Answer
	// Speaks is what the server says it speaks instead, if it is a Mismatch. MagicFirst tells that the packet
	// has its marker before the version, as with one implementation.
	Speaks     byte
	MagicFirst bool
	// Reason is why it is Refused.
	Reason offline.Refusal
}

// Probe is the answer to a request of one size.
type Probe struct {
	// MTU is the size asked with, counting 28 bytes of headers.
	MTU    int
	Answer Answer
	Reason offline.Refusal // why it is Refused

	// The rest is of an Accepted one.

	Granted   int    // the MTU in the answer, unchecked
	GUID      int64  // of the server, unless a box in front of it answered
	Security  bool   // the next request must carry Cookie
	Cookie    uint32 // differs from probe to probe with some servers
	Libcat    bool   // the original's encryption is demanded, which nobody else speaks
	Size      int    // bytes of the packet: more than 28 or 32 where the server pads it
	RoundTrip time.Duration
}
