package wire

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"github.com/raknet-go/raknet/internal/captures"
	"github.com/stretchr/testify/require"
)

// seedsPerRecording keeps the corpora small: after its first datagrams a
// recording repeats itself.
const seedsPerRecording = 30

// seed calls add for recorded datagrams of the given kinds.
func seed(f *testing.F, add func([]byte), kinds ...DatagramKind) {
	f.Helper()
	all, err := captures.All()
	require.NoError(f, err)
	for _, c := range all {
		count := 0
		for _, d := range c.Datagrams {
			if count < seedsPerRecording && slices.Contains(kinds, Classify(d.Data)) {
				add(d.Data)
				count++
			}
		}
	}
}

// plain returns f as it is written: in whole bytes.
func plain(f Frame) Frame {
	f.Bits = len(f.Payload) * 8
	return f
}

func FuzzFrame(f *testing.F) {
	seed(f, func(b []byte) { f.Add(b[DatagramHeaderSize:]) }, KindFrameSet)
	f.Fuzz(func(t *testing.T, b []byte) {
		var got Frame
		n, err := got.Parse(b)
		want, wantSize, ok := naiveFrame(b)
		if (err == nil) != ok {
			t.Fatalf("%v, but the naive parser says %v", err, ok)
		}
		if err != nil {
			return
		}
		if n != wantSize || !reflect.DeepEqual(got, want) {
			t.Fatalf("%d bytes %+v, the naive parser says %d bytes %+v", n, got, wantSize, want)
		}
		if size := FrameHeaderSize(got.Reliability, got.Split) + len(got.Payload); n != size {
			t.Fatalf("took %d bytes, its size is %d", n, size)
		}
		if len(got.Payload) > MaxFramePayload {
			return // one bit more than whole bytes can say
		}
		again := append(AppendFrameHeader(nil, &got, len(got.Payload)), got.Payload...)
		var back Frame
		if n, err := back.Parse(again); err != nil || n != len(again) || !reflect.DeepEqual(back, plain(got)) {
			t.Fatalf("%+v came back as %+v, %d bytes, %v", got, back, n, err)
		}
	})
}

func FuzzDatagram(f *testing.F) {
	seed(f, func(b []byte) { f.Add(b) }, KindFrameSet, KindACK, KindNACK, KindOffline)
	f.Fuzz(func(t *testing.T, b []byte) {
		kind := Classify(b)
		number, body, err := ParseDatagramHeader(b)
		if (err == nil) != (kind == KindFrameSet) {
			t.Fatalf("kind %d, header %v", kind, err)
		}
		if _, err := ParseRanges(b); err == nil && kind != KindACK && kind != KindNACK {
			t.Fatalf("ranges in kind %d", kind)
		}
		wantNumber, want, whole, ok := naiveDatagram(b)
		if ok != (err == nil) || number != wantNumber {
			t.Fatalf("datagram %d, %v; the naive parser says %d, %v", number, err, wantNumber, ok)
		}
		if kind != KindFrameSet {
			return
		}
		var walked []Frame
		it := Frames(body)
		var fr Frame
		for it.Next(&fr) {
			walked = append(walked, fr)
		}
		if (it.Err() == nil) != whole || !reflect.DeepEqual(walked, want) {
			t.Fatalf("%+v, %v; the naive parser says %+v, all of it: %v", walked, it.Err(), want, whole)
		}

		// What the walk gives, written again, is walked the same.
		again := AppendDatagramHeader(nil, b[0], number)
		var frames []Frame
		for _, fr := range walked {
			if len(fr.Payload) > MaxFramePayload {
				return
			}
			frames = append(frames, plain(fr))
			again = append(AppendFrameHeader(again, &fr, len(fr.Payload)), fr.Payload...)
		}
		numberBack, body, err := ParseDatagramHeader(again)
		if err != nil || numberBack != number {
			t.Fatalf("datagram %d came back as %d, %v", number, numberBack, err)
		}
		var back []Frame
		for it = Frames(body); it.Next(&fr); {
			back = append(back, fr)
		}
		if it.Err() != nil || !reflect.DeepEqual(frames, back) {
			t.Fatalf("%+v came back as %+v, %v", frames, back, it.Err())
		}
	})
}

func FuzzRanges(f *testing.F) {
	seed(f, func(b []byte) { f.Add(b) }, KindACK, KindNACK)
	f.Fuzz(func(t *testing.T, b []byte) {
		it, err := ParseRanges(b)
		want, ok := naiveRanges(b)
		if (err == nil) != ok {
			t.Fatalf("%v, but the naive parser says %v", err, ok)
		}
		if err != nil {
			return
		}
		var got []Range
		for r, ok := it.Next(); ok; r, ok = it.Next() {
			got = append(got, r)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v, the naive parser says %v", got, want)
		}

		// Written again, the same numbers come back in the same order, except
		// that a range across the wrap comes in two, the part from 0 first.
		a := StartRanges(nil, ACKID, 1<<20)
		var parts []Range
		for _, r := range got {
			if !a.Add(r.First, r.Last) {
				t.Fatalf("no room for %v", r)
			}
			if r.First > r.Last {
				parts = append(parts, Range{0, r.Last}, Range{r.First, Mask24})
			} else {
				parts = append(parts, r)
			}
		}
		back, err := ranges(a.Finish())
		if len(parts) == 0 {
			if err != ErrTruncated {
				t.Fatalf("nothing was written, read %v", err)
			}
			return
		}
		if err != nil || !slices.Equal(back, parts) {
			t.Fatalf("%v came back as %v, %v", parts, back, err)
		}
	})
}

func FuzzAddr(f *testing.F) {
	for _, s := range []string{"127.0.0.1:19132", "[::1]:19133", "[::ffff:1.2.3.4]:5", "0.0.0.0:0"} {
		f.Add(AppendAddr(nil, addrPort(s)))
	}
	f.Add(make([]byte, 29))
	f.Fuzz(func(t *testing.T, b []byte) {
		addr, n, err := ParseAddr(b)
		if err != nil {
			if n != 0 || addr.IsValid() {
				t.Fatalf("%v with %d bytes and %v", err, n, addr)
			}
			return
		}
		if n != addrSize4 && n != addrSize6 || n > len(b) {
			t.Fatalf("%d of %d bytes", n, len(b))
		}
		again := AppendAddr(nil, addr)
		if len(again) != AddrSize(addr) {
			t.Fatalf("%v takes %d bytes, announced are %d", addr, len(again), AddrSize(addr))
		}
		if n == addrSize4 && !bytes.Equal(again, b[:n]) {
			t.Fatalf("%x came back as %x", b[:n], again)
		}
		back, _, err := ParseAddr(again)
		if err != nil || back != addr {
			t.Fatalf("%v came back as %v, %v", addr, back, err)
		}
	})
}

// comesBack checks that what was read into p survives being written and read again.
func comesBack(t *testing.T, p packet) {
	t.Helper()
	back := fresh(p)
	if err := back.Parse(p.Append(nil)); err != nil || !reflect.DeepEqual(p, back) {
		t.Fatalf("%+v came back as %+v, %v", p, back, err)
	}
}

func FuzzOffline(f *testing.F) {
	seed(f, func(b []byte) { f.Add(b) }, KindOffline)
	for _, s := range []string{
		"0a 01", "0b 04ffffffff0000 0000000000000009", "0d fffffffffffffffe M 1d01", "17 M 0000000000000001",
		"1a M 0000000000000001", "19 M 0a 8000000000000001", "06 M 0000000000000001 01 00000001 0578",
	} {
		f.Add(unhex(f, s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		parsed := 0
		for _, p := range []packet{
			&UnconnectedPing{}, &UnconnectedPong{}, &OutOfBand{}, &OpenRequest1{}, &request2{},
			&OpenReply1{}, &OpenReply2{}, &Refusal{}, &IncompatibleVersion{},
		} {
			if p.Parse(b) != nil {
				continue
			}
			parsed++
			if reply, ok := p.(*OpenReply1); ok && reply.LibcatKey {
				continue // read to be refused, never written
			}
			comesBack(t, p)
		}
		if p := (&request2Cookie{}); p.Parse(b) == nil {
			comesBack(t, p)
		}
		if parsed > 1 {
			t.Fatalf("%x passes for %d packets", b, parsed)
		}
	})
}

func FuzzOnline(f *testing.F) {
	seed(f, func(b []byte) {
		it := Frames(b[DatagramHeaderSize:])
		var fr Frame
		for it.Next(&fr) {
			if !fr.Split && len(fr.Payload) < 200 {
				f.Add(fr.Payload)
			}
		}
	}, KindFrameSet)
	f.Add(unhex(f, "03 000000000000004d"))
	f.Add(unhex(f, "10 0480fffffe9c40 05 0000000000000003 0000000000000004"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, p := range []packet{&ConnectedPing{}, &ConnectedPong{}, &ConnectionRequest{}, &ConnectionRequestAccepted{}} {
			if p.Parse(b) == nil {
				comesBack(t, p)
			}
		}
		var done NewIncomingConnection
		if done.Parse(b) != nil {
			return
		}
		again := done.Append(nil)
		var back NewIncomingConnection
		if err := back.Parse(again); err != nil || !back.HasTimes || back.AcceptedTime != done.AcceptedTime || back.Time != done.Time {
			t.Fatalf("%+v came back as %+v, %v", done, back, err)
		}
		if done.Server.IsValid() && (back.Server != done.Server || back.Internal != done.Internal) {
			t.Fatalf("%+v came back as %+v", done, back)
		}
	})
}
