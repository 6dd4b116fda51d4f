package script

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// refusalNames are the refusals that differ in nothing but their identifier.
var refusalNames = map[string]protocol.ID{
	"already-connected": protocol.IDAlreadyConnected, "no-free-connections": protocol.IDNoFreeConnections,
	"banned": protocol.IDBanned, "recently-connected": protocol.IDRecentlyConnected,
}

func refusalName(id byte) string {
	for name, known := range refusalNames {
		if byte(known) == id {
			return name
		}
	}
	return ""
}

// showOffline writes an offline packet as its name and fields, "" if that would
// leave bytes out.
func showOffline(b []byte) string {
	s := offlineFields(b)
	if s == "" {
		return ""
	}
	words, err := split(s)
	if err != nil {
		return ""
	}
	if again, err := readOffline(words); err != nil || !bytes.Equal(again, b) {
		return ""
	}
	return s
}

func offlineFields(b []byte) string {
	cookie := func(has bool, c uint32) string {
		if !has {
			return ""
		}
		return fmt.Sprintf(" cookie=%08x", c)
	}
	switch protocol.ID(b[0]) {
	case protocol.IDUnconnectedPing:
		var p wire.UnconnectedPing
		if p.Parse(b) == nil {
			return fmt.Sprintf("unconnected-ping time=%d guid=%d", p.Time, p.GUID)
		}
	case protocol.IDUnconnectedPong:
		var p wire.UnconnectedPong
		if p.Parse(b) == nil {
			return fmt.Sprintf("unconnected-pong time=%d guid=%d %s", p.Time, p.GUID, showPayload(p.Data, true))
		}
	case protocol.IDOpenConnectionRequest1:
		var p wire.OpenRequest1
		if p.Parse(b) == nil {
			return fmt.Sprintf("request1 version=%d mtu=%d", p.Version, p.MTU)
		}
	case protocol.IDOpenConnectionReply1:
		var p wire.OpenReply1
		if p.Parse(b) == nil {
			return fmt.Sprintf("reply1 guid=%d%s mtu=%d", p.GUID, cookie(p.Security, p.Cookie), p.MTU)
		}
	case protocol.IDOpenConnectionRequest2:
		for _, with := range []bool{false, true} {
			var p wire.OpenRequest2
			if p.Parse(b, with) == nil && len(p.Append(nil)) == len(b) {
				return fmt.Sprintf("request2%s server=%v mtu=%d guid=%d", cookie(with, p.Cookie), p.Server, p.MTU, p.GUID)
			}
		}
	case protocol.IDOpenConnectionReply2:
		var p wire.OpenReply2
		if p.Parse(b) == nil {
			return fmt.Sprintf("reply2 guid=%d client=%v mtu=%d", p.GUID, p.Client, p.MTU)
		}
	case protocol.IDIncompatibleVersion:
		var p wire.IncompatibleVersion
		if p.Parse(b) == nil {
			order := ""
			if wire.HasMagic(b[1:]) {
				order = " order=magic-first"
			}
			return fmt.Sprintf("incompatible version=%d guid=%d%s", p.Version, p.GUID, order)
		}
	default:
		var p wire.Refusal
		if name := refusalName(b[0]); name != "" && p.Parse(b) == nil {
			return fmt.Sprintf("%s guid=%d", name, p.GUID)
		}
	}
	return ""
}

// readOffline is the opposite of showOffline.
func readOffline(words []string) ([]byte, error) {
	f := newFields(words)
	cookie := func() (bool, uint32) {
		if !f.has("cookie") {
			return false, 0
		}
		v := f.text("cookie", "")
		n, err := strconv.ParseUint(v, 16, 32)
		if err != nil {
			f.fail("cookie", v, "eight hexadecimal digits")
		}
		return true, uint32(n)
	}
	var b []byte
	switch name := f.word(); name {
	case "unconnected-ping":
		p := wire.UnconnectedPing{Time: f.number("time", 0), HasGUID: f.has("guid"), GUID: f.number("guid", 0)}
		b = p.Append(nil)
	case "unconnected-pong":
		p := wire.UnconnectedPong{Time: f.number("time", 0), GUID: f.number("guid", serverGUID)}
		var err error
		if p.Data, err = readPayload(f.word()); err != nil {
			return nil, err
		}
		b = p.Append(nil)
	case "request1":
		p := wire.OpenRequest1{Version: byte(f.number("version", int64(protocol.VersionCurrent))), MTU: int(f.number("mtu", protocol.MaxMTU))}
		b = p.Append(nil)
	case "reply1":
		p := wire.OpenReply1{GUID: f.number("guid", serverGUID), MTU: int(f.number("mtu", protocol.MaxMTU))}
		p.Security, p.Cookie = cookie()
		b = p.Append(nil)
	case "request2":
		p := wire.OpenRequest2{Server: f.address("server", serverAddr), MTU: int(f.number("mtu", protocol.MaxMTU)), GUID: f.number("guid", clientGUID)}
		p.HasCookie, p.Cookie = cookie()
		b = p.Append(nil)
	case "reply2":
		p := wire.OpenReply2{GUID: f.number("guid", serverGUID), Client: f.address("client", clientAddr), MTU: int(f.number("mtu", protocol.MaxMTU))}
		b = p.Append(nil)
	case "incompatible":
		p := wire.IncompatibleVersion{Version: byte(f.number("version", 0)), GUID: f.number("guid", serverGUID)}
		b = p.Append(nil)
		if f.text("order", "") == "magic-first" {
			copy(b[1:], b[2:2+wire.MagicSize])
			b[1+wire.MagicSize] = p.Version
		}
	default:
		id, ok := refusalNames[name]
		if !ok {
			return nil, fmt.Errorf("unknown datagram %q", name)
		}
		p := wire.Refusal{ID: byte(id), GUID: f.number("guid", serverGUID)}
		b = p.Append(nil)
	}
	return b, f.done()
}
