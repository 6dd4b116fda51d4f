package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/raknet-go/raknet/internal/bench/bound"
	"github.com/raknet-go/raknet/internal/benchnet/rivals"
	"github.com/raknet-go/raknet/protocol"
)

// The names in the tables.
const (
	ours         = "raknet"
	oursBatch    = "raknet, no GSO/GRO"
	oursPlain    = "raknet, net.PacketConn"
	oursNarrow   = "raknet, MTU 1492"
	narrowBatch  = "raknet, MTU 1492, no GSO/GRO"
	boundName    = "bound"
	boundBatch   = "bound, no GSO/GRO"
	boundPlain   = "bound, net.PacketConn"
	udpOffload   = "UDP, GSO/GRO"
	udpBatch     = "UDP, sendmmsg"
	udpSingle    = "UDP, single"
	tcp          = "TCP"
	tcpUnbuf     = "TCP, unbuffered"
	quicGo       = "quic-go"
	kcpGo        = "kcp-go"
	sctpName     = "pion/sctp"
	goRaknet     = "go-raknet"
	enetName     = "ENet"
	oursHandlers = "raknet, handlers"
	rawEcho      = "UDP, echo in batches"
)

// library is a library under a name.
type library struct {
	rivals.Library
	name string
	env  []string // of both ends
}

// libraries are all that messages can be sent with. ENet is a program of its own.
var libraries = []library{
	{rivals.Ours{}, ours, nil},
	{rivals.Ours{}, oursBatch, []string{"RAKNET_DISABLE_GSO=1", "RAKNET_DISABLE_GRO=1"}},
	{rivals.Ours{}, oursPlain, []string{"RAKNET_SOCKET=plain"}},
	{rivals.Ours{MTU: protocol.MaxMTU}, oursNarrow, nil},
	{rivals.Ours{MTU: protocol.MaxMTU}, narrowBatch, []string{"RAKNET_DISABLE_GSO=1", "RAKNET_DISABLE_GRO=1"}},
	{rivals.Ours{}, oursHandlers, nil},
	{bounds{way: bound.Offload}, boundName, nil},
	{bounds{way: bound.Batch}, boundBatch, nil},
	{bounds{way: bound.Plain}, boundPlain, nil},
	{bounds{way: bound.Offload, bare: true}, udpOffload, nil},
	{bounds{way: bound.Batch, bare: true}, udpBatch, nil},
	{bounds{way: bound.Single, bare: true}, udpSingle, nil},
	{tcpLibrary{}, tcp, nil},
	{tcpLibrary{unbuffered: true}, tcpUnbuf, nil},
	{rivals.QUIC{}, quicGo, nil},
	{rivals.KCP{}, kcpGo, nil},
	{sctpLibrary{}, sctpName, nil},
	{goRaknetLibrary{}, goRaknet, nil},
}

func find(name string) (*library, error) {
	i := slices.IndexFunc(libraries, func(l library) bool { return l.name == name })
	if i < 0 {
		return nil, fmt.Errorf("no library %q", name)
	}
	return &libraries[i], nil
}

// bounds dresses the bound program as a library.
type bounds struct {
	way  bound.Way
	bare bool
}

func (b bounds) Name() string { return boundName }

func (b bounds) Listen(rivals.Job) (rivals.Server, error) {
	r, err := bound.Listen(b.way, b.bare)
	if err != nil {
		return nil, err
	}
	return boundServer{r}, nil
}

func (b bounds) Dial(_ context.Context, address string, _ rivals.Job) (rivals.Conn, error) {
	return bound.Dial(b.way, address, b.bare)
}

type boundServer struct{ r *bound.Receiver }

func (s boundServer) Address() string                             { return s.r.Address() }
func (s boundServer) Accept(context.Context) (rivals.Conn, error) { return s.r, nil }
