// Package xray looks at what a server speaks without connecting to it: it asks with the bare
// packets that come before a connection, and notes everything the answers tell. A server
// keeps nothing of it, since nothing is asked that opens a connection.
package xray
