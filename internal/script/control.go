package script

import (
	"bytes"
	"fmt"
	"net/netip"

	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// showControl writes a control message as its name and fields in braces. ok is false
// if that would leave bytes out.
func showControl(b []byte) (s string, ok bool) {
	s = controlFields(b)
	if s == "" {
		return "", false
	}
	again, err := readControl(s)
	return "{" + s + "}", err == nil && bytes.Equal(again, b)
}

func controlFields(b []byte) string {
	switch protocol.ID(b[0]) {
	case protocol.IDConnectedPing:
		var p wire.ConnectedPing
		if p.Parse(b) == nil {
			return fmt.Sprintf("ping time=%d", p.Time)
		}
	case protocol.IDConnectedPong:
		var p wire.ConnectedPong
		if p.Parse(b) == nil {
			return fmt.Sprintf("pong ping=%d time=%d", p.PingTime, p.Time)
		}
	case protocol.IDDetectLostConnections:
		return "detect"
	case protocol.IDConnectionRequest:
		var p wire.ConnectionRequest
		if p.Parse(b) == nil {
			return fmt.Sprintf("request guid=%d time=%d", p.GUID, p.Time)
		}
	case protocol.IDConnectionRequestAccepted:
		var p wire.ConnectionRequestAccepted
		if p.Parse(b) == nil {
			return fmt.Sprintf("accepted client=%v addresses=%d%s request=%d time=%d", p.Client, p.Internal, showKin(p.Kin), p.RequestTime, p.Time)
		}
	case protocol.IDNewIncomingConnection:
		var p wire.NewIncomingConnection
		if p.Parse(b) == nil && p.HasTimes && p.Server.IsValid() {
			n := (len(b) - 1 - wire.AddrSize(p.Server) - 16) / wire.AddrSize(netip.AddrPort{})
			return fmt.Sprintf("incoming server=%v addresses=%d%s accepted=%d time=%d", p.Server, n, showKin(p.Kin), p.AcceptedTime, p.Time)
		}
	case protocol.IDDisconnect:
		return "disconnect"
	case protocol.IDInvalidPassword:
		return "invalid-password"
	}
	return ""
}

// showKin writes what the last address says to peers of this library, if it does.
func showKin(k wire.Kin) string {
	switch {
	case k == (wire.Kin{}):
		return ""
	case k.Wide:
		return fmt.Sprintf(" kin=%d wide=1", k.Patience)
	}
	return fmt.Sprintf(" kin=%d", k.Patience)
}

// kin is the opposite of showKin.
func (f *fields) kin() wire.Kin {
	return wire.Kin{Patience: uint16(f.number("kin", 0)), Wide: f.number("wide", 0) != 0}
}

// readControl is the opposite of controlFields.
func readControl(s string) ([]byte, error) {
	words, err := split(s)
	if err != nil {
		return nil, err
	}
	f := newFields(words)
	var b []byte
	switch name := f.word(); name {
	case "ping":
		p := wire.ConnectedPing{Time: f.number("time", 0)}
		b = p.Append(nil)
	case "pong":
		p := wire.ConnectedPong{PingTime: f.number("ping", 0), Time: f.number("time", 0)}
		b = p.Append(nil)
	case "detect":
		b = []byte{byte(protocol.IDDetectLostConnections)}
	case "request":
		p := wire.ConnectionRequest{GUID: f.number("guid", clientGUID), Time: f.number("time", 0)}
		b = p.Append(nil)
	case "accepted":
		p := wire.ConnectionRequestAccepted{Client: f.address("client", clientAddr), Internal: int(f.number("addresses", 20)), Kin: f.kin(),
			RequestTime: f.number("request", 0), Time: f.number("time", 0)}
		b = p.Append(nil)
	case "incoming":
		p := wire.NewIncomingConnection{Server: f.address("server", serverAddr), Internal: int(f.number("addresses", 20)), Kin: f.kin(),
			AcceptedTime: f.number("accepted", 0), Time: f.number("time", 0)}
		b = p.Append(nil)
	case "disconnect":
		b = []byte{byte(protocol.IDDisconnect)}
	case "invalid-password":
		b = []byte{byte(protocol.IDInvalidPassword)}
	default:
		return nil, fmt.Errorf("unknown control message %q", name)
	}
	return b, f.done()
}
