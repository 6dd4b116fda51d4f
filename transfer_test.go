package raknet_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/netsim"
)

// numbered is a message of a size that tells its own number, and whose every byte
// follows from both.
func numbered(n, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(n + i*i>>3)
	}
	b[0] = 0xfe
	binary.BigEndian.PutUint32(b[1:], uint32(n))
	return b
}

func digest(b []byte) uint64 {
	h := fnv.New64a()
	h.Write(b)
	return h.Sum64()
}

// pour writes total bytes in messages of a size at one end and reads them at the other,
// and reports the first thing that is wrong.
func pour(from, to *raknet.Conn, total, size int) error {
	count := total / size
	errs := make(chan error, 2)
	go func() {
		for i := range count {
			if _, err := from.Write(numbered(i, size)); err != nil {
				errs <- fmt.Errorf("write %d of %d: %w", i, count, err)
				return
			}
		}
		errs <- nil
	}()
	go func() {
		for i := range count {
			b, err := to.ReadPacket()
			if err != nil {
				errs <- fmt.Errorf("read %d of %d: %w", i, count, err)
				return
			}
			if digest(b) != digest(numbered(i, size)) {
				errs <- fmt.Errorf("message %d of %d arrived as another", i, count)
				return
			}
		}
		errs <- nil
	}()
	for range 2 {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

var transferSizes = []int{1000, 100_000, 2 << 20}

// transfer moves total bytes in messages of each size one way and both ways at once.
func transfer(t *testing.T, client, server *raknet.Conn, total int) {
	t.Helper()
	for _, size := range transferSizes {
		start := time.Now()
		require.NoError(t, pour(client, server, total, size), "%d bytes up", size)
		t.Logf("%8d B up:   %v", size, time.Since(start))
		start = time.Now()
		done := make(chan error, 2)
		go func() { done <- pour(client, server, total, size) }()
		go func() { done <- pour(server, client, total, size) }()
		for range 2 {
			require.NoError(t, <-done, "%d bytes both ways", size)
		}
		t.Logf("%8d B both: %v", size, time.Since(start))
	}
}

func TestBulkOverLoopback(t *testing.T) {
	l, err := raknet.Listen("127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	client, err := raknet.Dial(l.Addr().String())
	require.NoError(t, err)
	defer client.Close()
	server, err := l.AcceptContext(t.Context())
	require.NoError(t, err)
	transfer(t, client, server, 16<<20)
}

func TestBulkThroughLossAndReordering(t *testing.T) {
	link := netsim.Link{Delay: 10 * time.Millisecond, Loss: 0.05, Reorder: 0.1, ReorderBy: 5 * time.Millisecond}
	story(t, link, raknet.ListenConfig{}, func(w *world) {
		client, server := w.dial(raknet.Dialer{})
		transfer(w.T, client, server, 4<<20)
	})
}

func TestEveryModeOnEveryChannelThroughABadLink(t *testing.T) {
	link := netsim.Link{Delay: 20 * time.Millisecond, Jitter: 4 * time.Millisecond, Loss: 0.1, Duplicate: 0.1, Reorder: 0.1, ReorderBy: 30 * time.Millisecond}
	story(t, link, raknet.ListenConfig{}, func(w *world) {
		client, server := w.dial(raknet.Dialer{})
		var both sync.WaitGroup
		for _, ends := range [][2]*raknet.Conn{{client, server}, {server, client}} {
			both.Go(func() { everyMode(w.T, ends[0], ends[1]) })
		}
		both.Wait()
	})
}

// everyMode sends every mode on every channel from one end, and checks at the other
// what each of them promises.
func everyMode(t *testing.T, from, to *raknet.Conn) {
	const rounds = 40
	last := []byte{0xfe, 0xff}
	go func() {
		for n := range rounds {
			for mode := raknet.Unreliable; mode <= raknet.ReliableOrderedWithReceipt; mode++ {
				for ch := range uint8(32) {
					size := 20
					if n%10 == int(ch)%10 {
						size = 3000
					}
					b := numbered(n, size)
					b[5], b[6] = byte(mode), ch
					if _, err := from.Send(context.Background(), b, raknet.SendOptions{Reliability: mode, Channel: ch, Priority: raknet.Priority(n % 4)}); err != nil {
						t.Errorf("send: %v", err)
						return
					}
				}
			}
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(5 * time.Second) // let everything arrive, then say that it has
		if _, err := from.Write(last); err != nil {
			t.Errorf("send: %v", err)
		}
	}()
	type stream struct {
		mode raknet.Reliability
		ch   uint8
	}
	got := map[stream][]int{}
	for {
		m, err := to.Receive(context.Background())
		if err != nil {
			t.Errorf("receive: %v", err)
			return
		}
		if string(m.Data) == string(last) {
			break
		}
		s := stream{raknet.Reliability(m.Data[5]), m.Data[6]}
		n := int(binary.BigEndian.Uint32(m.Data[1:]))
		want := numbered(n, len(m.Data))
		want[5], want[6] = m.Data[5], m.Data[6]
		if digest(want) != digest(m.Data) {
			t.Errorf("%v: a message changed on the way", s)
		}
		got[s] = append(got[s], n)
	}
	for mode := raknet.Unreliable; mode <= raknet.ReliableOrderedWithReceipt; mode++ {
		for ch := range uint8(32) {
			s := stream{mode, ch}
			seen := map[int]bool{}
			for i, n := range got[s] {
				if seen[n] {
					t.Errorf("%v: message %d came twice", s, n)
				}
				seen[n] = true
				if mode.IsOrdered() && n != i {
					t.Fatalf("%v: message %d came in place %d", s, n, i)
				}
				if mode.IsSequenced() && i > 0 && n <= got[s][i-1] {
					t.Errorf("%v: %d came after %d", s, n, got[s][i-1])
				}
			}
			if mode.IsReliable() && !mode.IsSequenced() && len(seen) != rounds {
				t.Errorf("%v: %d of %d came", s, len(seen), rounds)
			}
		}
	}
}
