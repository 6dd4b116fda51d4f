package offline

import "strconv"

// DropReason says why a datagram of a stranger had no effect. Drops are counted,
// never logged one by one and never punished: every one of them can be forged.
type DropReason uint8

// The reasons. Server.Handle gives those up to DropAddress; the rest are for what
// the runtime itself refuses, so that one set of counters covers both.
const (
	DropNone        DropReason = iota // not dropped
	DropEmpty                         // no payload at all
	DropUnknown                       // not a packet that strangers send: other protocols, scanners, noise
	DropNoSession                     // a connected datagram (bit 7) from an address without a connection
	DropClientBound                   // a packet that only servers send; answering would feed a loop
	DropOutOfBand                     // 0x0d, which nothing here consumes
	DropTruncated                     // ends early
	DropMagic                         // the offline marker is missing or wrong
	DropNoGUID                        // a ping shorter than the 33 bytes of the original: worse amplification
	DropSmallMTU                      // request 1 or 2 below the smallest MTU
	DropNoCookie                      // request 2 in the layout of a client that knows no cookies
	DropCookie                        // request 2 whose cookie is wrong, stale or another address's
	DropChallenge                     // request 2 with a libcat challenge
	DropAddress                       // request 2 with a server address of no known family
	DropNoRoom                        // an "open connections" ping while there is no room
	DropRateLimited                   // over the budget of pongs or handshakes
	DropBlocked                       // blocked by the application
	DropRefused                       // the application wanted silence
	DropProxy                         // a malformed PROXY header, or one that names another client than the connection's
	DropRaw                           // given to the application's function for other protocols, which has no answer
	DropOverload                      // beyond the share of strangers while connections wait
	DropQueueFull                     // its answer found the send queue full
	DropAsked                         // request 2 from the address of a connection that was silent, which is asked first
	DropTooLong                       // longer than any path through a network takes, and not of a peer on this machine

	// DropReasons is the number of reasons, for arrays of counters.
	DropReasons = int(iota)
)

var dropNames = [DropReasons]string{
	"none", "empty", "unknown", "no session", "client bound", "out of band", "truncated", "magic", "no guid",
	"small mtu", "no cookie", "cookie", "challenge", "address", "no room", "rate limited", "blocked", "refused",
	"proxy", "raw", "overload", "send queue full", "asked first", "too long",
}

// String names the reason in lower case, fit for a counter's label.
func (r DropReason) String() string {
	if int(r) < len(dropNames) {
		return dropNames[r]
	}
	return "drop reason " + strconv.Itoa(int(r))
}
