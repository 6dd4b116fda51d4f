// Package udp moves batches of datagrams between the runtime and whatever carries
// them: a UDP socket of this machine, a net.PacketConn or a net.Conn that the user
// brought. It hides what differs between operating systems and carriers, and knows
// nothing of the protocol.
//
// # Sockets
//
// Listen, Wrap and WrapConn choose one of four implementations:
//
//   - batch (Linux, *net.UDPConn): recvmmsg and sendmmsg, up to 64 datagrams a call
//     and no allocation per datagram; replies leave from the address that was asked.
//   - single (other systems, *net.UDPConn): one datagram a call, no allocation.
//   - packetConn (any net.PacketConn): one datagram a call, any net.Addr.
//   - conn (any net.Conn): one datagram a Read, one fixed peer.
//
// # Fragmentation
//
// Only a datagram marked as a probe is forbidden to be fragmented (Outbound.Probe).
// The padded first request of a RakNet client measures the path and is worth nothing
// if a router cuts it; but what follows must arrive even where the way back is
// narrower than the way there, for the protocol cannot lower a session's MTU later.
// The original engine sets and clears the bit around that one send as well.
package udp
