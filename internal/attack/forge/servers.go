package forge

import (
	"encoding/binary"

	"github.com/raknet-go/raknet/internal/hostile"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// Stage is how far a hostile server lets a dial come before it turns hostile.
type Stage uint8

// The stages, in order: what came from the client last.
const (
	AtRequest1 Stage = iota
	AtRequest2
	AtHello // the connection request
	AtHome  // the end of the handshake
	AtPing  // a server list ping; no dial
)

// Server is an attack by a server on whoever dials it.
type Server struct {
	Name, What string
	Stage      Stage
	Fills      Bound
	// Deaf: the dialing application does not read.
	Deaf bool
	// Make appends the i-th hostile datagram to dst; nil: nothing comes any more.
	Make func(l *Link, i uint64, dst []byte) []byte
}

// Servers are all attacks of this kind.
func Servers() ([]Server, error) {
	list := []Server{
		{Name: "silence after reply 1", Stage: AtRequest2},
		{Name: "silence after reply 2", Stage: AtHello},
		{Name: "a handshake without end", What: "connected pings, and never a 0x10", Stage: AtHello, Make: func(l *Link, _ uint64, dst []byte) []byte { return l.Ping(dst) }},
		{Name: "garbage for request 1", Stage: AtRequest1, Make: func(_ *Link, i uint64, dst []byte) []byte { return Garbage(i, dst) }},
		{Name: "reply 1 without end", What: "each with another cookie and MTU", Stage: AtRequest1, Make: func(_ *Link, i uint64, dst []byte) []byte {
			p := wire.OpenReply1{GUID: int64(i), Security: true, Cookie: uint32(scatter(i)), MTU: int(scatter(i) >> 48)}
			return p.Append(dst)
		}},
		{Name: "recently connected, for ever", What: "0x1a, which asks to try again", Stage: AtRequest1, Make: func(_ *Link, i uint64, dst []byte) []byte {
			p := wire.Refusal{ID: byte(protocol.IDRecentlyConnected), GUID: int64(i)}
			return p.Append(dst)
		}},
		{Name: "endless versions", What: "0x19 with every version", Stage: AtRequest1, Make: func(_ *Link, i uint64, dst []byte) []byte {
			p := wire.IncompatibleVersion{Version: byte(i), GUID: 1}
			return p.Append(dst)
		}},
		{Name: "large pongs", What: "pongs of 1400 bytes, of times that were never asked for", Stage: AtPing, Make: func(_ *Link, i uint64, dst []byte) []byte {
			p := wire.UnconnectedPong{Time: int64(scatter(i)), GUID: 1, Data: noise(nil, i, 1350)}
			return p.Append(dst)
		}},
		{Name: "full messages, unread", What: "to an application that does not read", Stage: AtHome, Deaf: true, Fills: Unread, Make: Full},
		{Name: "loose messages, unread", What: "the same of 513 bytes, each in a buffer for 2048", Stage: AtHome, Deaf: true, Fills: Unread, Make: Loose},
		{Name: "full messages, read", Stage: AtHome, Make: Full},
	}
	for _, p := range Peers() {
		if p.Half || p.Say != "" {
			continue
		}
		list = append(list, Server{Name: p.Name, What: p.What, Stage: AtHome, Fills: p.Fills, Make: p.Make})
	}
	vectors, err := hostile.Load(hostile.ClientOffline, hostile.ClientConnected)
	if err != nil {
		return nil, err
	}
	for _, v := range vectors {
		stage := AtRequest1
		switch {
		case v.Context == hostile.ClientConnected:
			stage = AtHello
		case v.Datagrams[0][0] == byte(protocol.IDOpenConnectionReply2):
			stage = AtRequest2
		case v.Datagrams[0][0] == byte(protocol.IDUnconnectedPong):
			stage = AtPing
		}
		list = append(list, Server{Name: v.ID, What: v.Why, Stage: stage, Make: clientPlayer(&v)})
	}
	return list, nil
}

// clientPlayer plays a vector's datagrams in turn to a client.
func clientPlayer(v *hostile.Vector) func(l *Link, i uint64, dst []byte) []byte {
	w := *v
	w.State = "handshaking" // whose numbers begin at 0
	return player(&w)
}

// Answer appends what an honest server answers to a client's datagram and returns which stage that reached.
func (l *Link) Answer(d, dst []byte) (answer []byte, reached Stage, ok bool) {
	switch {
	case len(d) == 0:
		return dst, 0, false
	case protocol.ID(d[0]) == protocol.IDUnconnectedPing:
		p := wire.UnconnectedPong{Time: int64(binary.BigEndian.Uint64(append(d[1:min(len(d), 9):min(len(d), 9)], make([]byte, 8)...))), GUID: 1, Data: []byte("MCPE;")}
		return p.Append(dst), AtPing, true
	case protocol.ID(d[0]) == protocol.IDOpenConnectionRequest1:
		p := wire.OpenReply1{GUID: 1, Security: true, Cookie: 7, MTU: l.MTU}
		return p.Append(dst), AtRequest1, true
	case protocol.ID(d[0]) == protocol.IDOpenConnectionRequest2:
		p := wire.OpenReply2{GUID: 1, Client: server, MTU: l.MTU}
		return p.Append(dst), AtRequest2, true
	case Says(d, protocol.IDConnectionRequest):
		p := wire.ConnectionRequestAccepted{Client: server, Internal: 20, RequestTime: 1, Time: 2}
		return l.Message(dst, p.Append(nil)), AtHello, true
	case Says(d, protocol.IDNewIncomingConnection):
		return dst, AtHome, true
	}
	return dst, 0, false
}
