package session

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/protocol"
)

func TestInboxKeepsOrderAcrossGrowthAndWrap(t *testing.T) {
	// Deliveries can only come from an engine: borrow them from a connected server.
	r := connectedServer(t, Config{})
	r.forget()
	var q inbox
	var d arq.Delivery
	next, want := 0, 0
	for round := range 40 {
		for range round {
			r.Receive(r.now, nil, r.datagram(protocol.Reliable, fmt.Appendf(nil, "\xfe%d", next)))
			require.True(t, r.NextMessage(&d))
			q.push(&d)
			next++
		}
		for range round * 2 / 3 {
			require.True(t, q.pop(&d))
			require.Equal(t, fmt.Sprintf("\xfe%d", want), string(d.AppendTo(nil)))
			d.Release()
			want++
		}
	}
	require.Equal(t, next-want, q.len())
	require.Greater(t, q.bytes, q.len()*messageOverhead)
	q.clear()
	require.Zero(t, q.len())
	require.Zero(t, q.bytes)
	require.False(t, q.pop(&d))
}

func TestInboxGivesABurstsMemoryBack(t *testing.T) {
	var q inbox
	q.push(&arq.Delivery{})
	q.trim()
	require.NotNil(t, q.ring)
	var d arq.Delivery
	require.True(t, q.pop(&d))
	q.trim()
	require.Nil(t, q.ring)
	q.push(&arq.Delivery{})
	require.True(t, q.pop(&d))
}

func TestReceivingAllocatesNothingInTheSteadyState(t *testing.T) {
	r := connectedServer(t, Config{})
	r.settle()
	payload := make([]byte, 1000)
	payload[0] = 0xfe
	datagram := make([]byte, 0, 1400)
	var d arq.Delivery
	once := func() {
		datagram = r.appendDatagram(datagram[:0], protocol.ReliableOrdered, payload)
		r.Receive(r.now, nil, datagram)
		for r.NextMessage(&d) {
			d.Release()
		}
		for b := r.Transmit(r.now); b != nil; b = r.Transmit(r.now) {
			b.Release()
		}
		r.now = r.now.Add(1000)
	}
	for range 10000 {
		once()
	}
	// One copy of the payload, since the datagram has no pooled buffer here.
	if n := testing.AllocsPerRun(5000, once); n > 1 {
		t.Errorf("%v allocations per message", n)
	}
}
