package session

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/captures"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// reader is a second, naive receiver: it takes a recorded side's frame sets and
// says which messages an application must get, without any window or bound.
type reader struct {
	datagrams map[uint32]bool
	reliable  map[uint32]bool
	parts     map[uint16][][]byte
	ordered   [32]map[uint32]string
	loose     []string        // unordered messages
	sequenced map[string]bool // may be delivered or dropped
	closed    bool            // a 0x15 was seen
	ids       map[byte]int    // control messages
}

func newReader() *reader {
	return &reader{datagrams: map[uint32]bool{}, reliable: map[uint32]bool{}, parts: map[uint16][][]byte{},
		sequenced: map[string]bool{}, ids: map[byte]int{}}
}

func (r *reader) take(t *testing.T, data []byte) {
	number, _, err := wire.ParseDatagramHeader(data)
	require.NoError(t, err)
	seen := r.datagrams[number]
	r.datagrams[number] = true
	for _, f := range framesOf(data) {
		if f.Reliability.IsReliable() {
			if r.reliable[f.Reliable] {
				continue
			}
			r.reliable[f.Reliable] = true
		} else if seen {
			continue
		}
		payload := slices.Clone(f.Payload)
		if f.Split {
			parts := r.parts[f.SplitID]
			if parts == nil {
				parts = make([][]byte, f.SplitCount)
			}
			parts[f.SplitIndex] = payload
			r.parts[f.SplitID] = parts
			if slices.ContainsFunc(parts, func(p []byte) bool { return p == nil }) {
				continue
			}
			delete(r.parts, f.SplitID)
			payload = slices.Concat(parts...)
		}
		switch {
		case f.Reliability.IsSequenced():
			r.sequenced[string(payload)] = true
		case f.Reliability.IsOrdered():
			if r.ordered[f.Channel] == nil {
				r.ordered[f.Channel] = map[uint32]string{}
			}
			r.ordered[f.Channel][f.Order] = string(payload)
		default:
			r.loose = append(r.loose, string(payload))
		}
	}
}

// expected returns the application's messages: those of each channel in order, up to
// the first gap or disconnect, then the unordered ones, sorted.
func (r *reader) expected() (channels [32][]string, loose []string) {
	app := func(m string) bool {
		id := protocol.ID(m[0])
		if id.IsControl() {
			r.ids[m[0]]++
		}
		r.closed = r.closed || id == protocol.IDDisconnect
		return !id.IsControl()
	}
	for i, channel := range r.ordered {
		for n := uint32(0); ; n++ {
			m, ok := channel[n]
			if !ok {
				break
			}
			if app(m) {
				channels[i] = append(channels[i], m)
			}
		}
	}
	for _, m := range r.loose {
		if app(m) {
			loose = append(loose, m)
		}
	}
	slices.Sort(loose)
	return channels, loose
}

// delivered is what a connection gave to its application, in the shape of expected.
type delivered struct {
	channels         [32][]string
	loose, sequenced []string
}

func (d *delivered) take(c *Conn) {
	var m arq.Delivery
	for c.NextMessage(&m) {
		s := string(m.AppendTo(nil))
		switch {
		case m.Reliability.IsSequenced():
			d.sequenced = append(d.sequenced, s)
		case m.Reliability.IsOrdered():
			d.channels[m.Channel] = append(d.channels[m.Channel], s)
		default:
			d.loose = append(d.loose, s)
		}
		m.Release()
	}
}

// conversations splits one side of a recording into connections: each starts with
// a datagram 0 that is not the last one again.
func conversations(c captures.Capture, fromClient bool) (all [][]captures.Datagram) {
	var zero []byte
	for _, d := range c.Datagrams {
		if d.FromClient != fromClient || wire.Classify(d.Data) != wire.KindFrameSet {
			continue
		}
		if number, _, _ := wire.ParseDatagramHeader(d.Data); number == 0 && !slices.Equal(zero, d.Data) {
			zero = d.Data
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], d)
	}
	return all
}

// unreadable reports whether a datagram is in a dialect that breaks the layout: this
// one port leaves the ordering index out of sequenced frames.
func unreadable(c captures.Capture, data []byte) bool {
	return c.Name == "jraknet-self" && protocol.Reliability(data[4]>>5).IsSequenced()
}

// replay plays one side of a recorded connection against a connection of the other role.
func replay(t *testing.T, c captures.Capture, datagrams []captures.Datagram, side Side) {
	what := fmt.Sprintf("%s, %v", c.Name, side)
	r := newRig(t, Config{Side: side, MTU: 1492})
	naive := newReader()
	var got delivered
	for _, d := range datagrams {
		r.after(start.Add(d.At - datagrams[0].At).Sub(r.now))
		b := poolRead(d.Data)
		v := r.Receive(r.now, b, b.Bytes())
		b.Release()
		if unreadable(c, d.Data) {
			require.Equal(t, arq.VerdictMalformed, v)
			continue
		}
		require.LessOrEqual(t, v, arq.VerdictDuplicate, "%s: at %v: %x", what, d.At, d.Data)
		got.take(&r.Conn)
		r.settle()
		naive.take(t, d.Data)
	}
	r.after(20 * time.Millisecond) // delayed ACKs
	channels, loose := naive.expected()
	for i := range channels {
		require.Equal(t, channels[i], got.channels[i], "%s: channel %d", what, i)
	}
	slices.Sort(got.loose)
	require.Equal(t, loose, got.loose, what)
	for _, m := range got.sequenced {
		require.True(t, naive.sequenced[m], what)
	}
	require.Equal(t, len(naive.sequenced) > 0, len(got.sequenced) > 0, what)
	for number := range naive.datagrams {
		require.True(t, slices.Contains(r.acked, number), "%s: %d was not acknowledged", what, number)
	}
	last := byte(protocol.IDNewIncomingConnection)
	if side == Client {
		last = byte(protocol.IDConnectionRequestAccepted)
	}
	switch {
	case naive.ids[byte(protocol.IDInvalidPassword)] > 0:
		require.ErrorIs(t, r.Err(), ErrInvalidPassword, what)
	case naive.closed:
		require.ErrorIs(t, r.Err(), ErrDisconnected, what)
	case naive.ids[last] > 0:
		require.Equal(t, Connected, r.State(), what)
	default:
		require.Equal(t, Handshaking, r.State(), what)
	}
}

func TestRecordedPeersAreUnderstood(t *testing.T) {
	all, err := captures.All()
	require.NoError(t, err)
	total := 0
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			for _, side := range []Side{Server, Client} {
				for _, datagrams := range conversations(c, side == Server) {
					replay(t, c, datagrams, side)
					total++
				}
			}
		})
	}
	require.Greater(t, total, 80)
}
