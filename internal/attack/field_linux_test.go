package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet"
)

func TestOfASessionThatDoesNotAnswerBothEndsTell(t *testing.T) {
	s := &server{}
	listening, err := s.obey(&Order{Op: "listen"})
	require.NoError(t, err)
	defer s.close()
	conn, err := raknet.Dial(listening.Address)
	require.NoError(t, err)
	defer conn.Close()
	for len(s.tell(&Order{Victims: []string{conn.LocalAddr().String()}}).List[0]) == 0 {
		_, err := conn.Write([]byte("\xfehello")) // the listener learns of it a moment after the dialer
		require.NoError(t, err)
	}
	told, err := s.obey(&Order{Op: "tell", Victims: []string{"127.0.0.1:9", conn.LocalAddr().String()}})
	require.NoError(t, err)
	require.Len(t, told.List, 2)
	require.Empty(t, told.List[0], "nobody's")
	require.Contains(t, told.List[1], "DatagramsReceived:")

	r := Row{Silent: 1, Stuck: []Stuck{{conn.LocalAddr().String(), "last answered 11s ago; the server: " + told.List[1]}}}
	r.Kind, r.Name = byVector, "any"
	r.judge(fullPlan())
	require.Contains(t, r.failures()[0], "\n  "+r.Stuck[0].Address+": last answered 11s ago; the server: {")
}
