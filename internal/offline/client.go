package offline

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
)

// Schedule is when a Client sends. Zero fields take the defaults named.
type Schedule struct {
	Interval time.Duration // between two sends of the same packet; 0: 500 ms, as vanilla clients have
	PerSize  int           // probes of one size before the next smaller; 0: 4, as vanilla clients have
	Reply2   time.Duration // after reply 1 without a reply 2: ask for a fresh port; 0: 2 s
}

// ClientConfig sets up a Client.
type ClientConfig struct {
	GUID       int64
	Version    byte           // 0: automatic: 11, and once more with the server's version if that is 6 to 11
	MaxMTU     int            // largest probe; 0 or out of 400 to 1492: the nearest bound (0: 1492)
	ServerAddr netip.AddrPort // as written into request 2; not valid: the unassigned address
	Schedule   Schedule
}

// Negotiated is what the offline handshake agreed on.
type Negotiated struct {
	MTU        int            // 400 up to the size that was probed
	Version    byte           // the protocol version that the server took
	ServerGUID int64          // of reply 2
	ClientAddr netip.AddrPort // this client as the server sees it; may be invalid
}

// VersionError is the end of a dial to a server of another protocol version.
type VersionError struct{ Client, Server byte }

// Error names both versions.
func (e *VersionError) Error() string {
	return fmt.Sprintf("incompatible protocol version: client %d, server %d", e.Client, e.Server)
}

// RefusedError is the end of a dial that the server turned down.
type RefusedError struct{ Reason Refusal }

// Error gives the server's reason.
func (e *RefusedError) Error() string { return "connection refused: " + e.Reason.String() }

// ErrSecurityUnsupported is the end of a dial to a server that insists on the
// original engine's libcat security.
var ErrSecurityUnsupported = errors.New("server requires libcat security, which is not supported")

// Client is the dialling side of the offline handshake.
type Client struct{}

// Init starts a dial; the first probe waits in Transmit.
func (c *Client) Init(now monotime.Time, cfg *ClientConfig) {}

// Receive takes one datagram that came from the server's address.
func (c *Client) Receive(now monotime.Time, pkt []byte) {}

// Advance lets time pass.
func (c *Client) Advance(now monotime.Time) {}

// Transmit appends the next datagram to send to dst, or returns nil. probe tells
// that it measures the path and must not be fragmented on its way.
func (c *Client) Transmit(now monotime.Time, dst []byte) (pkt []byte, probe bool) { return nil, false }

// Deadline is when Advance has work.
func (c *Client) Deadline() monotime.Time { return monotime.Never }

// Result returns what was agreed on once done, or the error that ended the dial.
func (c *Client) Result() (n Negotiated, done bool, err error) { return }

// ProbeTooLarge tells that the probe just transmitted was refused by the host
// itself (EMSGSIZE): the next smaller size is tried at once.
func (c *Client) ProbeTooLarge(now monotime.Time) {}

// NeedFreshPort reports that the server took reply 1's side of the handshake but
// its reply 2 does not come.
func (c *Client) NeedFreshPort() bool { return false }

// Restart begins again after the runtime moved to a fresh local port.
func (c *Client) Restart(now monotime.Time, guid int64) {}
