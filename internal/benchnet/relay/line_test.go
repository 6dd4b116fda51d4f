package relay

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/netsim"
)

// arrival is a datagram that came out of a line in a test.
type arrival struct {
	at   time.Duration
	data string
}

// play puts datagrams in, one every gap, and takes each out at the moment the line names.
func play(l *Line, count int, gap time.Duration, size int) (out []arrival) {
	take := func(until monotime.Time) {
		for l.next() <= until {
			at := l.next()
			it, ok := l.pop(at)
			if !ok {
				panic("nothing came when the line said so")
			}
			out = append(out, arrival{at.Sub(start), string(it.data)})
			l.room.give(it.data)
		}
	}
	for i := range count {
		now := start.Add(time.Duration(i) * gap)
		take(now)
		l.push(now, nil, datagram(i, size))
	}
	take(monotime.Never - 1)
	return out
}

const start monotime.Time = 1

func datagram(i, size int) []byte {
	b := fmt.Appendf(nil, "%08d", i)
	return append(b, make([]byte, max(size-len(b), 0))...)
}

func line(w Way) *Line { return newLine(1, 2, w, new(Histogram), new(room)) }

func TestEveryDatagramComesAfterTheDelayAndInOrder(t *testing.T) {
	const count = 5000 // more than are moved at once when the queue is tidied up
	l := line(Way{Link: netsim.Link{Delay: 25 * time.Millisecond}})
	out := play(l, count, 10*time.Microsecond, 100)
	require.Len(t, out, count)
	for i, a := range out {
		require.Equal(t, 25*time.Millisecond+time.Duration(i)*10*time.Microsecond, a.at)
		require.Equal(t, string(datagram(i, 100)), a.data)
	}
	require.Equal(t, monotime.Never, l.next())
	require.Equal(t, uint64(count*(100+28)), l.total().Bytes)
}

func TestNothingComesBeforeItsTime(t *testing.T) {
	l := line(Way{Link: netsim.Link{Delay: time.Millisecond}})
	l.push(start, nil, datagram(1, 10))
	_, ok := l.pop(start.Add(time.Millisecond - 1))
	require.False(t, ok)
	_, ok = l.pop(start.Add(time.Millisecond))
	require.True(t, ok)
}

func TestTheShareThatIsLostIsTheOneAskedFor(t *testing.T) {
	const count = 100_000
	l := line(Way{Link: netsim.Link{Loss: 0.05}})
	out := play(l, count, time.Microsecond, 10)
	// Five standard deviations; the seed is fixed.
	require.InDelta(t, 0.95*count, len(out), 5*69)
	require.Equal(t, uint64(count-len(out)), l.total().Lost)
	require.Equal(t, out, play(line(Way{Link: netsim.Link{Loss: 0.05}}), count, time.Microsecond, 10), "the same seed loses the same")
	require.NotEqual(t, out, play(newLine(2, 2, Way{Link: netsim.Link{Loss: 0.05}}, nil, new(room)), count, time.Microsecond, 10))
}

func TestTheQueueIsBoundedAndTheRateIsKept(t *testing.T) {
	// 1000 bytes of 28+972 take a millisecond; the queue holds ten of them.
	w := Way{Link: netsim.Link{Delay: 5 * time.Millisecond, Bandwidth: 1_000_000, Queue: 10_000}}
	l := line(w)
	out := play(l, 1000, 100*time.Microsecond, 972) // ten times what fits, for 100 ms
	require.InDelta(t, 110, len(out), 2)
	for i, a := range out {
		require.Equal(t, 6*time.Millisecond+time.Duration(i)*time.Millisecond, a.at, "one a millisecond")
	}
	require.Equal(t, uint64(1000-len(out)), l.total().QueueFull)
	require.LessOrEqual(t, l.waits.Max(), 10*time.Millisecond, "no datagram waited longer than the queue is")
	require.InDelta(t, float64(10*time.Millisecond), float64(l.waits.Quantile(0.95)), float64(time.Millisecond))
}

func TestWhatIsHeldBackIsOvertaken(t *testing.T) {
	w := Way{Link: netsim.Link{Delay: time.Millisecond, Reorder: 0.1, ReorderBy: 5 * time.Millisecond}, Spread: 10 * time.Millisecond}
	l := line(w)
	const count = 10_000
	out := play(l, count, 50*time.Microsecond, 10)
	require.Len(t, out, count)
	require.True(t, slices.IsSortedFunc(out, func(a, b arrival) int { return int(a.at - b.at) }))
	late := 0
	for _, a := range out {
		var i int
		_, err := fmt.Sscanf(a.data, "%d", &i)
		require.NoError(t, err)
		if held := a.at - time.Millisecond - time.Duration(i)*50*time.Microsecond; held > 0 {
			require.GreaterOrEqual(t, held, 5*time.Millisecond)
			require.Less(t, held, 15*time.Millisecond)
			late++
		}
	}
	require.InDelta(t, count/10, late, 150)
	require.Equal(t, uint64(late), l.total().Reordered)
}

func TestASlowSenderIsHeldToItsTick(t *testing.T) {
	l := line(Way{Link: netsim.Link{Delay: time.Millisecond}, Every: 100 * time.Millisecond})
	for _, a := range play(l, 100, 7*time.Millisecond, 10) {
		require.Equal(t, time.Millisecond, (a.at+time.Duration(start))%(100*time.Millisecond))
	}
}

func TestTimeDoesNotGoBackOnALine(t *testing.T) {
	l := line(Way{Link: netsim.Link{Delay: time.Millisecond}})
	l.push(start.Add(time.Second), nil, datagram(0, 10))
	l.push(start, nil, datagram(1, 10)) // read later from another socket
	for i := range 2 {
		it, ok := l.pop(start.Add(time.Second + time.Millisecond))
		require.True(t, ok)
		require.Equal(t, string(datagram(i, 10)), string(it.data))
	}
}

func TestQuantilesOfAHistogram(t *testing.T) {
	var h Histogram
	require.Zero(t, h.Quantile(0.5))
	var all []time.Duration
	r := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		d := time.Duration(r.Int64N(int64(time.Second)))
		all = append(all, d)
		h.Add(d)
	}
	slices.Sort(all)
	for _, q := range []float64{0, 0.01, 0.5, 0.99, 0.9999} {
		require.InDelta(t, float64(all[int(q*float64(len(all)))]), float64(h.Quantile(q)), float64(binWidth), "%v", q)
	}
	require.Equal(t, all[len(all)-1], h.Max())
}
