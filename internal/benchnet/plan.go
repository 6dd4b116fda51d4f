package main

import (
	"fmt"
	"time"

	"github.com/raknet-go/raknet/internal/benchnet/rivals"
	"github.com/raknet-go/raknet/internal/lab"
)

// Plan is what is measured.
type Plan struct {
	Runs      int // of games and bulk; transfers and scenarios are played once
	Quick     bool
	Sections  string // letters of those to measure
	Profile   string
	Libraries []rivals.Library

	warm, gameTime, bulkTime, narrowTime, labTime time.Duration
	transfer                                      int64
	transferLoss                                  []int // percent
	transferRTT                                   []int // ms
	scenarios                                     []string
}

const (
	ours   = "raknet"
	quicGo = "quic-go"

	gameFlows   = 16
	gameSize    = 200
	bulkSize    = 1024
	bulkLink    = "delay=25ms"
	narrowLink  = "delay=25ms,bandwidth=2500000,queue=65536"
	rawPlain    = "UDP"
	rawPieces   = "UDP, GSO"
	oursLimit   = 4 * time.Minute
	quicAtLeast = time.Second // what a transfer by quic-go may take longer than ours, beside half of it
	quicAtMost  = 5 * time.Second
)

// losses are the shares of datagrams lost each way, in percent.
var losses = []int{0, 1, 5}

// complete fills in what the flags did not say.
func (p *Plan) complete() {
	p.Libraries = rivals.All
	p.warm, p.gameTime, p.bulkTime, p.narrowTime, p.labTime = 2*time.Second, 8*time.Second, 4*time.Second, 8*time.Second, 8*time.Second
	p.transfer = 64 << 20
	p.transferLoss, p.transferRTT = []int{0, 1, 5, 20}, []int{20, 100, 200}
	for _, s := range lab.Scenarios {
		if playable(&s) {
			p.scenarios = append(p.scenarios, s.Name)
		}
	}
	if p.Quick {
		p.gameTime, p.bulkTime, p.narrowTime, p.labTime = 3*time.Second, 2*time.Second, 4*time.Second, 2*time.Second
		p.transfer = 16 << 20
		p.transferLoss, p.transferRTT = []int{0, 5}, []int{20, 100}
		p.scenarios = []string{"game-0", "game-5", "bulk-0", "bulk-5-100k", "mixed", "reorder"}
	}
}

// playable reports whether a relay can play the scenario: it carries no TCP.
func playable(s *lab.Scenario) bool {
	for _, f := range s.Flows {
		if f.TCP {
			return false
		}
	}
	return true
}

func lossName(percent int) string { return fmt.Sprintf("%d %%", percent) }

func lossy(link string, percent int) string {
	if percent > 0 {
		return fmt.Sprintf("%s,loss=%g", link, float64(percent)/100)
	}
	return link
}

// cells returns what a run measures, in order. The libraries take turns in every row, and
// in every run another begins.
func (p *Plan) cells(run int) (cells []Cell) {
	row := func(c Cell, libraries ...string) {
		c.Profile = p.Profile
		c.Seed = uint64(run + 1)
		for i := range libraries {
			c.Library = libraries[(i+run)%len(libraries)]
			cells = append(cells, c)
		}
	}
	var names []string
	for _, l := range p.Libraries {
		names = append(names, l.Name())
	}
	if p.has('b') {
		row(Cell{Kind: "raw", Name: "relay", Link: bulkLink, Size: rawSize, Warm: time.Second, Measure: p.bulkTime}, rawPlain, rawPieces)
	}
	for _, l := range losses {
		if p.has('a') {
			row(Cell{Kind: "game", Name: lossName(l), Link: lossy(bulkLink, l), Size: gameSize, Flows: gameFlows, Warm: p.warm, Measure: p.gameTime}, names...)
		}
		if p.has('b') {
			row(Cell{Kind: "bulk", Name: lossName(l), Link: lossy(bulkLink, l), Size: bulkSize, Flows: 1, Warm: p.warm, Measure: p.bulkTime}, names...)
		}
	}
	if p.has('c') {
		row(Cell{Kind: "bulk", Name: "narrow", Link: narrowLink, Size: bulkSize, Flows: 1, Warm: p.warm, Measure: p.narrowTime}, names...)
	}
	if run > 0 {
		return cells
	}
	if p.has('d') {
		for _, l := range p.transferLoss {
			for _, rtt := range p.transferRTT {
				row(Cell{Kind: "transfer", Name: transferName(l, rtt), Link: lossy(fmt.Sprintf("delay=%gms", float64(rtt)/2), l), Size: bulkSize,
					Flows: 1, Total: p.transfer, Limit: oursLimit}, ours, quicGo)
			}
		}
	}
	if p.has('e') {
		for _, s := range p.scenarios {
			row(Cell{Kind: "lab", Name: s, Scenario: s, Measure: p.labTime}, ours)
		}
	}
	return cells
}

func transferName(loss, rtt int) string { return fmt.Sprintf("%d %%, %d ms", loss, rtt) }

func (p *Plan) has(section rune) bool {
	for _, s := range p.Sections {
		if s == section {
			return true
		}
	}
	return false
}
