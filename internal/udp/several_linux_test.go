package udp

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEveryPeerStaysOnOneOfSeveralSockets(t *testing.T) {
	for _, address := range append(loopbacks(t), ":0", "0.0.0.0:0") {
		list, err := ListenSeveral(address, 4, Options{Path: Offload})
		require.NoError(t, err)
		require.Len(t, list, 4)
		for _, s := range list {
			opened(t, s, nil)
			require.Equal(t, list[0].LocalAddr(), s.LocalAddr())
		}
		const peers, each = 24, 5
		for i := range peers {
			client := carriers["single"](t, loopbackOf(list[0]))
			for range each {
				write(t, client, at(list[0]), fmt.Sprint(i))
			}
		}
		heard, used := map[string]int{}, 0
		for k, s := range list {
			in := make([]Inbound, peers*each)
			defer Release(in)
			require.NoError(t, s.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
			before := len(heard)
			for {
				n, err := s.ReadBatch(in)
				if err != nil {
					break
				}
				for i := range in[:n] {
					for _, one := range apart(in[i]) {
						name := string(one.Bytes())
						if _, known := heard[name]; !known {
							heard[name] = k
						}
						require.Equal(t, k, heard[name], "peer %s", name)
					}
				}
			}
			if len(heard) > before {
				used++
			}
		}
		require.Len(t, heard, peers)
		require.Greater(t, used, 1, "all on one of four, by a chance of 1 to 10^14")
	}
}

// loopbackOf returns an address to reach s from.
func loopbackOf(s Socket) string {
	if s.LocalAddr().(*net.UDPAddr).IP.Equal(net.IPv6loopback) {
		return "[::1]:0"
	}
	return "127.0.0.1:0"
}

func TestOneSocketKeepsItsAddressToItself(t *testing.T) {
	list, err := ListenSeveral("127.0.0.1:0", 0, Options{})
	require.NoError(t, err)
	require.Len(t, list, 1)
	opened(t, list[0], nil)
	_, err = ListenSeveral(list[0].LocalAddr().String(), 2, Options{})
	require.Error(t, err)
}

func TestNoMoreSocketsThanTheBound(t *testing.T) {
	list, err := ListenSeveral("127.0.0.1:0", 1000, Options{Path: Batch})
	require.NoError(t, err)
	for _, s := range list {
		opened(t, s, nil)
	}
	require.Len(t, list, maxSockets)
}
