package session

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

// FuzzConn drives a pair of connections by a list of operations: two bytes each.
// Whatever happens, nothing crashes, nothing leaks, nothing is delivered twice, out
// of order, before the handshake or after the close (the oracle and the pair check
// that), and both ends come to rest.
func FuzzConn(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 1, 1, 1, 2, 40, 3, 3, 4, 200, 5, 5, 6, 0, 2, 200})
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 2))
		ops := make([]byte, 400)
		for i := range ops {
			ops[i] = byte(r.Uint32())
			if i%2 == 0 && ops[i]%16 >= 8 && r.IntN(8) > 0 { // mostly traffic
				ops[i] &= 7
			}
		}
		f.Add(ops)
	}
	f.Fuzz(func(t *testing.T, ops []byte) {
		if len(ops) > 2000 {
			return
		}
		r := rand.New(rand.NewPCG(uint64(len(ops)), 3))
		loss := 0.0
		p := newPair(t, nil)
		p.path = func(Side, int, []byte) fate {
			return fate{drop: r.Float64() < loss, late: time.Duration(r.IntN(30)) * time.Millisecond}
		}
		oracles := [2]*oracle{newOracle(), newOracle()}
		forged := false
		read := func() {
			for i, n := range []*node{&p.server, &p.client} {
				for _, m := range n.messages {
					if !forged {
						require.NoError(t, oracles[i].receive(m))
					}
				}
				n.messages = nil
			}
		}
		for ; len(ops) >= 2; ops = ops[2:] {
			n, from := &p.client, oracles[0]
			if ops[1]&1 == 1 {
				n, from = &p.server, oracles[1]
			}
			switch arg := int(ops[1]); ops[0] % 16 {
			case 0, 1, 2:
				_ = from.send(r, n)
				n.settle()
			case 3, 4:
				p.run(time.Duration(arg) * time.Millisecond)
			case 5:
				loss = float64(arg%50) / 100
			case 6: // the path repeats or loses what is under way
				if len(p.flights) > 0 {
					i := arg % len(p.flights)
					if arg > 127 {
						p.flights = slices.Delete(p.flights, i, i+1)
					} else {
						again := p.flights[i]
						again.at, again.seq = p.now.Add(time.Duration(arg)*time.Millisecond), p.seq
						p.seq++
						p.flights = append(p.flights, again)
					}
				}
			case 7:
				n.deaf = !n.deaf
			case 8:
				n.close()
			case 9:
				n.abort(nil)
			case 10: // a stranger writes something that begins like a datagram of the pair
				forged = true
				data := wire.AppendDatagramHeader(nil, wire.FrameSetID, uint32(arg))
				data = wire.AppendFrameHeader(data, &wire.Frame{Reliability: protocol.Reliability(arg % 5), Order: uint32(arg)}, 9)
				data = append(data, []byte{0, 3, 9, 0x10, 0x13, 0x15, 0x18, 0xfe}[arg%8], 1, 2, 3, 4, 5, 6, 7, 8)
				n.Receive(p.now, nil, data)
				n.settle()
			case 11:
				forged = true
				n.Receive(p.now, nil, ops)
				n.settle()
			case 12:
				p.client.asleep = arg < 64
			case 13:
				p.server.asleep = arg < 64
			case 14:
				n.Receive(p.now, nil, nack(uint32(arg), uint32(arg)+1))
				n.settle()
			default:
				_ = n.Send(p.now, &arq.Message{Payload: []byte{byte(arg)}, Reliability: 9})
			}
			read()
		}
		loss = 0
		p.client.deaf, p.server.deaf = false, false
		p.client.asleep, p.server.asleep = false, false
		p.client.close()
		p.server.close()
		p.run(30 * time.Second)
		for _, n := range []*node{&p.client, &p.server} {
			require.Equal(t, Dead, n.State())
			require.Error(t, n.closed)
		}
		p.finish()
	})
}
