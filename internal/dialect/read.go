package dialect

import "net/netip"

// Reading is what stands in one side of a connection.
type Reading struct {
	Messages   []Message // of the application, in the order of delivery
	Controls   map[byte]int
	Unreadable int
}

// Read takes the frame sets that one side sent and says what they hold, without any bound.
func Read(fromClient bool, datagrams [][]byte) Reading {
	r := Reading{Controls: map[byte]int{}}
	c := newConn(&Habits{}, fromClient, 1492, netip.AddrPort{}, func([]byte) {}, func(_ *Conn, m Message) { r.Messages = append(r.Messages, m) })
	c.controls = r.Controls
	for _, b := range datagrams {
		c.receive(b)
	}
	r.Unreadable = c.Losses.Unreadable
	return r
}
