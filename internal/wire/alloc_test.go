package wire

import (
	"testing"

	"github.com/raknet-go/raknet/internal/captures"
	"github.com/stretchr/testify/require"
)

// sink keeps what the compiler would otherwise find unused.
var sink int

// everyParser runs all parsers over b; each of them fails for most inputs.
func everyParser(b []byte) {
	var (
		ping    UnconnectedPing
		pong    UnconnectedPong
		oob     OutOfBand
		r1      OpenRequest1
		r2      OpenRequest2
		a1      OpenReply1
		a2      OpenReply2
		refusal Refusal
		version IncompatibleVersion
		cping   ConnectedPing
		cpong   ConnectedPong
		request ConnectionRequest
		accept  ConnectionRequestAccepted
		done    NewIncomingConnection
		frame   Frame
	)
	_ = ping.Parse(b)
	_ = pong.Parse(b)
	_ = oob.Parse(b)
	_ = r1.Parse(b)
	_ = r2.Parse(b, true)
	_ = r2.Parse(b, false)
	_ = a1.Parse(b)
	_ = a2.Parse(b)
	_ = refusal.Parse(b)
	_ = version.Parse(b)
	_ = cping.Parse(b)
	_ = cpong.Parse(b)
	_ = request.Parse(b)
	_ = accept.Parse(b)
	_ = done.Parse(b)
	_, n, _ := ParseAddr(b)
	sink += n + int(Classify(b))
	if _, frames, err := ParseDatagramHeader(b); err == nil {
		it := Frames(frames)
		for it.Next(&frame) {
			sink += len(frame.Payload)
		}
		_ = it.Err()
	}
	if it, err := ParseRanges(b); err == nil {
		for r, ok := it.Next(); ok; r, ok = it.Next() {
			sink += r.Len()
		}
	}
}

func TestParsingNeverAllocates(t *testing.T) {
	all, err := captures.All()
	require.NoError(t, err)
	for _, c := range all {
		for i, d := range c.Datagrams {
			if i > 40 {
				break
			}
			cut := d.Data[:len(d.Data)/2]
			require.Zero(t, testing.AllocsPerRun(1, func() {
				everyParser(d.Data)
				everyParser(cut)
			}), "%s, datagram %d", c.Name, i)
		}
	}
}

func TestAppendingIntoRoomNeverAllocates(t *testing.T) {
	room := make([]byte, 0, 2048)
	server := addrPort("[2001:db8::1]:19132")
	data := []byte("MCPE;name;")
	frame := Frame{Reliability: 4, Split: true, SplitCount: 1}
	require.Zero(t, testing.AllocsPerRun(10, func() {
		dst := room
		dst = (&UnconnectedPing{HasGUID: true}).Append(dst)
		dst = (&UnconnectedPong{Data: data}).Append(dst)
		dst = (&OutOfBand{Data: data}).Append(dst)
		dst = (&OpenRequest1{MTU: 576}).Append(dst)
		dst = (&OpenRequest2{HasCookie: true, Server: server}).Append(dst)
		dst = (&OpenReply1{Security: true}).Append(dst)
		dst = (&OpenReply2{Client: server}).Append(dst)
		dst = (&Refusal{ID: 0x12}).Append(dst)
		dst = (&IncompatibleVersion{}).Append(dst)
		dst = (&ConnectedPing{}).Append(dst)
		dst = (&ConnectedPong{}).Append(dst)
		dst = (&ConnectionRequest{Password: data}).Append(dst)
		dst = (&ConnectionRequestAccepted{Client: server, Internal: 20}).Append(dst)
		dst = (&NewIncomingConnection{Server: server, Internal: 20}).Append(dst)
		dst = AppendDatagramHeader(dst, FrameSetID, 1)
		dst = AppendFrameHeader(dst, &frame, 100)
		a := StartRanges(dst, ACKID, 100)
		a.Add(Mask24, 5)
		dst = a.Finish()
		sink += len(dst)
	}))
}
