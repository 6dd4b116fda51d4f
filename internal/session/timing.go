package session

import "time"

// Timing holds the durations of a connection's life. Of each, zero means the
// default and negative means off, except where noted.
type Timing struct {
	// Handshake is how long the handshake may take. Default 10 s, as in the
	// original engine. Negative also means the default: a handshake must end.
	Handshake time.Duration
	// Idle is how long the peer may stay silent before it counts as dead.
	// Default 10 s, as in the original engine. Off: silence never ends the connection.
	Idle time.Duration
	// Ping is how long nothing that asks for an acknowledgement may leave before a
	// connected ping does. Default 2.5 s: a quarter of Idle, so that three
	// chances for an answer pass before probing begins to matter, and half of the
	// 5 s after which go-raknet gives a silent peer up. Capped at a quarter of Idle. The default is
	// longer for kin, see kin.go.
	// Off: no pings are sent, so that only traffic or Idle shows a dead peer.
	Ping time.Duration
	// Unacked is how long one reliable frame may wait for its acknowledgement from a
	// peer that is heard all the time, within a quarter of it. Default 60 s: while
	// other datagrams pass, losing all the thirty or so resends of that time means a
	// peer that cannot read it, and not a path that loses 40 % each way. Off: such a
	// frame waits for ever.
	Unacked time.Duration
	// Drain is how long Close waits for what was written to be acknowledged before
	// it gives up on it. Default 5 s. Negative: Close does not wait.
	Drain time.Duration
	// Farewell is how long a disconnect notification is resent while the peer does
	// not acknowledge it. Default 2 s: peers forget a connection as soon as they
	// answered its 0x15 once, so that a lost answer is never repeated.
	// Negative: it is sent once.
	Farewell time.Duration
	// Linger is how long a closed connection still answers repeated datagrams
	// with acknowledgements, so that the peer can stop resending its last ones.
	// Default 2.5 s: longer than the original engine's first resend after 2 s.
	// Negative: not at all.
	Linger time.Duration
	// ReceiveStall is how long the application may leave more unread than
	// Limits.ReceiveBuffer before the connection ends with ErrReceiveOverflow.
	// Default 10 s. Off: the peer waits as long as it likes.
	ReceiveStall time.Duration

	usualPing bool // Ping is the default
}

const (
	defaultHandshake    = 10 * time.Second
	defaultIdle         = 10 * time.Second
	defaultPing         = 2500 * time.Millisecond
	defaultUnacked      = 60 * time.Second
	defaultDrain        = 5 * time.Second
	defaultFarewell     = 2 * time.Second
	defaultLinger       = 2500 * time.Millisecond
	defaultReceiveStall = 10 * time.Second
)

// Settle returns a copy of t with every zero replaced, and with what must be positive made so.
func (t Timing) Settle() *Timing {
	t.usualPing = t.Ping == 0
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&t.Handshake, defaultHandshake}, {&t.Idle, defaultIdle}, {&t.Ping, defaultPing},
		{&t.Unacked, defaultUnacked}, {&t.Drain, defaultDrain}, {&t.Farewell, defaultFarewell},
		{&t.Linger, defaultLinger}, {&t.ReceiveStall, defaultReceiveStall},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if t.Handshake < 0 {
		t.Handshake = defaultHandshake
	}
	if t.Idle > 0 && t.Ping > t.Idle/4 {
		t.Ping = t.Idle / 4
	}
	return &t
}
