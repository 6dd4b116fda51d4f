package forge

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// A hostile server answers as an honest one up to where it turns hostile.
func TestAHostileServerKnowsTheHandshake(t *testing.T) {
	s, c := NewLink(1), NewLink(2)
	answer, at, ok := s.Answer(c.Request1(nil), nil)
	require.True(t, ok)
	require.Equal(t, AtRequest1, at)
	var r1 wire.OpenReply1
	require.NoError(t, r1.Parse(answer))
	answer, at, _ = s.Answer(c.Request2(nil, &r1), nil)
	require.Equal(t, AtRequest2, at)
	var r2 wire.OpenReply2
	require.NoError(t, r2.Parse(answer))
	answer, at, _ = s.Answer(c.Hello(nil), nil)
	require.Equal(t, AtHello, at)
	require.True(t, Says(answer, protocol.IDConnectionRequestAccepted))
	_, at, _ = s.Answer(c.Incoming(nil), nil)
	require.Equal(t, AtHome, at)
	answer, at, _ = s.Answer(Ping(77, nil), nil)
	require.Equal(t, AtPing, at)
	var pong wire.UnconnectedPong
	require.NoError(t, pong.Parse(answer))
	require.EqualValues(t, 77, pong.Time)
	_, _, ok = s.Answer(c.Ping(nil), nil)
	require.False(t, ok)
	_, _, ok = s.Answer(nil, nil)
	require.False(t, ok)
	_, _, ok = s.Answer([]byte{1}, nil)
	require.True(t, ok, "a ping cut short is answered, and does no harm")
}

func TestHostileServersHaveSomethingToSend(t *testing.T) {
	all, err := Servers()
	require.NoError(t, err)
	require.Greater(t, len(all), 50)
	stages := map[Stage]int{}
	for _, s := range all {
		stages[s.Stage]++
		if s.Make == nil {
			continue
		}
		l := NewLink(1)
		for i := range uint64(100) {
			require.LessOrEqual(t, len(s.Make(l, i, nil)), 4000, s.Name)
		}
	}
	require.Len(t, stages, 5)
}
