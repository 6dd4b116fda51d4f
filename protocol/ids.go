package protocol

import "fmt"

// ID is the first byte of an offline packet or of a connected message.
// Values from 0x1b upwards that are not listed here belong to applications or
// to plugins of the original engine and pass through untouched.
type ID byte

// Identifiers of the protocol itself.
const (
	IDConnectedPing             ID = 0x00
	IDUnconnectedPing           ID = 0x01
	IDUnconnectedPingOpen       ID = 0x02 // answered only while there is room
	IDConnectedPong             ID = 0x03
	IDDetectLostConnections     ID = 0x04
	IDOpenConnectionRequest1    ID = 0x05
	IDOpenConnectionReply1      ID = 0x06
	IDOpenConnectionRequest2    ID = 0x07
	IDOpenConnectionReply2      ID = 0x08
	IDConnectionRequest         ID = 0x09
	IDPublicKeyRequired         ID = 0x0a // libcat security only
	IDSecurityRequired          ID = 0x0b // libcat security only
	IDPublicKeyMismatch         ID = 0x0c // libcat security only, local
	IDOutOfBand                 ID = 0x0d
	IDConnectionRequestAccepted ID = 0x10
	IDConnectionAttemptFailed   ID = 0x11
	IDAlreadyConnected          ID = 0x12
	IDNewIncomingConnection     ID = 0x13
	IDNoFreeConnections         ID = 0x14
	IDDisconnect                ID = 0x15
	IDConnectionLost            ID = 0x16 // local in every known implementation
	IDBanned                    ID = 0x17
	IDInvalidPassword           ID = 0x18
	IDIncompatibleVersion       ID = 0x19
	IDRecentlyConnected         ID = 0x1a
	IDTimestamp                 ID = 0x1b
	IDUnconnectedPong           ID = 0x1c
	IDAdvertiseSystem           ID = 0x1d
)

var idNames = map[ID]string{
	IDConnectedPing: "connected ping", IDUnconnectedPing: "unconnected ping",
	IDUnconnectedPingOpen: "unconnected ping (open connections)", IDConnectedPong: "connected pong",
	IDDetectLostConnections: "detect lost connections", IDOpenConnectionRequest1: "open connection request 1",
	IDOpenConnectionReply1: "open connection reply 1", IDOpenConnectionRequest2: "open connection request 2",
	IDOpenConnectionReply2: "open connection reply 2", IDConnectionRequest: "connection request",
	IDPublicKeyRequired: "public key required", IDSecurityRequired: "security required",
	IDPublicKeyMismatch: "public key mismatch", IDOutOfBand: "out of band",
	IDConnectionRequestAccepted: "connection request accepted", IDConnectionAttemptFailed: "connection attempt failed",
	IDAlreadyConnected: "already connected", IDNewIncomingConnection: "new incoming connection",
	IDNoFreeConnections: "no free incoming connections", IDDisconnect: "disconnect",
	IDConnectionLost: "connection lost", IDBanned: "banned", IDInvalidPassword: "invalid password",
	IDIncompatibleVersion: "incompatible protocol version", IDRecentlyConnected: "recently connected",
	IDTimestamp: "timestamp", IDUnconnectedPong: "unconnected pong", IDAdvertiseSystem: "advertise system",
}

// String names the identifier in the protocol's own words, or gives its number.
func (id ID) String() string {
	if s, ok := idNames[id]; ok {
		return s
	}
	return fmt.Sprintf("message 0x%02x", byte(id))
}

// IsControl reports whether a connected message that starts with id is consumed
// by the connection itself and never reaches an application: pings and pongs,
// the handshake's 0x09, 0x10 and 0x13, the disconnect, and the refusal of a
// password. Applications cannot send these.
func (id ID) IsControl() bool {
	switch id {
	case IDConnectedPing, IDConnectedPong, IDDetectLostConnections, IDConnectionRequest,
		IDConnectionRequestAccepted, IDNewIncomingConnection, IDDisconnect, IDInvalidPassword:
		return true
	}
	return false
}
