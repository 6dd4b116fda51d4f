package raknet

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/endpoint"
	"github.com/raknet-go/raknet/internal/udp"
	"github.com/raknet-go/raknet/protocol"
)

// UpstreamPacketListener opens the socket under a listener: a [*net.ListenConfig]
// behind an adaptor, a proxy, a test's network.
type UpstreamPacketListener interface {
	ListenPacket(network, address string) (net.PacketConn, error)
}

// ListenConfig holds the settings of a listener. The zero value is ready to use. Of
// each number zero means the default and, unless the field says otherwise, a
// negative number no limit. The config is copied by Listen and Serve; changing it
// later has no effect.
type ListenConfig struct {
	// ErrorLog receives what an operator may want to know, such as errors of the
	// socket. Nothing is logged for each datagram of a stranger. Nil: nothing is logged.
	ErrorLog *slog.Logger
	// UpstreamPacketListener opens the socket, for the network "udp". The listener
	// closes it. Nil: net.ListenPacket.
	UpstreamPacketListener UpstreamPacketListener
	// DisableCookies lets clients connect without the proof that they receive at the
	// address they send from. Set it for clients that do not know cookies, and
	// behind a protection service that answers for the server and strips them.
	DisableCookies bool
	// CookieKeys returns the secrets under which cookies are made and recognised, newest first, for
	// several listeners that clients reach at one address: the first makes cookies, up to four
	// are recognised. It is called by the goroutine that serves the socket, once a second
	// while clients connect, with the time of day, and must return quickly; see
	// [SharedCookieKeys]. Keys should change within minutes, and one that was the first stay in
	// the list for as long again. Nil: a secret of the listener's own.
	CookieKeys func(now time.Time) []CookieKey
	// CookieVerifier makes and judges cookies instead. Nil: the listener does.
	CookieVerifier CookieVerifier
	// BlockDuration is how long [Listener.Block] blocks. The library itself never blocks
	// an address: all evidence a stranger can give is forgeable. Default 10 seconds.
	// Negative: Block does nothing.
	BlockDuration time.Duration
	// MaxMTU is the largest datagram agreed on with a client, counting 28 bytes of
	// headers, 400 to 1492. Default 1492, and 8 KB for transfers from and to a client
	// of this library on the same machine that has the default, too.
	MaxMTU uint16

	// ProtocolVersions are the versions a client may speak. Others are told the highest
	// of them. Nil: 10 and 11, which is Bedrock since 1.16.
	ProtocolVersions []byte
	// GUID is the number by which the listener calls itself. 0: random.
	GUID int64
	// MaxConnections bounds the connections; clients beyond are told that the server is
	// full. Default and negative: no limit.
	MaxConnections int
	// MaxPerIP bounds the connections of one IPv4 address or one /64 of IPv6; clients beyond are told
	// that the server is full. Many players may share an address behind a provider's translator
	// or a relay. Default and negative: no limit.
	MaxPerIP int
	// MaxHalfOpen bounds the handshakes that are not complete, MaxHalfOpenPerIP those of one IPv4
	// address or one /64 of IPv6. Their addresses are proven, unless DisableCookies is set.
	// Beyond, the oldest gives way, last of all those that went on within the last second: an honest one takes a
	// few round trips. Where all of an address did, another one of that address is not answered until it asks
	// again. A dial of this package that gave way starts anew by itself. Defaults 4096 and 32.
	MaxHalfOpen, MaxHalfOpenPerIP int
	// AcceptBacklog bounds the complete connections that wait for Accept; clients
	// beyond are told that the server is full. Default 128.
	AcceptBacklog int
	// Admit decides on each client whose address is proven (unless DisableCookies is
	// set), before the connection takes any memory. A [*RejectedError] refuses with its
	// reason, [ErrIgnoreRequest] without an answer, any other error as
	// RejectNoFreeSlots. Invalid password, security required and attempt failed cannot
	// be told at this point and are sent as RejectBanned. Admit is called by the
	// goroutine that serves the socket: it must return quickly and not call the
	// listener. Nil: everybody is welcome.
	Admit func(*ConnRequest) error
	// Pong returns the data that answers a server list ping, instead of what
	// PongData set. It is called by the goroutine that serves the socket and must return
	// quickly. Pings cost their sender nothing, and their addresses may be forged. Nil:
	// what PongData set.
	Pong func(PingRequest) []byte
	// PongRate is how many pings from one network, a /24 of IPv4 or a /56 of IPv6, are answered
	// in a second, and PongRateTotal how many of all networks together; after a pause as
	// many as in two seconds. The others go unanswered, since an answer goes wherever the ping says
	// that it comes from, and is larger. Defaults 20 and 2000.
	PongRate, PongRateTotal int
	// RawHandler answers datagrams of strangers that are not of RakNet, such as those of the
	// query protocol, on the same socket. Nil is no answer; one longer than 1464 bytes is cut
	// off. It is called by the goroutine that serves the socket and must return quickly. As
	// with pings, addresses may be forged: PongRate and PongRateTotal hold for these datagrams,
	// too, with budgets of their own, and those beyond are dropped unseen. Nil: all are dropped.
	RawHandler func(RawDatagram) []byte
	// Exempt are networks to which no bound per address applies: neither Block, nor MaxPerIP,
	// MaxHalfOpenPerIP and PongRate. For relays, monitors, and machines of one's own whose
	// addresses nobody outside can forge. TrustedProxies are exempt, too.
	Exempt []netip.Prefix
	// TrustedProxies are the networks of proxies that put a header of the PROXY protocol,
	// version 1 or 2, in front of datagrams, at least of all those of the handshake. The address that it names
	// is then the client's for everything but sending: Admit, RemoteAddr, cookies,
	// blocks, bounds and logs; answers go to the proxy, which needs a port for each of its clients.
	// See [Conn.ProxyAddr]. A header from anybody else is dropped: it could name anybody. A
	// proxy must not be reachable around, and nobody else be able to send from its address.
	TrustedProxies []netip.Prefix
	// Memory bounds what all connections hold together. Nil: [DefaultMemoryBudget], which is shared
	// with all other listeners and dialers.
	Memory *MemoryBudget
	// Limits bound the memory of each connection.
	Limits Limits
	// PeerLimits say what the clients take. The zero value suits every known one.
	PeerLimits PeerLimits
	// Timeouts are the times after which each connection acts.
	Timeouts Timeouts
	// Congestion selects the congestion control of each connection.
	Congestion Congestion
	// NoRepeats turns off the repetition of small messages. Otherwise, while datagrams are
	// seen to be lost and little is under way, an unacknowledged ReliableOrdered message
	// of up to 600 bytes rides along again in the next one, two or three datagrams: if it
	// was lost, it comes a send interval later instead of a round trip. That adds bytes
	// and never a datagram; receivers drop the copies.
	NoRepeats bool
	// Sockets is how many sockets share the address, so that as many processors can read
	// from it: worth trying when one is busy with nothing else. Linux keeps every client on
	// one of them. Admit, Pong and Handler are then called by several goroutines at once, and
	// other programs of the same user may bind to the address as well. At most 64. On other
	// systems, and for sockets that others open, there is one. Default 1.
	Sockets int
	// Offload says how much work the system may do at once. The zero value is the most.
	Offload Offload
	// Tracer is told of what happens to connections. Nil: nobody is.
	Tracer *Tracer
	// Handler is given every message of every connection, instead of Read and Receive:
	// see [Conn.Handle]. Accept need not be called then. Nil: connections are read.
	Handler func(*Conn, Message)
}

// ConnRequest is a client that asks to connect.
type ConnRequest struct {
	// Addr is the client's address, a [*net.UDPAddr] on UDP.
	Addr net.Addr
	// AddrPort is Addr in comparable form. For addresses that are not made of an IP
	// address and a port it is a made-up one in 100::/8, the same for equal addresses.
	AddrPort netip.AddrPort
	// Proxy is the proxy of [ListenConfig].TrustedProxies that told Addr, or nil.
	Proxy net.Addr
	// GUID is what the client calls itself. Nothing proves it.
	GUID int64
	// ProtocolVersion is the version the client speaks.
	ProtocolVersion byte
	// MTU is the datagram size that the connection will have.
	MTU int
}

// PingRequest is a server list ping. Nothing proves any of it.
type PingRequest struct {
	// Addr is where the ping says that it comes from.
	Addr net.Addr
	// Proxy is the proxy of [ListenConfig].TrustedProxies that told Addr, or nil.
	Proxy net.Addr
	// GUID is what the pinging program calls itself.
	GUID int64
	// OnlyIfOpen says that the ping asks for an answer only while the server has room.
	// It has.
	OnlyIfOpen bool
}

// Listener accepts connections on one address. Every method may be called by any
// number of goroutines at once. Its zero value is of no use.
type Listener struct {
	ep       *endpoint.Endpoint
	addr     net.Addr
	blockFor time.Duration
	pong     atomic.Pointer[[]byte]
	pongFunc atomic.Pointer[func(net.Addr) []byte]
}

var _ net.Listener = (*Listener)(nil)

// Listen waits for connections on a UDP address such as ":19132". Port 0 picks a
// free one; see [Listener.Addr].
func (conf ListenConfig) Listen(address string) (*Listener, error) {
	if up := conf.UpstreamPacketListener; up != nil {
		pc, err := up.ListenPacket("udp", address)
		if err != nil {
			return nil, listenError(address, err)
		}
		return conf.serve([]udp.Socket{udp.Wrap(pc, conf.Offload.options())}, address)
	}
	list, err := udp.ListenSeveral(address, conf.Sockets, conf.Offload.options())
	if err != nil {
		return nil, listenError(address, err)
	}
	return conf.serve(list, address)
}

// Serve waits for connections on a socket of the caller's, of any kind and with
// any type of address. The listener owns it from then on: it alone reads and
// writes, and it closes it.
func (conf ListenConfig) Serve(pc net.PacketConn) (*Listener, error) {
	return conf.serve([]udp.Socket{udp.Wrap(pc, conf.Offload.options())}, pc.LocalAddr().String())
}

// serve starts a listener on sockets of one address, which it closes when it fails.
func (conf ListenConfig) serve(list []udp.Socket, address string) (*Listener, error) {
	l := &Listener{addr: list[0].LocalAddr(), blockFor: conf.BlockDuration}
	if l.blockFor == 0 {
		l.blockFor = defaultBlock
	}
	ep, err := endpoint.NewGroup(list, conf.endpoint(l))
	if err != nil {
		for _, s := range list {
			s.Close()
		}
		return nil, listenError(address, err)
	}
	l.ep = ep
	return l, nil
}

// endpoint returns the settings of the endpoint under l.
func (conf ListenConfig) endpoint(l *Listener) endpoint.Config {
	guid := conf.GUID
	if guid == 0 {
		guid = randomGUID()
	}
	c := endpoint.Config{
		GUID:           guid,
		Versions:       conf.ProtocolVersions,
		MaxMTU:         int(conf.MaxMTU),
		Accepting:      true,
		MaxConnections: conf.MaxConnections,
		MaxPerIP:       conf.MaxPerIP,
		HalfOpen:       conf.MaxHalfOpen,
		HalfOpenPerIP:  conf.MaxHalfOpenPerIP,
		AcceptBacklog:  conf.AcceptBacklog,
		PongRate:       conf.PongRate,
		PongRateTotal:  conf.PongRateTotal,
		Exempt:         conf.Exempt,
		Proxies:        conf.TrustedProxies,
		Budget:         conf.Memory.budget(),
		ARQ:            conf.PeerLimits.bound(engineConfig(conf.Limits, conf.Congestion, conf.NoRepeats)),
		LimitName:      conf.PeerLimits.fragmentLimit(conf.Limits),
		Timing:         conf.Timeouts.session(),
		Pong:           l.answer,
		Wrap:           wrap(conf.Tracer),
		Handler:        handler(conf.Handler),
		Cause:          endCause,
		Log:            conf.ErrorLog,
	}
	conf.cookies(&c)
	conf.Tracer.trace(&c)
	if conf.RawHandler != nil {
		c.Raw = func(p *endpoint.RawPacket) []byte {
			return conf.RawHandler(RawDatagram{Addr: clientAddr(p.Peer, p.Client), Proxy: proxyAddr(p.Peer, p.Client), Data: p.Data})
		}
	}
	if conf.Pong != nil {
		c.Pong = func(p *endpoint.PingRequest) []byte {
			return conf.Pong(PingRequest{Addr: clientAddr(p.Peer, p.Client), Proxy: proxyAddr(p.Peer, p.Client), GUID: p.GUID, OnlyIfOpen: p.OnlyIfOpen})
		}
	}
	if conf.Admit != nil {
		c.Admit = func(r *endpoint.Request) byte {
			req := ConnRequest{
				Addr: clientAddr(r.Peer, r.Client), AddrPort: r.Client, Proxy: proxyAddr(r.Peer, r.Client), GUID: r.GUID, ProtocolVersion: r.Version, MTU: r.MTU,
			}
			err := conf.Admit(&req)
			if err == nil {
				return 0
			}
			conf.Tracer.refused(&req, err)
			return refusal(err)
		}
	}
	return c
}

// engineConfig is the template of a connection's engine.
func engineConfig(l Limits, c Congestion, noRepeats bool) arq.Config {
	return arq.Config{Limits: l.arq(), Controller: c.controller(), NoRepeats: noRepeats}
}

// wrap returns what makes the user's connection from an endpoint's.
func wrap(t *Tracer) func(*endpoint.Conn) any {
	return func(ec *endpoint.Conn) any {
		c := newConn(ec)
		t.opened(c)
		return c
	}
}

func handler(h func(*Conn, Message)) func(*endpoint.Conn, endpoint.Message) {
	if h == nil {
		return nil
	}
	return func(ec *endpoint.Conn, m endpoint.Message) { h(ec.User().(*Conn), Message(m)) }
}

// refusal returns the packet that tells a client of an error of Admit.
func refusal(err error) byte {
	if errors.Is(err, ErrIgnoreRequest) {
		return endpoint.RefuseSilently
	}
	var rejected *RejectedError
	if !errors.As(err, &rejected) {
		return byte(protocol.IDNoFreeConnections)
	}
	switch rejected.Reason {
	case RejectNoFreeSlots:
		return byte(protocol.IDNoFreeConnections)
	case RejectAlreadyConnected:
		return byte(protocol.IDAlreadyConnected)
	case RejectRecentlyConnected:
		return byte(protocol.IDRecentlyConnected)
	}
	return byte(protocol.IDBanned)
}

// randomGUID returns a number that nobody else will have, with the top bit set as
// those of vanilla clients.
func randomGUID() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return int64(binary.BigEndian.Uint64(b[:]) | 1<<63)
}

// Accept waits for the next connection. It is always a [*Conn], complete and ready
// to use. After Close the error is [ErrListenerClosed].
func (l *Listener) Accept() (net.Conn, error) {
	c, err := l.AcceptContext(context.Background())
	if err != nil {
		return nil, err // not a nil *Conn in a non-nil interface
	}
	return c, nil
}

// AcceptContext is [Listener.Accept] that also ends with the context.
func (l *Listener) AcceptContext(ctx context.Context) (*Conn, error) {
	ec, err := l.ep.Accept(ctx)
	if err != nil {
		if errors.Is(err, net.ErrClosed) {
			err = ErrListenerClosed
		}
		return nil, opError("accept", nil, l.addr, ofContext(ctx, err))
	}
	return ec.User().(*Conn), nil
}

// Addr returns the address of the socket, a [*net.UDPAddr] on UDP.
func (l *Listener) Addr() net.Addr { return l.addr }

// ID returns the GUID of the listener, by which clients recognise the server.
func (l *Listener) ID() int64 { return l.ep.GUID() }

// Close closes the listener and all its connections at once: what they have not
// delivered yet is lost, but their peers are told. Closing again does nothing. See
// [Listener.Shutdown] for the gentle way.
func (l *Listener) Close() error { return opError("close", nil, l.addr, l.ep.Close()) }

// Shutdown stops admitting clients, closes every connection as [Conn.Close] does,
// waits until all have delivered what was written to them, and closes the listener.
// When the context ends first, it does what Close does and returns the context's error.
func (l *Listener) Shutdown(ctx context.Context) error {
	return opError("close", nil, l.addr, ofContext(ctx, l.ep.Shutdown(ctx)))
}

// PongData sets the data that answers server list pings, from the next one on. It
// copies data. Most programs that ping read at most 397 bytes of it, and answers
// carry no more. It panics if data is longer than 32767 bytes, which no answer can
// hold.
func (l *Listener) PongData(data []byte) {
	if len(data) > math.MaxInt16 {
		panic(fmt.Sprintf("raknet: pong data of %d bytes is longer than the %d that fit", len(data), math.MaxInt16))
	}
	data = append([]byte{}, data...)
	l.pong.Store(&data)
}

// PongDataFunc makes f, called with the address a ping claims to come from, the
// source of the answer's data instead of PongData, until it is called again with
// nil. f must return quickly. It has no effect with [ListenConfig].Pong.
func (l *Listener) PongDataFunc(f func(addr net.Addr) []byte) {
	if f == nil {
		l.pongFunc.Store(nil)
		return
	}
	l.pongFunc.Store(&f)
}

// answer returns the data that answers a ping. A listener without any still answers.
func (l *Listener) answer(p *endpoint.PingRequest) []byte {
	if f := l.pongFunc.Load(); f != nil {
		return (*f)(clientAddr(p.Peer, p.Client))
	}
	if data := l.pong.Load(); data != nil {
		return *data
	}
	return []byte{}
}

// Conns returns the connections that are complete and have not ended. Connections
// that come or go during the loop may be missed.
func (l *Listener) Conns() iter.Seq[*Conn] {
	return func(yield func(*Conn) bool) {
		for ec := range l.ep.Conns() {
			if c, ok := ec.User().(*Conn); ok && !yield(c) {
				return
			}
		}
	}
}

// Stats returns the listener's counters and gauges as they are now.
func (l *Listener) Stats() ListenerStats { return listenerStats(l.ep.Stats()) }

// listenError dresses an error of opening a socket, without a second layer of
// *net.OpError.
func listenError(address string, err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return opError("listen", nil, hostAddr(address), err)
}

// hostAddr is an address as the user wrote it.
type hostAddr string

// Network names the protocol.
func (hostAddr) Network() string { return network }

// String returns the address.
func (a hostAddr) String() string { return string(a) }
