// Package endpoint is the runtime: it joins the machines that know the protocol
// (session, offline, guard) to a socket, and is the only package with goroutines,
// locks, timers and a clock.
//
// # Who runs
//
// Per socket there are two goroutines, and one more for every connection that is busy
// sending, or that has something to tell its tracer:
//
//   - The reader takes batches of datagrams from the socket and applies each to its
//     connection. After a batch every connection that received something gets one turn.
//   - The driver gives a turn to every connection whose deadline has come.
//   - A connection's pump sends in bulk what the others began and left, but where the socket has
//     no other connection: there whoever did the turn sends on for a while. It ends when
//     there is nothing left, or nothing that may leave now.
//   - A traced connection's teller hands the user what the engine has recorded. It ends
//     when it has told everything. A user who is slow keeps only the teller waiting.
//
// A turn is bounded work: take the events, give messages to the handler, move a few
// datagrams to the send queue, set the next deadline. A call of the user's (Send, Close)
// does a turn as well, on its own goroutine, so that a message to an idle
// connection is on the wire when the call returns. In a transfer over a short path such
// calls do all of the sending, a system call's worth at a time, and pause when they are
// ahead of the path by more than a cache holds; see pauses. The shared goroutines never wait: not for
// a user who reads slowly, a logger, another's system call, or one connection that has much to do.
//
// Reading is a role rather than a goroutine. A caller that waits in Read on an endpoint
// with one connection takes the role and reads the socket itself, which saves the
// hand-off; see role.
//
// Where many connections bring much in small pieces the reader does not wait for each but naps, and
// takes and sends for everybody at once; see rush. When it does not keep up all the same it sheds
// what one connection, or all strangers together, or all that are not complete, send too much of; see behindFor. Where there is one connection and a
// transfer runs it holds ACKs back for those of the next batches; see debt.
//
// A listener on several sockets is a group of endpoints, one per socket, each with all of the
// above. They share only the queue of Accept, the list of blocks and the number of
// connections; see group.
//
// # Who locks
//
//	Conn.mu ──┬──> driver.mu
//	          ├──> deadline.mu
//	          ├──> txFIFO.mu
//	          ├──> acceptQueue.mu
//	          └──> blocks.mu
//
//	Endpoint.mu ─────> hosts.mu
//
//	table.mu, waits.mu, role.mu, logger.mu: alone
//
// Only Conn.mu and Endpoint.mu are ever held while another lock is taken, and no two Conn.mu at once. No
// lock is held across a system call, a wait, a call of the user's, a log line, or a
// copy larger than one datagram: a large message is cut before the lock is taken and put
// together after it is let go. What a turn finds to do that must not be done
// under the lock it returns as work, and after does it.
//
// The table of connections has no lock: it belongs to the role's holder, and the
// others leave notes for it. Whoever was granted a connection and has not used it yet is a guest in
// it, and no connection.
//
// # How it ends
//
// Close of a connection returns at once; the session drains, says farewell and
// lingers, driven by reader and driver. When it is dead it leaves the table and the
// driver's heap. A Solo endpoint closes itself then. Close of an endpoint
// tells every peer, closes the socket, and with that every goroutine ends.
package endpoint
