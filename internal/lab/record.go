package lab

import (
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/session"
)

// Recording is what happened over time in one run.
type Recording struct {
	// Every is the time between two samples; it must be set.
	Every    time.Duration
	Samples  []Sample
	Messages []Delivered

	w *world
}

// Sample is the state of one flow at one moment since the start.
type Sample struct {
	Flow             int
	At               time.Duration
	Window, InFlight int           // bytes
	Queue            time.Duration // that a datagram would wait before the link
	Bytes            int64         // bulk payload delivered since the sample before
}

// Delivered is a message of a game flow.
type Delivered struct {
	Flow     int
	Sent, At time.Duration // since the start
}

func (r *Recording) begin(w *world) {
	r.w = w
	w.push(event{at: begin.Add(r.Every), to: r, kind: evSample})
}

func (r *Recording) message(flow int, sent, at monotime.Time) {
	r.Messages = append(r.Messages, Delivered{flow, sent.Sub(begin), at.Sub(begin)})
}

// happen takes a sample of every flow.
func (r *Recording) happen(*event) {
	w := r.w
	for i, f := range w.flows {
		s := Sample{Flow: i, At: w.now.Sub(begin), Queue: w.up.pipe.Backlog(w.now), Bytes: f.sink.sampled}
		f.sink.sampled = 0
		if f.tcp != nil {
			s.Window, s.InFlight = int(f.tcp.window*tcpSize), f.tcp.inFlight*tcpSize
		} else if f.sender.begun {
			var st session.Stats
			f.sender.sess.Stats(&st)
			s.Window, s.InFlight = st.CongestionWindow, st.BytesInFlight
		}
		r.Samples = append(r.Samples, s)
	}
	if w.now < w.until {
		w.push(event{at: w.now.Add(r.Every), to: r, kind: evSample})
	}
}
