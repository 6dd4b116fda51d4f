package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/raknet-go/raknet/internal/attack/forge"
	"github.com/raknet-go/raknet/internal/udp"
)

// The attacker: floods from sockets of its own.

// attackKind says who attacks.
type attackKind string

const (
	byStranger attackKind = "stranger"
	byForger   attackKind = "forger"
	byPeer     attackKind = "peer"
	byVector   attackKind = "vector"
	byLoris    attackKind = "loris"
	byServer   attackKind = "server"
)

// Attack is what an attacker did.
type Attack struct {
	Sent, Bytes         uint64
	Answers, AnswerSize uint64
	Connects            int // connections made
	Time                time.Duration
}

type attacker struct {
	open    []udp.Socket // until told to stop
	clients []*client
	lures   *lures
}

const (
	// floodBatch is how many datagrams one system call sends.
	floodBatch = 64
	// floodBuffer holds any datagram.
	floodBuffer = 2048
	// answersWaiting bounds what waits to be said in return; more is dropped.
	answersWaiting = 4096
	// floodSenders is how many send at once what has no bound but the machine.
	floodSenders = 2
)

// unjoined are sockets whose datagrams leave one by one, as those of many attackers would come.
var unjoined = udp.Options{Path: udp.Batch}

func (a *attacker) obey(o *Order) (Answer, error) {
	switch o.Op {
	case "attack":
		t, err := a.attack(o)
		return Answer{Attack: &t}, err
	case "lure":
		return a.lure(o)
	case "stop":
		a.close()
		return Answer{}, nil
	}
	return Answer{}, errors.New("no such order")
}

func (a *attacker) close() {
	for _, c := range a.clients {
		c.leave()
	}
	a.clients = nil
	for _, s := range a.open {
		s.Close()
	}
	a.open = nil
	if a.lures != nil {
		a.lures.close()
		a.lures = nil
	}
}

func (a *attacker) attack(o *Order) (Attack, error) {
	target, err := netip.ParseAddrPort(o.Target)
	if err != nil {
		return Attack{}, err
	}
	switch o.Kind {
	case byStranger:
		for _, s := range forge.Strangers() {
			if s.Name == o.Name {
				return a.strangers(o, target, &s)
			}
		}
	case byForger:
		for _, f := range forge.Forgeries() {
			if f.Name == o.Name {
				return a.forgers(o, target, &f)
			}
		}
	case byLoris:
		return a.loris(o, target)
	case byPeer, byVector:
		return a.peers(o, target)
	}
	return Attack{}, fmt.Errorf("no attack %q by a %s", o.Name, o.Kind)
}

// flood sends what next makes, at the order's rate, until its time or its count ends. next
// fills in a datagram, appending to the Data that it finds, and reports whether it had one.
func flood(sock udp.Socket, o *Order, rate float64, count uint64, next func(out *udp.Outbound) bool) (sent, bytes uint64) {
	room := make([]byte, floodBatch*floodBuffer)
	batch := make([]udp.Outbound, 0, floodBatch)
	for began := time.Now(); count == 0 || sent < count; {
		past := time.Since(began)
		if past >= o.Time {
			break
		}
		n := uint64(floodBatch)
		if rate > 0 {
			n = min(n, uint64(rate*past.Seconds())-sent)
		}
		if count > 0 {
			n = min(n, count-sent)
		}
		batch = batch[:0]
		for i := range n {
			batch = append(batch, udp.Outbound{Data: room[i*floodBuffer:][:0:floodBuffer]})
			if !next(&batch[i]) {
				batch = batch[:i]
				break
			}
			bytes += uint64(len(batch[i].Data))
		}
		sent += uint64(len(batch))
		for rest := batch; len(rest) > 0; {
			n, err := sock.WriteBatch(rest)
			if udp.IsClosed(err) {
				return sent, bytes
			}
			if rest = rest[n:]; err != nil && len(rest) > 0 {
				rest = rest[1:] // the system did not want it
			}
		}
		if len(batch) < floodBatch {
			time.Sleep(500 * time.Microsecond)
		}
	}
	return sent, bytes
}

// listenOn opens a socket of the attacker's, which is closed when it is told to stop.
func (a *attacker) listenOn(address string) (udp.Socket, error) {
	s, err := udp.Listen(address, unjoined)
	if err == nil {
		a.open = append(a.open, s)
	}
	return s, err
}

// The addresses of attackers who do not forge theirs: the real sessions are at 127.0.0.1.
const (
	strangerAddress = "127.0.66.1:0"
	peerAddress     = "127.0.77.1:0"
	everyAddress    = "0.0.0.0:0" // from which all of 127.0.0.0/8 can be sent from
)

// answered is a datagram that came from the server, for those who follow up.
type answered struct {
	data []byte
	at   netip.Addr // our address that it came to
}

// strangers floods from addresses without a connection.
func (a *attacker) strangers(o *Order, target netip.AddrPort, s *forge.Stranger) (Attack, error) {
	senders := 1
	if o.Rate == 0 {
		senders = floodSenders
	}
	address := strangerAddress
	if s.Spoofed {
		address = everyAddress
	}
	var r Attack
	var sent, bytes, answers, size atomic.Uint64
	var group sync.WaitGroup
	began := time.Now()
	for k := range senders {
		sock, err := a.listenOn(address)
		if err != nil {
			return r, err
		}
		follow := make(chan answered, answersWaiting)
		go listen(sock, func(in *udp.Inbound, data []byte) {
			answers.Add(1)
			size.Add(uint64(len(data)))
			if s.Follow != nil {
				if d := s.Follow(data, nil); d != nil {
					select {
					case follow <- answered{d, in.Local}:
					default:
					}
				}
			}
		})
		i := uint64(k)
		group.Go(func() {
			n, b := flood(sock, o, float64(o.Rate)/float64(senders), o.Count/uint64(senders), func(out *udp.Outbound) bool {
				out.To = udp.Peer{AddrPort: target}
				select {
				case f := <-follow:
					out.Data, out.Local = append(out.Data, f.data...), f.at
					return true
				default:
				}
				if s.Spoofed {
					out.Local = forge.Source(i)
				}
				out.Data = s.Make(i, out.Data)
				i += uint64(senders)
				return true
			})
			sent.Add(n)
			bytes.Add(b)
		})
	}
	group.Wait()
	return Attack{Sent: sent.Load(), Bytes: bytes.Load(), Answers: answers.Load(), AnswerSize: size.Load(), Time: time.Since(began)}, nil
}

// listen reads a socket until it is closed.
func listen(sock udp.Socket, hear func(in *udp.Inbound, data []byte)) {
	in := make([]udp.Inbound, floodBatch)
	defer udp.Release(in)
	for {
		n, err := sock.ReadBatch(in)
		if udp.IsClosed(err) {
			return
		}
		for i := range n {
			hear(&in[i], in[i].Bytes())
		}
	}
}

// forgers floods from the addresses of real sessions.
func (a *attacker) forgers(o *Order, target netip.AddrPort, f *forge.Forged) (Attack, error) {
	var r Attack
	began := time.Now()
	var sent, bytes atomic.Uint64
	var group sync.WaitGroup
	lc := net.ListenConfig{Control: reusePort}
	if len(o.Victims) == 0 {
		return r, errors.New("nobody to forge")
	}
	for k, address := range o.Victims {
		pc, err := lc.ListenPacket(context.Background(), "udp4", address)
		if err != nil {
			return r, err
		}
		sock := udp.Wrap(pc, unjoined)
		a.open = append(a.open, sock)
		i := uint64(k) << 32
		group.Go(func() {
			n, b := flood(sock, o, float64(o.Rate)/float64(len(o.Victims)), o.Count/uint64(len(o.Victims)), func(out *udp.Outbound) bool {
				out.To = udp.Peer{AddrPort: target}
				out.Data = f.Make(i, out.Data)
				i++
				return true
			})
			sent.Add(n)
			bytes.Add(b)
		})
	}
	group.Wait()
	return Attack{Sent: sent.Load(), Bytes: bytes.Load(), Time: time.Since(began)}, nil
}
