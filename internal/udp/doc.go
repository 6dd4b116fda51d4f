// Package udp moves batches of datagrams between the runtime and whatever carries
// them: a UDP socket of this machine, a net.PacketConn or a net.Conn that the user
// brought. It hides what differs between operating systems and carriers, and knows
// nothing of the protocol.
//
// # Sockets
//
// Listen, Dial, Wrap and WrapConn choose one of four implementations (see Options for a say in it):
//
//   - batch (Linux, *net.UDPConn): recvmmsg and sendmmsg, up to 64 messages a call and no
//     allocation per datagram; replies leave from the address that was asked. A message may
//     be several datagrams, see below.
//   - single (other systems, *net.UDPConn): one datagram a call, no allocation.
//   - packetConn (any net.PacketConn): one datagram a call, any net.Addr.
//   - conn (any net.Conn): one datagram a Read, one fixed peer.
//
// A batch socket that Listen opened, and the first some hundred of those that Dial did, are out of the hands
// of Go's poller, which has sockets tell more than anybody wants to know (see quiet). While datagrams come one soon after the other its
// reader waits for them in the system (see vigil), or, in a quick exchange with one peer, looks again and again (see watch).
//
// # Segments
//
// Most of what sending a datagram costs is its way through the kernel. With UDP_SEGMENT
// (GSO) a run of datagrams of one size to one peer makes that way as one, and the kernel
// or the network card cuts it; with UDP_GRO what arrives in such a run is handed over in one
// piece. On loopback that is 14 to 25 times as fast. It changes nothing on the wire.
//
// Sending this way may fail where a plain send would not, at any time: the card behind a changed
// route may not compute checksums. Then the same datagrams are sent one by one, nobody
// is told, and the socket does not try again. See sender.write.
//
// Nothing ever waits for a run to become longer. Runs form when there is much to send.
//
// # Fragmentation
//
// Only a datagram marked as a probe is forbidden to be fragmented (Outbound.Probe).
// The padded first request of a RakNet client measures the path and is worth nothing
// if a router cuts it; but what follows must arrive even where the way back is
// narrower than the way there, for the protocol cannot lower a session's MTU later.
// The original engine sets and clears the bit around that one send as well.
package udp
