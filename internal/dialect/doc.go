// Package dialect plays other implementations of RakNet for tests: a server or a client that does
// everything the simplest way and has the habits of one of them, taken from recordings of it and from
// what is known of it. It knows packets (package wire) and nothing else of this library, so that
// the two ends of a conversation cannot share a mistake.
//
// A peer counts what its model would not have survived: what it acknowledges and then drops, what
// makes it block its peer, what it cannot parse. See Conn.Losses.
package dialect
