// Package relay forwards UDP datagrams with the delay, loss, rate and queue of a bad link,
// between real sockets and in real time. What becomes of a datagram is decided by
// internal/netsim, as in the simulations. A relay is a process of its own, so that the
// programs that are measured cannot hold it up but by using the processors.
package relay
