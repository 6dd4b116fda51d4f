package main

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/raknet-go/raknet/internal/attack/forge"
	"github.com/raknet-go/raknet/internal/udp"
)

// The hostile server: it answers a dial honestly up to a stage, and then it does what it is for.

// lures are a hostile server's clients.
type lures struct {
	sock udp.Socket
	s    forge.Server
	o    Order
	done chan struct{}

	mu    sync.Mutex
	links map[netip.AddrPort]*lured
	wait  sync.WaitGroup
}

type lured struct {
	link    *forge.Link
	hostile bool
	acks    []uint32
	answers [][]byte
}

var hostileServers = sync.OnceValues(forge.Servers)

// serverNamed finds an attack by a server.
func serverNamed(name string) (*forge.Server, error) {
	all, err := hostileServers()
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Name == name {
			return &all[i], nil
		}
	}
	return nil, fmt.Errorf("no attack %q by a server", name)
}

// lure opens a hostile server, until told to stop.
func (a *attacker) lure(o *Order) (Answer, error) {
	s, err := serverNamed(o.Name)
	if err != nil {
		return Answer{}, err
	}
	sock, err := a.listenOn("127.0.0.1:0")
	if err != nil {
		return Answer{}, err
	}
	l := &lures{sock: sock, s: *s, o: *o, done: make(chan struct{}), links: map[netip.AddrPort]*lured{}}
	a.lures = l
	l.wait.Go(l.serve)
	go listen(sock, func(in *udp.Inbound, d []byte) { l.hear(in.From.AddrPort, d) })
	return Answer{Address: sock.LocalAddr().String()}, nil
}

func (l *lures) close() {
	close(l.done)
	l.wait.Wait()
}

// hear answers as an honest server does, unless it is time to be hostile.
func (l *lures) hear(from netip.AddrPort, d []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.links[from]
	if c == nil {
		c = &lured{link: forge.NewLink(1)}
		l.links[from] = c
	}
	if number, numbered := c.link.Hear(d); numbered {
		c.acks = append(c.acks, number)
	}
	at := *c.link
	switch answer, stage, ok := c.link.Answer(d, nil); {
	case !ok:
	case stage < l.s.Stage:
		if len(answer) > 0 {
			c.answers = append(c.answers, answer)
		}
	default:
		*c.link = at // the answer does not leave
		c.hostile = c.hostile || stage == l.s.Stage
	}
}

// serve floods whoever has come to the stage.
func (l *lures) serve() {
	sent := map[netip.AddrPort]uint64{}
	rate := l.o.Rate / 1000 // in a millisecond
	for tick := time.NewTicker(time.Millisecond); ; {
		select {
		case <-l.done:
			tick.Stop()
			return
		case <-tick.C:
		}
		l.mu.Lock()
		var batch []udp.Outbound
		for at, c := range l.links {
			to := udp.Peer{AddrPort: at}
			if len(c.acks) > 0 {
				slices.Sort(c.acks)
				batch = append(batch, udp.Outbound{Data: forge.Ack(nil, slices.Compact(c.acks)), To: to})
				c.acks = c.acks[:0]
			}
			for _, d := range c.answers {
				batch = append(batch, udp.Outbound{Data: d, To: to})
			}
			c.answers = c.answers[:0]
			for n := 0; c.hostile && l.s.Make != nil && n < rate && sent[at] < l.o.Count; n++ {
				batch = append(batch, udp.Outbound{Data: l.s.Make(c.link, sent[at], nil), To: to})
				sent[at]++
			}
		}
		l.mu.Unlock()
		for len(batch) > 0 {
			n, err := l.sock.WriteBatch(batch)
			if udp.IsClosed(err) {
				return
			}
			if batch = batch[n:]; err != nil && len(batch) > 0 {
				batch = batch[1:]
			}
		}
	}
}
