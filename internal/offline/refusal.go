package offline

import (
	"strconv"

	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// Refusal is a server's reason not to take a connection. The zero value is "none".
type Refusal uint8

// The refusals. The first four have an offline packet of their own;
// InvalidPassword (0x18) comes inside a connection, and SecurityRequired stands
// for the two packets of the original's libcat security.
const (
	NoFreeSlots       Refusal = iota + 1 // 0x14
	Banned                               // 0x17
	AlreadyConnected                     // 0x12
	RecentlyConnected                    // 0x1a
	InvalidPassword                      // 0x18
	SecurityRequired                     // 0x0a, 0x0b
)

// ID returns the packet that says r, or 0 if strangers are not told.
func (r Refusal) ID() protocol.ID {
	switch r {
	case NoFreeSlots:
		return protocol.IDNoFreeConnections
	case Banned:
		return protocol.IDBanned
	case AlreadyConnected:
		return protocol.IDAlreadyConnected
	case RecentlyConnected:
		return protocol.IDRecentlyConnected
	case InvalidPassword:
		return protocol.IDInvalidPassword
	}
	return 0
}

// RefusalFromID returns what the offline packet id refuses, or 0 if it is no refusal.
func RefusalFromID(id protocol.ID) Refusal {
	switch id {
	case protocol.IDNoFreeConnections:
		return NoFreeSlots
	case protocol.IDBanned:
		return Banned
	case protocol.IDAlreadyConnected:
		return AlreadyConnected
	case protocol.IDRecentlyConnected:
		return RecentlyConnected
	case protocol.IDPublicKeyRequired, protocol.IDSecurityRequired:
		return SecurityRequired
	}
	return 0
}

// String says it in words, as the end of a sentence.
func (r Refusal) String() string {
	switch r {
	case NoFreeSlots:
		return "no free slots"
	case Banned:
		return "banned"
	case AlreadyConnected:
		return "already connected"
	case RecentlyConnected:
		return "recently connected"
	case InvalidPassword:
		return "invalid password"
	case SecurityRequired:
		return "security required"
	}
	return "refusal " + strconv.Itoa(int(r))
}

// AppendRefusal appends the packet that refuses a connection: 0x12, 0x14, 0x17 or
// 0x1a, 25 bytes, which is less than any request 2. Send it instead of a reply 2,
// in answer to one Accept.
func (s *Server) AppendRefusal(dst []byte, id protocol.ID) []byte {
	r := wire.Refusal{ID: byte(id), GUID: s.guid}
	return r.Append(dst)
}

// AppendMismatch appends the 0x19 that tells a client which version this server
// speaks. Handle uses it; it is smaller than any request 1 that gets an answer.
func (s *Server) AppendMismatch(dst []byte) []byte {
	v := wire.IncompatibleVersion{Version: s.version, GUID: s.guid}
	return v.Append(dst)
}
