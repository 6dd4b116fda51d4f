package offline

import (
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/wire"
)

const epoch = 1_700_000_000_000

// pinged returns a pinger whose first ping has left at start.
func pinged() *Pinger {
	p := new(Pinger)
	p.Init(start, &PingerConfig{GUID: clientGUID, Epoch: epoch})
	p.Transmit(start, nil)
	return p
}

func pong(time int64, data string) []byte {
	return (&wire.UnconnectedPong{Time: time, GUID: serverGUID, Data: []byte(data)}).Append(nil)
}

// sendPing transmits and returns the time stamp of the ping.
func sendPing(t *testing.T, p *Pinger, now monotime.Time) int64 {
	t.Helper()
	var r wire.UnconnectedPing
	if err := r.Parse(p.Transmit(now, nil)); err != nil || !r.HasGUID || r.GUID != clientGUID || r.OnlyIfOpen {
		t.Fatalf("no ping: %+v, %v", r, err)
	}
	if again := p.Transmit(now, nil); again != nil {
		t.Fatal("two pings at once")
	}
	return r.Time
}

func TestPingerRepeatsUntilThePong(t *testing.T) {
	p := new(Pinger)
	p.Init(start, &PingerConfig{GUID: clientGUID, Epoch: epoch})
	if p.Deadline() != start {
		t.Fatal("the first ping is not due at once")
	}
	var stamps []int64
	for i := range 3 {
		now := start.Add(ms(500 * i))
		if i > 0 {
			p.Advance(now - 1)
			if p.Transmit(now-1, nil) != nil || p.Deadline() != now {
				t.Fatal("the next ping is early")
			}
			p.Advance(now)
		}
		stamps = append(stamps, sendPing(t, p, now))
	}
	if stamps[0] != epoch || stamps[2] != epoch+1000 {
		t.Fatalf("time stamps %v", stamps)
	}
	t.Log("# the pong of the second ping arrives after the third was sent")
	now := start.Add(ms(1100))
	p.Receive(now, []byte{0x84, 0, 0, 0})
	p.Receive(now, pong(stamps[1], "MCPE;hi")[:20])
	if _, ok := p.Result(); ok {
		t.Fatal("something else was taken for a pong")
	}
	datagram := pong(stamps[1], "MCPE;hi")
	p.Receive(now, datagram)
	clear(datagram)
	got, ok := p.Result()
	if !ok || string(got.Data) != "MCPE;hi" || got.GUID != serverGUID || got.RTT != ms(600) {
		t.Fatalf("%+v, %t", got, ok)
	}
	t.Log("# which ends it; a second pong changes nothing")
	p.Advance(now.Add(time.Hour))
	p.Receive(now, pong(stamps[2], "other"))
	if again, _ := p.Result(); again.RTT != got.RTT || p.Deadline() != monotime.Never || p.Transmit(now, nil) != nil {
		t.Fatal("it goes on")
	}
}

func TestPingerMeasuresPongsWithTheServersTime(t *testing.T) {
	p := pinged()
	p.Advance(start.Add(ms(500)))
	sendPing(t, p, start.Add(ms(500)))
	p.Receive(start.Add(ms(530)), pong(123456, ""))
	if got, ok := p.Result(); !ok || got.RTT != ms(30) || len(got.Data) != 0 {
		t.Fatalf("%+v, %t", got, ok)
	}
}

func TestPingerForgetsTheOldestPings(t *testing.T) {
	p := new(Pinger)
	p.Init(start, &PingerConfig{Epoch: epoch, Interval: time.Second})
	var now monotime.Time
	for i := range 3 * pingsRemembered {
		now = start.Add(time.Duration(i) * time.Second)
		p.Advance(now)
		p.Transmit(now, nil)
	}
	for _, tt := range []struct{ age, rtt time.Duration }{
		{0, 0}, {7 * time.Second, 7 * time.Second}, {8 * time.Second, 0}, {20 * time.Second, 0},
	} {
		q := *p
		q.Receive(now, pong(epoch+now.Add(-tt.age).Milli(), ""))
		if got, ok := q.Result(); !ok || got.RTT != tt.rtt {
			t.Errorf("pong of a ping %v ago: %v, %t, want %v", tt.age, got.RTT, ok, tt.rtt)
		}
	}
}

func TestPingerIgnoresPongsBeforeItsPing(t *testing.T) {
	p := new(Pinger)
	p.Init(start, &PingerConfig{})
	p.Receive(start, pong(0, ""))
	if _, ok := p.Result(); ok {
		t.Fatal("a pong to nothing was taken")
	}
}
