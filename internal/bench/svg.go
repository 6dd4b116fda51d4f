package main

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// drawing is groups of bars, one below the other.
type drawing struct {
	file, title string
	groups      []group
}

// group is bars of one unit.
type group struct {
	title string
	bars  []bar
}

type bar struct {
	name  string
	value float64
}

func (g *group) add(name string, value float64) {
	if !math.IsNaN(value) && value > 0 {
		g.bars = append(g.bars, bar{name, value})
	}
}

// drawings are those of the document.
func (r *Report) drawings() []drawing {
	bulk := drawing{file: "docs/img/bench-bulk.svg", title: "Messages one way, reliable and in order: MB/s"}
	cpu := drawing{file: "docs/img/bench-cpu.svg", title: "The same: CPU-seconds per GB, both ends (less is better)"}
	for _, k := range r.keys(Bulk) {
		if k.n == sizeDatagram {
			continue
		}
		g, c := group{title: "messages of " + sizeName(k.n)}, group{title: "messages of " + sizeName(k.n)}
		for _, l := range r.libraries(k) {
			g.add(l, r.median(k, l, mRate))
			c.add(l, r.median(k, l, mCPU))
		}
		bulk.groups, cpu.groups = append(bulk.groups, g), append(cpu.groups, c)
	}
	waits := drawing{file: "docs/img/bench-latency.svg", title: "Waiting, in microseconds (less is better)"}
	for _, k := range r.keys(Ping) {
		for _, m := range []string{mP50, mP99} {
			g := group{title: "a message of " + sizeName(k.n) + " there and back: " + strings.TrimSuffix(m, " us")}
			for _, l := range r.libraries(k) {
				g.add(l, r.median(k, l, m))
			}
			waits.groups = append(waits.groups, g)
		}
	}
	servers := drawing{file: "docs/img/bench-server.svg", title: "Servers"}
	for _, k := range r.keys(Connect) {
		g := group{title: fmt.Sprintf("connects a second, %d at once", k.n)}
		for _, l := range r.libraries(k) {
			g.add(l, r.median(k, l, mPerSecond))
		}
		servers.groups = append(servers.groups, g)
	}
	for _, k := range r.keys(Players) {
		g := group{title: fmt.Sprintf("cores used by a game with %s players (less is better)", grouped(float64(k.n)))}
		for _, l := range r.libraries(k) {
			g.add(l, r.median(k, l, mServerCPU))
		}
		servers.groups = append(servers.groups, g)
	}
	return []drawing{bulk, cpu, waits, servers}
}

// Measures of a drawing, in pixels.
const (
	svgWidth  = 760
	svgLeft   = 170 // of the bars; their names are before it
	svgRight  = 80  // for the number behind the longest bar
	svgTitle  = 34
	svgHead   = 30 // of a group
	svgBar    = 20 // from one bar to the next
	svgThick  = 14
	svgBottom = 12
	svgInner  = svgWidth - svgLeft - svgRight
)

// Colours that stand out from white as from black: this library's, and the others'.
const (
	colourOurs  = "#2f81c7"
	colourBound = "#8a6fd1"
	colourOther = "#a8902a"
)

// svg returns the drawing. It has no background: text follows the reader's theme.
func (d *drawing) svg() []byte {
	height := svgTitle + svgBottom
	for _, g := range d.groups {
		height += svgHead + svgBar*len(g.bars)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="13">
<style>
.t{fill:#333}
@media (prefers-color-scheme:dark){.t{fill:#ddd}}
</style>
`, svgWidth, height, svgWidth, height)
	fmt.Fprintf(&b, `<text class="t" x="8" y="22" font-size="15" font-weight="bold">%s</text>`+"\n", html.EscapeString(d.title))
	y := svgTitle
	for _, g := range d.groups {
		y = g.draw(&b, y)
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// draw draws a group whose top is at y, and returns where it ends.
func (g *group) draw(b *strings.Builder, y int) int {
	fmt.Fprintf(b, `<text class="t" x="%d" y="%d" font-weight="bold">%s</text>`+"\n", svgLeft, y+svgHead-10, html.EscapeString(g.title))
	y += svgHead
	most := 0.0
	for _, v := range g.bars {
		most = max(most, v.value)
	}
	for _, v := range g.bars {
		length := v.value / most * svgInner
		fmt.Fprintf(b, `<text class="t" x="%d" y="%d" text-anchor="end">%s</text><rect x="%d" y="%d" width="%s" height="%d" fill="%s"/><text class="t" x="%s" y="%d">%s</text>`+"\n",
			svgLeft-8, y+svgThick-2, html.EscapeString(v.name), svgLeft, y, px(max(length, 1)), svgThick, colour(v.name),
			px(svgLeft+length+6), y+svgThick-2, digits(v.value))
		y += svgBar
	}
	return y
}

func colour(name string) string {
	switch {
	case strings.HasPrefix(name, ours):
		return colourOurs
	case strings.HasPrefix(name, boundName), strings.HasPrefix(name, "UDP"):
		return colourBound
	}
	return colourOther
}

// px writes a place in pixels.
func px(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }
