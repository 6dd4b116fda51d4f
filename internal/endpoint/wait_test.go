package endpoint

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDeadlinesMoveAtWill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d deadline
		passed := 0
		set := func(in time.Duration) { d.set(time.Now().Add(in), func() { passed++ }) }
		require.False(t, d.passed())

		t.Log("# in the future")
		set(time.Second)
		w := d.wait()
		time.Sleep(time.Second)
		synctest.Wait()
		require.True(t, d.passed() && isClosed(w))
		require.Equal(t, 1, passed)

		t.Log("# from the past to the future: those who wait from now on wait")
		set(time.Second)
		require.False(t, d.passed())
		require.False(t, isClosed(d.wait()))

		t.Log("# to the past: those who wait are called")
		w = d.wait()
		set(-time.Second)
		require.True(t, d.passed() && isClosed(w))
		set(-time.Hour)
		require.True(t, d.passed())

		t.Log("# away")
		d.set(time.Time{}, nil)
		require.False(t, d.passed())
		time.Sleep(time.Hour)
		require.False(t, d.passed())
		require.Equal(t, 1, passed)

		t.Log("# away just when it passes")
		set(time.Second)
		time.Sleep(time.Second)
		d.set(time.Time{}, nil)
		synctest.Wait()
		require.False(t, d.passed())
	})
}

func TestAGateHoldsOneToken(t *testing.T) {
	g := newGate()
	g.open()
	g.open()
	<-g
	select {
	case <-g:
		t.Fatal("two tokens")
	default:
	}
	var none gate
	none.open() // nobody waits there, ever
}

func BenchmarkDeadlinePassed(b *testing.B) {
	var d deadline
	for b.Loop() {
		if d.passed() {
			b.Fatal("there is none")
		}
	}
}
