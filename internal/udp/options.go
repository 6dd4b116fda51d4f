package udp

import (
	"net"
	"os"
)

// Path is a way from a Socket to the system.
type Path uint8

const (
	// Auto is the fastest way there is, or the one that the environment names: see Options.
	Auto Path = iota
	// Offload is Batch, and several datagrams to or from one peer travel through the system
	// as one, where it can do that.
	Offload
	// Batch moves many datagrams per system call, where the system can do that.
	Batch
	// Single moves one datagram per system call.
	Single
	// Plain uses nothing but the methods of net.PacketConn or net.Conn.
	Plain
)

// Options say how a Socket is to use the system. The zero value is right for nearly
// everybody. The environment has a say as well, so that an operator can get around a broken
// driver, and a whole run of tests can take another path:
//
//   - RAKNET_DISABLE_GSO and RAKNET_DISABLE_GRO, unless empty, "0" or "false", are as good as
//     NoGSO and NoGRO.
//   - RAKNET_SOCKET is the Path where the program leaves it at Auto: "offload", "batch",
//     "single" or "plain". Other values mean nothing.
type Options struct {
	// Path is the way to take. A way that the system or the carrier does not have is the next one
	// down the list.
	Path Path
	// NoGSO and NoGRO switch off one direction of Offload: sending, and receiving.
	NoGSO, NoGRO bool
}

// settled returns o with what the environment says.
func (o Options) settled() Options {
	if o.Path == Auto {
		switch os.Getenv("RAKNET_SOCKET") {
		case "batch":
			o.Path = Batch
		case "single":
			o.Path = Single
		case "plain":
			o.Path = Plain
		default:
			o.Path = Offload
		}
	}
	o.NoGSO = o.NoGSO || isSet("RAKNET_DISABLE_GSO") || o.Path != Offload
	o.NoGRO = o.NoGRO || isSet("RAKNET_DISABLE_GRO") || o.Path != Offload
	return o
}

// isSet reports whether an environment variable says yes.
func isSet(name string) bool {
	switch os.Getenv(name) {
	case "", "0", "false":
		return false
	}
	return true
}

// newUDP returns the Socket on c that o asks for, which must be settled and not Plain.
func newUDP(c *net.UDPConn, o Options) Socket {
	if o.Path == Single {
		return newSingle(c)
	}
	return newBatch(c, o)
}
