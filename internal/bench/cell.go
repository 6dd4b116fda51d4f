package main

import (
	"time"
)

// Cell is one measurement of one library. Both ends are processes of their own, so that
// none is troubled by what another left behind, and each end's processor time is known.
type Cell struct {
	Work    Work
	Library string
	Size    int           `json:",omitempty"` // of a message
	Count   int           `json:",omitempty"` // of clients
	Warm    time.Duration `json:",omitempty"`
	Measure time.Duration
	Run     int
	Reads   bool   `json:",omitempty"` // idle: a goroutine waits for messages on every connection
	Leaves  bool   `json:",omitempty"` // idle: the clients close again when they are stopped
	Profile string `json:",omitempty"` // directory to write CPU profiles to

	// What an end is told.
	Role    string `json:",omitempty"` // server or client
	Address string `json:",omitempty"` // of the server
}

// Work is what is measured.
type Work string

// The works.
const (
	Bulk    Work = "bulk"    // messages one way, as many as fit
	Ping    Work = "ping"    // a message there and back at a time
	Connect Work = "connect" // one connection after the other
	Pong    Work = "pong"    // questions of server lists
	Idle    Work = "idle"    // connections on which nothing happens
	Players Work = "players" // a game with its players
)

// Values are what a cell measured, by metric. What was not measured is not there.
type Values map[string]float64

// Result is a cell and what came of it.
type Result struct {
	Cell    Cell
	Error   string `json:",omitempty"`
	Skipped string `json:",omitempty"` // why it could not be measured here
	Values  Values
	Note    string `json:",omitempty"`
}

// The metrics.
const (
	mRate      = "MB/s"
	mMessages  = "messages/s"
	mCPU       = "CPU-s/GB" // both ends
	mServerGB  = "CPU-s/GB of the receiver"
	mAllocs    = "allocations/message" // both ends
	mP50       = "p50 us"
	mP99       = "p99 us"
	mP999      = "p99.9 us"
	mMax       = "max us"
	mPerSecond = "per second"
	mServerUS  = "server CPU us each"
	mSrvAllocs = "server allocations each"
	mHeap      = "heap bytes each"
	mStack     = "stack bytes each"
	mRSS       = "RSS bytes each"
	mServerCPU = "server cores"
	mInTime    = "messages in time, %" // of those that a game should have
	mFullCPU   = "server cores, were all in time"
	mClientCPU = "client cores"
	mOthers    = "cores used by others"
	mDone      = "messages"
)

// Bounds on how long a part of a measurement may take, beside what it is meant to take. What
// passes them has failed.
const (
	helloTime  = 30 * time.Second // start, and connect
	lookTime   = 20 * time.Second
	settleTime = 15 * time.Second // deliver what was sent
)
