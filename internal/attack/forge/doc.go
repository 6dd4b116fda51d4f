// Package forge makes the datagrams of attackers: of strangers, of those who forge the address of a
// connection, of peers that completed the handshake and then do harm, and of hostile servers. It
// has no socket, no clock and no chance of its own: what is made depends on a number and on what
// came before. It is for tests and for the program in the directory above.
package forge
