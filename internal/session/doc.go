// Package session is one RakNet connection without any I/O: the reliability
// engine of package arq, the control messages that travel inside it (the
// handshake's 0x09, 0x10 and 0x13, pings and pongs, the disconnect), and the life
// of the whole: handshaking, connected, closing, closed, dead.
//
// It reads no clock, starts no goroutine and touches no socket. The caller feeds
// it datagrams and the time and takes datagrams, events and messages out:
//
//	c.Init(now, &cfg)              // once
//	c.Receive(now, buf, datagram)  // inputs
//	c.Advance(now)
//	c.Send(now, &msg)
//	for c.Next(&ev) { … }          // outputs
//	for c.NextMessage(&d) { … }
//	for b := c.Transmit(now); b != nil; b = c.Transmit(now) { … }
//	wake at c.Deadline() and call Advance
//
// After any input drain Next, call Transmit until it returns nil (or until enough
// was sent), then read Deadline again. Equal inputs at equal times give equal
// outputs. Time may stand still but never go back; an earlier now is taken as the
// latest one seen.
package session
