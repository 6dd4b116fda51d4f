package raknet

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/raknet-go/raknet/internal/endpoint"
	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/udp"
)

// UpstreamDialer opens the sockets of a dialer, such as a [*net.Dialer] with a
// local address, or a proxy.
type UpstreamDialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// Dialer holds the settings of connections and pings to servers. The zero value is
// ready to use. It is never changed, and may be used by several goroutines at once.
type Dialer struct {
	// ErrorLog receives what an operator may want to know, such as errors of the
	// socket. Nil: nothing is logged.
	ErrorLog *slog.Logger
	// UpstreamDialer opens a connected socket, for the network "udp" and the address as
	// it was given. Every Read and Write of the result must be one datagram. Each
	// attempt of a dial opens one, and the connection closes it. Nil: a UDP socket to
	// each address of the host in turn, IPv4 first.
	UpstreamDialer UpstreamDialer
	// MaxTransientErrors is how many errors in a row the socket may give during the
	// handshake, such as that nobody listens at the port, before the dial fails with
	// the last of them. Default 10. -1: no limit.
	MaxTransientErrors int
	// MaxMTU is the largest datagram tried, counting 28 bytes of headers, 400 to 1492.
	// Default 1492. Sizes that the path does not carry are found out and avoided
	// without it. Transfers between two processes of one machine that both have the
	// default fill datagrams of 8 KB.
	MaxMTU uint16

	// ProtocolVersion is the version to speak. 0: 11, and when the server names
	// another from 6 to 11, that one.
	ProtocolVersion byte
	// GUID is the number by which this side calls itself. 0: a random one with the
	// top bit set, as vanilla clients have, for each attempt.
	GUID int64
	// Memory bounds what all connections hold together. Nil: [DefaultMemoryBudget], which is shared
	// with all other dialers and listeners.
	Memory *MemoryBudget
	// Limits bound the memory of each connection.
	Limits Limits
	// PeerLimits say what the servers dialed take. The zero value suits every known one but
	// PocketMine: see [PeerPocketMine].
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
	// Offload says how much work the system may do at once. The zero value is the most.
	Offload Offload
	// Tracer is told of attempts and of what happens to connections. Nil: nobody is.
	Tracer *Tracer
}

// Pong is a server's answer to a ping.
type Pong struct {
	// Data is what the server shows in server lists. It belongs to the caller and is
	// never nil.
	Data []byte
	// GUID is the number by which the server calls itself.
	GUID int64
	// RTT is the time from the ping that was answered to its answer.
	RTT time.Duration
	// Addr is the address that answered, a [*net.UDPAddr] on UDP.
	Addr net.Addr
}

// Dial connects to a server, such as "play.example.org:19132", within 10 seconds.
// The connection returned is ready to use.
func (d Dialer) Dial(address string) (*Conn, error) { return d.DialTimeout(address, dialTimeout) }

// DialTimeout is [Dialer.Dial] with another time limit.
func (d Dialer) DialTimeout(address string, timeout time.Duration) (*Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, address)
}

// DialContext is [Dialer.Dial] that ends when the context does, or, if that has no
// deadline, after Timeouts.Handshake. The context has no influence on the
// connection once it is returned.
//
// Of a host with several addresses the next is tried when one has failed or has
// not answered for a second.
func (d Dialer) DialContext(ctx context.Context, address string) (*Conn, error) {
	if _, ok := ctx.Deadline(); !ok {
		limit := d.Timeouts.Handshake
		if limit <= 0 {
			limit = dialTimeout
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	targets, err := d.targets(ctx, address)
	if err != nil {
		return nil, opError("dial", nil, hostAddr(address), err)
	}
	ec, err := race(ctx, targets, d.dialTarget, func(ec *endpoint.Conn) { ec.Abort(net.ErrClosed) })
	if err != nil {
		return nil, opError("dial", nil, targets[0].addr, dialError(ctx, err))
	}
	return ec.User().(*Conn), nil
}

// Ping asks a server for the data that it shows in server lists, for up to 5 seconds.
func (d Dialer) Ping(address string) ([]byte, error) { return d.PingTimeout(address, pingTimeout) }

// PingTimeout is [Dialer.Ping] with another time limit.
func (d Dialer) PingTimeout(address string, timeout time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.PingContext(ctx, address)
}

// PingContext is [Dialer.Ping] that repeats the question until an answer comes or
// the context ends.
func (d Dialer) PingContext(ctx context.Context, address string) ([]byte, error) {
	p, err := d.PingInfo(ctx, address)
	return p.Data, err
}

// PingInfo is [Dialer.PingContext] that returns everything the answer tells.
func (d Dialer) PingInfo(ctx context.Context, address string) (Pong, error) {
	targets, err := d.targets(ctx, address)
	if err != nil {
		return Pong{}, opError("ping", nil, hostAddr(address), err)
	}
	p, err := race(ctx, targets, d.pingTarget, func(Pong) {})
	if err != nil {
		return Pong{}, opError("ping", nil, targets[0].addr, dialError(ctx, err))
	}
	return p, nil
}

// target is a place to dial: one address of a host, or whatever an UpstreamDialer
// makes of its name.
type target struct {
	addr     net.Addr       // for errors and the tracer
	addrPort netip.AddrPort // not valid: name is for the UpstreamDialer
	name     string
}

func (d Dialer) targets(ctx context.Context, address string) ([]target, error) {
	if d.UpstreamDialer != nil {
		return []target{{addr: hostAddr(address), name: address}}, nil
	}
	addrs, err := resolve(ctx, address)
	if err != nil {
		if ctx.Err() != nil {
			return nil, contextErr(ctx, err)
		}
		return nil, err
	}
	targets := make([]target, len(addrs))
	for i, a := range addrs {
		targets[i] = target{addr: net.UDPAddrFromAddrPort(a), addrPort: a}
	}
	return targets, nil
}

// open opens a socket to t.
func (d Dialer) open(ctx context.Context, t target) (udp.Socket, udp.Peer, error) {
	s, err := d.socket(ctx, t)
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) {
			err = op.Err
		}
		return nil, udp.Peer{}, err
	}
	peer, ok := s.RemotePeer()
	if !ok || !peer.AddrPort.IsValid() {
		s.Close()
		return nil, udp.Peer{}, errNotConnected
	}
	return s, peer, nil
}

func (d Dialer) socket(ctx context.Context, t target) (udp.Socket, error) {
	if d.UpstreamDialer != nil {
		c, err := d.UpstreamDialer.DialContext(ctx, "udp", t.name)
		if err != nil {
			return nil, err
		}
		return udp.WrapConn(c, d.Offload.options()), nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return udp.Dial(t.addrPort, d.Offload.options()) // which waits for nothing
}

var errNotConnected = errors.New("the UpstreamDialer returned a connection without a remote address")

// defaultTransientErrors is how many errors in a row a dial survives. As in go-raknet.
const defaultTransientErrors = 10

// endpoint returns the settings of an endpoint that dials or pings once.
func (d Dialer) endpoint() endpoint.Config {
	guid := d.GUID
	if guid == 0 {
		guid = randomGUID()
	}
	transient := d.MaxTransientErrors
	if transient == 0 {
		transient = defaultTransientErrors
	}
	c := endpoint.Config{
		GUID:         guid,
		MaxMTU:       int(d.MaxMTU),
		Budget:       d.Memory.budget(),
		ARQ:          d.PeerLimits.bound(engineConfig(d.Limits, d.Congestion, d.NoRepeats)),
		LimitName:    d.PeerLimits.fragmentLimit(d.Limits),
		Timing:       d.Timeouts.session(),
		Wrap:         wrap(d.Tracer),
		Cause:        endCause,
		Log:          d.ErrorLog,
		MaxTransient: transient,
		Solo:         true,
	}
	d.Tracer.trace(&c)
	return c
}

// dialTarget connects to t, starting over from a fresh local port as often as the
// server wants one.
func (d Dialer) dialTarget(ctx context.Context, t target) (*endpoint.Conn, error) {
	var client offline.Client
	for again := false; ; again = true {
		d.Tracer.dialing(t.addr, d.ErrorLog)
		ec, err := d.dialOnce(ctx, t, &client, again)
		if !errors.Is(err, endpoint.ErrFreshPort) {
			return ec, err
		}
		if ctx.Err() != nil { // what the server wants is of no use any more
			return nil, ctx.Err()
		}
	}
}

func (d Dialer) dialOnce(ctx context.Context, t target, client *offline.Client, again bool) (*endpoint.Conn, error) {
	s, peer, err := d.open(ctx, t)
	if err != nil {
		return nil, err
	}
	ep, err := endpoint.New(s, d.endpoint())
	if err != nil {
		s.Close()
		return nil, err
	}
	ec, err := ep.Dial(ctx, peer, endpoint.DialConfig{Version: d.ProtocolVersion, Client: client, Again: again, KnownGUID: d.GUID != 0})
	if err != nil {
		ep.Close()
		return nil, err
	}
	return ec, nil // which closes its endpoint when it has ended
}

func (d Dialer) pingTarget(ctx context.Context, t target) (Pong, error) {
	s, peer, err := d.open(ctx, t)
	if err != nil {
		return Pong{}, err
	}
	ep, err := endpoint.New(s, d.endpoint())
	if err != nil {
		s.Close()
		return Pong{}, err
	}
	defer ep.Close()
	p, err := ep.Ping(ctx, peer)
	if err != nil {
		return Pong{}, err
	}
	if p.Data == nil {
		p.Data = []byte{}
	}
	return Pong{Data: p.Data, GUID: p.GUID, RTT: p.RTT, Addr: peerAddr(p.From)}, nil
}
