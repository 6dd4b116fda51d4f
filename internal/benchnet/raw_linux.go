package main

import (
	"encoding/binary"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"

	"github.com/raknet-go/raknet/internal/benchnet/relay"
	"github.com/raknet-go/raknet/internal/netsim"
)

// What the relay itself can do: bare datagrams through it, without a protocol but for a
// window, so that the sender sends as many as arrive.

const (
	rawSize   = 1464
	rawBatch  = 64
	rawWindow = 8192 // datagrams: more than any of the libraries has in flight
	rawRun    = 44   // datagrams of one piece
	rawWait   = 100 * time.Millisecond
)

func raw(res *Result) error {
	c := &res.Cell
	link, err := netsim.ParseLink(c.Link)
	if err != nil {
		return err
	}
	server, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return err
	}
	defer server.Close()
	_ = server.SetReadBuffer(4 << 20)
	pieces := c.Library == "UDP, GSO"
	if raw, err := server.SyscallConn(); err == nil && pieces {
		_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_UDP, unix.UDP_GRO, 1) })
	}
	w := relay.Way{Link: link}
	p, err := relay.Start(relay.Config{Target: server.LocalAddr().String(), Up: w, Down: w, Seed: c.Seed}, "relay")
	if err != nil {
		return err
	}
	defer p.Stop()
	addr, err := net.ResolveUDPAddr("udp4", p.Addr)
	if err != nil {
		return err
	}
	client, err := net.DialUDP("udp4", nil, addr)
	if err != nil {
		return err
	}
	defer client.Close()
	_ = client.SetReadBuffer(4 << 20)
	_ = client.SetWriteBuffer(4 << 20)
	var received, told, bytes atomic.Int64
	go rawReceive(server, &received, &bytes)
	go func() { // what the receiver says arrived
		b := make([]byte, 64)
		for {
			if n, err := client.Read(b); errors.Is(err, net.ErrClosed) {
				return
			} else if err == nil && n == 8 {
				told.Store(max(told.Load(), int64(binary.BigEndian.Uint64(b))))
			}
		}
	}()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		rawSend(client, pieces, &told, stop)
	}()
	r := &rig{cell: c, relay: p}
	time.Sleep(c.Warm)
	a, err := r.look()
	if err != nil {
		return err
	}
	before := bytes.Load()
	time.Sleep(c.Measure)
	after := bytes.Load()
	b, err := r.look()
	if err != nil {
		return err
	}
	close(stop)
	<-stopped
	between(&a, &b, res)
	res.Values[mRate] = float64(after-before) / (b.at - a.at).Seconds() / mega
	return nil
}

// rawReceive counts, and tells the sender after each batch the highest number that came.
func rawReceive(c *net.UDPConn, received, bytes *atomic.Int64) {
	pc := ipv4.NewPacketConn(c)
	ms := make([]ipv4.Message, rawBatch)
	for i := range ms {
		ms[i].Buffers = [][]byte{make([]byte, 1<<16)}
	}
	var answer [8]byte
	for {
		n, err := pc.ReadBatch(ms, 0)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		for i := range max(n, 0) {
			// The last datagram of a piece is the newest.
			m := ms[i].Buffers[0][:ms[i].N]
			count := max(len(m)/rawSize, 1)
			if at := (count - 1) * rawSize; len(m) >= at+8 {
				received.Store(max(received.Load(), int64(binary.BigEndian.Uint64(m[at:]))))
			}
			bytes.Add(int64(len(m)))
		}
		if n > 0 {
			binary.BigEndian.PutUint64(answer[:], uint64(received.Load()))
			_, _ = c.WriteTo(answer[:], ms[0].Addr) // the next one says more
		}
	}
}

// rawSend keeps the window full. When nothing is heard for a while it takes all for lost.
func rawSend(c *net.UDPConn, pieces bool, told *atomic.Int64, stop chan struct{}) {
	pc := ipv4.NewPacketConn(c)
	run := 1
	if pieces {
		run = rawRun
	}
	ms := make([]ipv4.Message, rawBatch/run+1)
	if !pieces {
		ms = ms[:rawBatch]
	}
	for i := range ms {
		ms[i].Buffers = [][]byte{make([]byte, run*rawSize)}
		if pieces {
			ms[i].OOB = relay.Segment(rawSize)
		}
	}
	next, base := int64(1), int64(0)
	heard := time.Now()
	for {
		select {
		case <-stop:
			return
		default:
		}
		if t := told.Load(); t > base {
			base, heard = t, time.Now()
		}
		if next+int64(len(ms)*run) > base+rawWindow {
			if time.Since(heard) > rawWait {
				base = next
			}
			time.Sleep(50 * time.Microsecond)
			continue
		}
		for i := range ms {
			for j := range run {
				binary.BigEndian.PutUint64(ms[i].Buffers[0][j*rawSize:], uint64(next))
				next++
			}
		}
		for rest := ms; len(rest) > 0; {
			n, err := pc.WriteBatch(rest, 0)
			if err != nil {
				n = 1
			}
			rest = rest[max(n, 1):]
		}
	}
}
