package lab

import (
	"fmt"
	"slices"
	"time"
)

// Figure is a picture of one scenario over time.
type Figure struct {
	Scenario string
	Title    string
	Span     time.Duration // from the start
	Panels   []Panel
}

// Panel is one diagram of a figure.
type Panel uint8

// The panels of figures.
const (
	PanelWindow  Panel = iota // congestion window and bytes in flight
	PanelQueue                // queueing delay before the link
	PanelGoodput              // delivered payload, by flow
	PanelLatency              // each message of game flows: when it was sent, how long it took
	PanelCompare              // delivered payload with each of the controllers
)

// Figures are the pictures that go with the tables.
var Figures = []Figure{
	{"game-5", "60 messages/s, 5 % loss: when each message was sent, and how long it took", 20 * time.Second, []Panel{PanelLatency}},
	{"game-bursts", "60 messages/s, 20 % loss in bursts: when each message was sent, and how long it took", 20 * time.Second, []Panel{PanelLatency}},
	{"bulk-0", "Bulk over 100 Mbit/s, queue of 50 ms, no loss", 6 * time.Second, []Panel{PanelWindow, PanelQueue, PanelGoodput}},
	{"bulk-1", "Bulk over 100 Mbit/s, 1 % random loss", 9 * time.Second, []Panel{PanelWindow, PanelQueue, PanelCompare}},
	{"droptail", "Bulk over 20 Mbit/s with a queue of 64 KB", 12 * time.Second, []Panel{PanelWindow, PanelQueue, PanelGoodput}},
	{"mixed", "A game flow beside bulk in one connection, 100 Mbit/s", 6 * time.Second, []Panel{PanelLatency, PanelQueue, PanelGoodput}},
	{"two", "Two flows share 100 Mbit/s", 30 * time.Second, []Panel{PanelGoodput, PanelQueue}},
	{"tcp", "A flow beside a CUBIC TCP model, 100 Mbit/s", 30 * time.Second, []Panel{PanelGoodput, PanelQueue}},
	{"blackout", "Bulk over 100 Mbit/s, a blackout of 3 s and a bit", 11 * time.Second, []Panel{PanelWindow, PanelGoodput}},
}

// FullFigure returns a figure of any scenario with every panel that has something to show.
func FullFigure(s *Scenario) Figure {
	f := Figure{s.Name, s.Name, s.Until, []Panel{PanelWindow}}
	if s.Up.Bandwidth > 0 {
		f.Panels = append(f.Panels, PanelQueue, PanelGoodput)
	}
	for _, flow := range s.Flows {
		if slices.ContainsFunc(flow.Sources, func(src Source) bool { return src.Every > 0 }) {
			f.Panels = append(f.Panels, PanelLatency)
			break
		}
	}
	return f
}

// plotPoints is how many samples a curve has. Arbitrary.
const plotPoints = 300

// Draw plays the figure's scenario with a controller, and once with each of the others if
// it compares them, and returns the picture as SVG. The seed is 0.
func (f *Figure) Draw(c Controller, others []Controller) ([]byte, error) {
	s, ok := Find(f.Scenario)
	if !ok {
		return nil, fmt.Errorf("no scenario %q", f.Scenario)
	}
	record := func(c Controller) *Recording {
		short := *s
		short.Until = min(s.Until, f.Span)
		short.From = min(s.From, short.Until/2)
		rec := &Recording{Every: f.Span / plotPoints}
		Run(&short, c, 0, rec)
		return rec
	}
	rec := record(c)
	d := drawing{title: f.Title + " (" + c.Name + ")", span: f.Span.Seconds()}
	for _, p := range f.Panels {
		switch p {
		case PanelWindow:
			g := diagram{title: "window and bytes in flight, KB"}
			for i := range s.Flows {
				g.add("window"+flowName(s, i), curve(rec, i, func(s *Sample) float64 { return float64(s.Window) / 1000 }))
				g.add("in flight"+flowName(s, i), curve(rec, i, func(s *Sample) float64 { return float64(s.InFlight) / 1000 }))
			}
			d.diagrams = append(d.diagrams, g)
		case PanelQueue:
			g := diagram{title: "queueing delay, ms"}
			g.add("", curve(rec, 0, func(s *Sample) float64 { return millis(s.Queue) }))
			d.diagrams = append(d.diagrams, g)
		case PanelGoodput:
			g := diagram{title: "delivered payload, Mbit/s"}
			for i := range s.Flows {
				name := flowName(s, i)
				if name != "" && !s.Flows[i].TCP {
					name = "flow" + name
				}
				g.add(name, goodput(rec, i))
			}
			d.diagrams = append(d.diagrams, g)
		case PanelLatency:
			g := diagram{title: "one-way delay of each message, ms", dots: true}
			var points []point
			for _, m := range rec.Messages {
				if m.Sent < f.Span {
					points = append(points, point{m.Sent.Seconds(), millis(m.At - m.Sent)})
				}
			}
			g.add("", points)
			d.diagrams = append(d.diagrams, g)
		case PanelCompare:
			g := diagram{title: "delivered payload, Mbit/s"}
			for _, o := range others {
				g.add(o.Name, goodput(record(o), 0))
			}
			d.diagrams = append(d.diagrams, g)
		}
	}
	return d.svg(), nil
}

// flowName tells flows apart where there are several.
func flowName(s *Scenario, i int) string {
	switch {
	case len(s.Flows) == 1:
		return ""
	case s.Flows[i].TCP:
		return " TCP"
	}
	return fmt.Sprintf(" %d", i+1)
}

// curve is a value of a flow over time.
func curve(rec *Recording, flow int, value func(s *Sample) float64) (points []point) {
	for i := range rec.Samples {
		if s := &rec.Samples[i]; s.Flow == flow {
			points = append(points, point{s.At.Seconds(), value(s)})
		}
	}
	return points
}

// smoothing is over how many samples goodput is averaged: messages come in clumps.
const smoothing = 3

func goodput(rec *Recording, flow int) []point {
	points := curve(rec, flow, func(s *Sample) float64 { return 8 * float64(s.Bytes) / rec.Every.Seconds() / 1e6 })
	smooth := make([]point, len(points))
	for i := range points {
		window := points[max(0, i-smoothing+1) : i+1]
		sum := 0.0
		for _, p := range window {
			sum += p.y
		}
		smooth[i] = point{points[i].x, sum / float64(len(window))}
	}
	return smooth
}
