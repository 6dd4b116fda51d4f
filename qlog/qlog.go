// Package qlog writes down what connections do, for people who want to see why one is
// slow: each datagram sent, acknowledged or lost, and why, the round trip, the window
// and the pace. It is for a [raknet.Dialer] or [raknet.ListenConfig]:
//
//	config := raknet.ListenConfig{Tracer: qlog.Dir("traces")}
//
// The format is qlog 0.3 as a sequence of JSON texts (RFC 7464), one file for each
// connection, as QUIC implementations write it, so that their tools can draw it. Times are in
// milliseconds since the first event, sizes in bytes of UDP payload, and the pacing rate in
// bits a second, 0 where nothing is paced.
//
// Where QUIC has an event for it, that is used: transport:packet_sent,
// transport:packet_received, transport:packet_dropped, transport:packets_acked,
// recovery:packet_lost, recovery:metrics_updated, recovery:congestion_state_updated,
// recovery:loss_timer_updated, connectivity:connection_started and
// connectivity:connection_closed. A "packet" there is a datagram here. Its packet_type is
// data, ack or nack; acks and nacks have no packet_number, and say in their frames which
// datagrams they told something new of. A datagram that was sent has the fields
// frames_resent and frames_repeated beside QUIC's.
//
// The others have a name of their own: raknet:spurious_loss (datagrams that had been given
// up were acknowledged), raknet:reordering_tolerance_updated (by how much later than expected,
// in least round trips, an acknowledgement may come), raknet:datagrams_abandoned (what was in
// flight when the connection ended), and raknet:events_dropped (events are missing here,
// because writing was too slow).
package qlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/raknet-go/raknet"
)

// Config says where traces go.
type Config struct {
	// Open returns what the trace of a connection is written to, which is closed after
	// its end. It is called by a goroutine of the connection's own. A nil writer without an
	// error leaves the connection out. Required.
	Open func(*raknet.Conn) (io.WriteCloser, error)
	// ErrorLog receives the errors of opening and writing. After the first one of a
	// connection its trace ends. Nil: nothing is logged.
	ErrorLog *slog.Logger
}

// NewTracer returns a tracer that writes each connection to what open returns for it.
func NewTracer(open func(*raknet.Conn) (io.WriteCloser, error)) *raknet.Tracer {
	return Config{Open: open}.Tracer()
}

// Dir returns a tracer that writes each connection to a new file in a directory, which it
// makes if it does not exist. The name tells the time, the side and the peer:
// 20060102-150405.000-server-192.0.2.7-49152.sqlog.
func Dir(path string) *raknet.Tracer {
	return NewTracer(func(c *raknet.Conn) (io.WriteCloser, error) { return OpenFile(path, c) })
}

// OpenFile creates the file that [Dir] would, for a [Config] of one's own.
func OpenFile(dir string, c *raknet.Conn) (io.WriteCloser, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	name := fileName(time.Now(), side(c), c.RemoteAddr().String())
	for n := 1; ; n++ {
		path := filepath.Join(dir, name+".sqlog")
		if n > 1 {
			path = filepath.Join(dir, fmt.Sprintf("%s-%d.sqlog", name, n))
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err == nil {
			return f, nil
		}
		if n == maxNamesakes || !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
}

// maxNamesakes is how many connections to one peer, at one millisecond, get a file.
const maxNamesakes = 100

// fileName makes a name of what is known of a connection. The address may be of any
// kind; nothing of it can lead out of the directory.
func fileName(at time.Time, side, peer string) string {
	peer = strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '.':
			return r
		case r == '[' || r == ']':
			return -1
		}
		return '-'
	}, peer)
	const most = 64 // bytes of the address
	return at.UTC().Format("20060102-150405.000") + "-" + side + "-" + strings.Trim(peer[:min(len(peer), most)], "-.")
}

// side names the end of c that is here.
func side(c *raknet.Conn) string {
	if c.Dialed() {
		return "client"
	}
	return "server"
}

// Tracer returns a tracer that does what the config says. It uses ConnEvents and
// ConnClosed; the other fields are free.
func (conf Config) Tracer() *raknet.Tracer {
	var traces sync.Map // of *trace, by *raknet.Conn
	return &raknet.Tracer{
		ConnEvents: func(c *raknet.Conn, events []raknet.TraceEvent) {
			v, ok := traces.Load(c)
			if !ok {
				v = conf.begin(c, events[0].Time)
				traces.Store(c, v)
			}
			if t := v.(*trace); t.out != nil {
				t.add(events)
				conf.check(c, t, t.flush())
			}
		},
		ConnClosed: func(c *raknet.Conn, cause error) {
			v, ok := traces.LoadAndDelete(c)
			if !ok {
				return
			}
			if t := v.(*trace); t.out != nil {
				t.end(time.Now(), cause)
				conf.check(c, t, t.flush())
				if t.out != nil {
					conf.check(c, t, t.out.Close())
				}
			}
		},
	}
}

// begin opens a trace.
func (conf Config) begin(c *raknet.Conn, at time.Time) *trace {
	t := &trace{start: at}
	out, err := conf.Open(c)
	if err != nil {
		conf.log(c, err)
		return t
	}
	if out == nil {
		return t
	}
	t.out = out
	t.begin(&connection{
		side: side(c), local: c.LocalAddr().String(), remote: c.RemoteAddr().String(),
		mtu: c.MTU(), version: c.ProtocolVersion(), guid: c.GUID(),
	})
	return t
}

// check ends a trace that cannot be written any more.
func (conf Config) check(c *raknet.Conn, t *trace, err error) {
	if err == nil {
		return
	}
	conf.log(c, err)
	_ = t.out.Close() // it has failed already
	t.out = nil
}

func (conf Config) log(c *raknet.Conn, err error) {
	if conf.ErrorLog != nil {
		conf.ErrorLog.Log(context.Background(), slog.LevelError, "qlog", "peer", c.RemoteAddr(), "error", err)
	}
}
