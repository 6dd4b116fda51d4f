// Package rivals lets different libraries do the same: carry messages in order and
// reliably between clients and a server. Each is set up as its own documents advise for the
// job at hand.
package rivals

import (
	"context"
	"fmt"
)

// Job is what a connection is for.
type Job uint8

// The jobs.
const (
	Game Job = iota // small messages with a rhythm: each leaves at once
	Bulk            // as much as fits: calls may be gathered
)

// Library is a library under test.
type Library interface {
	// Name is what the tables call it.
	Name() string
	// Listen opens a server on a loopback address.
	Listen(job Job) (Server, error)
	// Dial connects to a server, or to a relay before it.
	Dial(ctx context.Context, address string, job Job) (Conn, error)
}

// Server waits for clients.
type Server interface {
	Address() string
	// Accept returns the next client. It may be one that has sent nothing yet.
	Accept(ctx context.Context) (Conn, error)
}

// Conn is one end of a connection. One goroutine may send and another receive.
type Conn interface {
	Sender
	Receiver
	// Close ends the connection. What was sent may be lost.
	Close() error
}

// Receiver is what an end receives with.
type Receiver interface {
	// Receive returns the next message. It is good until the next call.
	Receive() ([]byte, error)
}

// Sender is what an end sends with.
type Sender interface {
	// Send takes a message. It waits while there is no room for it.
	Send(message []byte) error
	// Flush sends what Send has gathered.
	Flush() error
	// Note says in a few words what the library tells of the connection, "" if nothing.
	Note() string
}

// All are the libraries that are compared.
var All = []Library{Ours{}, KCP{}, QUIC{}}

// Find returns the library of that name.
func Find(name string) (Library, error) {
	for _, l := range All {
		if l.Name() == name {
			return l, nil
		}
	}
	return nil, fmt.Errorf("no library %q", name)
}

// MaxMessage bounds what a length prefix may announce; no job sends that much at once.
const MaxMessage = 1 << 20
