package endpoint

import (
	"context"
	"net"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/udp"
)

func TestEveryCounterIsSummedOverTheSockets(t *testing.T) {
	a, b := Stats{Dropped: map[string]uint64{"x": 1}}, Stats{Dropped: map[string]uint64{"x": 2, "y": 3}}
	v := reflect.ValueOf(&b).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Int:
			f.SetInt(int64(i + 1))
		case reflect.Uint64:
			f.SetUint(uint64(i + 1))
		}
	}
	a.add(&b)
	a.add(&b)
	v = reflect.ValueOf(a)
	for i := range v.NumField() {
		switch f, name := v.Field(i), v.Type().Field(i).Name; {
		case name == "AcceptQueue": // there is only one
			require.Zero(t, f.Int())
		case f.Kind() == reflect.Int:
			require.Equal(t, int64(2*(i+1)), f.Int(), name)
		case f.Kind() == reflect.Uint64:
			require.Equal(t, uint64(2*(i+1)), f.Uint(), name)
		}
	}
	require.Equal(t, map[string]uint64{"x": 5, "y": 6}, a.Dropped)
}

func TestBoundsAreShared(t *testing.T) {
	for _, c := range []struct{ bound, byDefault, n, want int }{
		{0, 32, 1, 0}, {-1, 32, 4, -1}, {0, 32, 4, 8}, {10, 32, 4, 3}, {1, 32, 4, 1}, {7, 32, 1, 7},
	} {
		require.Equal(t, c.want, share(c.bound, c.byDefault, c.n), "%+v", c)
	}
}

func TestASocketThatBreaksEndsThemAll(t *testing.T) {
	first, second := newFakeSocket(), newFakeSocket()
	e, err := NewGroup([]udp.Socket{first, second}, Config{Accepting: true})
	require.NoError(t, err)
	broken := &net.OpError{Op: "read", Err: net.ErrClosed}
	second.reads <- broken
	_, err = e.Accept(context.Background())
	require.ErrorIs(t, err, broken)
	for _, m := range e.members {
		<-m.Done()
	}
	<-first.closed
	<-second.closed
	require.ErrorIs(t, e.Err(), broken)
	require.NoError(t, e.Close())
}

func TestAGroupNeedsSockets(t *testing.T) {
	for _, list := range [][]udp.Socket{nil, {nil}, {newFakeSocket(), nil}} {
		_, err := NewGroup(list, Config{})
		require.ErrorIs(t, err, errNoSocket)
	}
}
