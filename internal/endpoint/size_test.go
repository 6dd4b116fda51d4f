package endpoint

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A server has many connections on which little happens. This is what each of them takes for
// as long as it lives; the rest is there while something is sent or waited for.
func TestAConnectionIsSmall(t *testing.T) {
	// A size class of the allocator, less the word that it puts before what has pointers: one byte
	// more costs 128.
	require.LessOrEqual(t, reflect.TypeFor[Conn]().Size(), uintptr(1280-8))
}

func TestWhatNobodyAsksForIsNotMade(t *testing.T) {
	bubble(t, func(r *rig) {
		_, server := r.pair()
		time.Sleep(time.Minute)
		server.mu.Lock()
		defer server.mu.Unlock()
		require.Nil(t, server.rare)
		require.Nil(t, server.read.Load())
		require.Nil(t, server.write.Load())
	})
}
