package raknet

import "net"

// RawDatagram is a datagram that is not of RakNet, from an address that has no
// connection. Nothing proves the address.
type RawDatagram struct {
	// Addr is where the datagram says that it comes from.
	Addr net.Addr
	// Proxy is the proxy that told Addr, or nil.
	Proxy net.Addr
	// Data is the datagram, without a PROXY header. It is valid during the call only.
	Data []byte
}
