package main

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/raknet-go/raknet"
)

// The dialer that hostile servers attack, in a process with little memory.

// victimMemory is GOMEMLIMIT of that process.
const (
	victimMemory      = "64MiB"
	victimMemoryBytes = 64 << 20
)

// Dial is what a dialer saw of one server.
type Dial struct {
	Connected, Ended bool
	Error            string
	Clear            bool // the error is one that a program can tell from others
	Peak             int64
	Heap             int64 // that lives, while the connection does
	Time             time.Duration
	Messages         int
}

type victim struct{}

func (v *victim) close() {}

func (v *victim) obey(o *Order) (Answer, error) {
	switch o.Op {
	case "dial":
		d := v.dial(o)
		return Answer{Dial: &d}, nil
	case "ping":
		d := v.ping(o)
		return Answer{Dial: &d}, nil
	}
	return Answer{}, errors.New("no such order")
}

// ping asks a server for its data.
func (v *victim) ping(o *Order) (d Dial) {
	began := time.Now()
	_, err := raknet.Dialer{}.PingTimeout(o.Target, o.Time)
	d.note(err)
	d.Connected, d.Ended, d.Time = err == nil, true, time.Since(began)
	_, d.Peak = memory()
	return d
}

// dial connects to a server and stays for as long as the order says.
func (v *victim) dial(o *Order) (d Dial) {
	debug.FreeOSMemory()
	began := time.Now()
	conn, err := raknet.Dialer{}.DialTimeout(o.Target, o.Greet)
	d.Time = time.Since(began)
	if err != nil {
		d.note(err)
		d.Ended = true
	} else {
		d.Connected = true
		d.stay(conn, o)
	}
	_, d.Peak = memory()
	return d
}

// stay keeps a connection for some time; reading it, unless the order is to be deaf.
func (d *Dial) stay(conn *raknet.Conn, o *Order) {
	read := make(chan int, 1)
	ctx, cancel := context.WithTimeout(conn.Context(), o.Time)
	defer cancel()
	go func() {
		n := 0
		for !o.Probe {
			if _, err := conn.ReadPacket(); err != nil {
				break
			}
			n++
		}
		read <- n
	}()
	<-ctx.Done()
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	d.Heap = int64(m.HeapAlloc)
	if d.Ended = conn.Context().Err() != nil; d.Ended {
		d.note(context.Cause(conn.Context()))
	}
	conn.Close()
	d.Messages = <-read
	if !d.Ended {
		d.Clear = true // it lives, and was closed
	}
}

// note describes the error with which a dial or a connection ended.
func (d *Dial) note(err error) {
	if err == nil {
		d.Clear = true
		return
	}
	d.Error = err.Error()
	var rejected *raknet.RejectedError
	var version *raknet.VersionError
	var disconnect *raknet.DisconnectError
	d.Clear = errors.As(err, &rejected) || errors.As(err, &version) || errors.As(err, &disconnect)
	for _, known := range []error{
		raknet.ErrNoAnswer, raknet.ErrHandshakeTimeout, raknet.ErrIdleTimeout, raknet.ErrUnacknowledged, raknet.ErrReceiveOverflow,
		raknet.ErrProtocolViolation, net.ErrClosed, io.EOF, context.DeadlineExceeded,
	} {
		d.Clear = d.Clear || errors.Is(err, known)
	}
}
