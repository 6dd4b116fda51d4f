// Package offline is RakNet before a connection exists: unconnected pings, the
// two open connection requests and their answers, refusals. Server answers
// strangers without remembering them, Client dials, Pinger asks for a pong.
//
// Nothing here reads a clock, locks, or touches a socket. Client and Pinger share
// the verbs of the other machines: after any input (Receive, Advance, and so on)
// call Transmit until it returns nil, then arm a timer for Deadline. None of the
// types is safe for concurrent use.
package offline
