package offline

import (
	"bytes"
	"testing"

	"github.com/raknet-go/raknet/internal/wire"
)

func TestPongEchoesTheTimeAndCarriesTheData(t *testing.T) {
	s := newServer(ServerConfig{})
	var p wire.UnconnectedPong
	if err := p.Parse(s.AppendPong(nil, -1, []byte("MCPE;hello"))); err != nil {
		t.Fatal(err)
	}
	if p.Time != -1 || p.GUID != serverGUID || string(p.Data) != "MCPE;hello" {
		t.Fatalf("pong %+v", p)
	}
}

func TestPongDataIsCapped(t *testing.T) {
	motd := bytes.Repeat([]byte{'x'}, 70000)
	for _, tt := range []struct{ cap, want int }{
		{0, 397}, {100, 100}, {1000, 1000}, {-1, 65535}, {1 << 20, 65535},
	} {
		s := newServer(ServerConfig{PongCap: tt.cap})
		var p wire.UnconnectedPong
		if err := p.Parse(s.AppendPong(nil, 1, motd)); err != nil || len(p.Data) != tt.want {
			t.Errorf("cap %d: %d bytes (%v), want %d", tt.cap, len(p.Data), err, tt.want)
		}
	}
	if got := len(newServer(ServerConfig{}).AppendPong(nil, 1, motd)); got != PongSize {
		t.Errorf("the largest pong has %d bytes, PongSize says %d", got, PongSize)
	}
}
