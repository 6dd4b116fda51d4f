package lab

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// drawing is diagrams over a common time, one above the other.
type drawing struct {
	title    string
	span     float64 // seconds
	diagrams []diagram
}

// diagram is curves, or dots, over time.
type diagram struct {
	title string
	dots  bool
	lines []line
}

type line struct {
	name   string
	points []point
}

type point struct{ x, y float64 }

func (g *diagram) add(name string, points []point) {
	g.lines = append(g.lines, line{strings.TrimSpace(name), points})
}

// Measures of a drawing, in pixels.
const (
	svgWidth    = 760
	svgLeft     = 56
	svgRight    = 16
	svgTitle    = 34
	svgPanel    = 150 // of it svgGap for the title of the diagram
	svgGap      = 32
	svgBottom   = 34
	svgInner    = svgWidth - svgLeft - svgRight
	svgLegendAt = svgWidth - svgRight
)

// colours of lines, which stand out from white as from black.
var colours = []string{"#2f81c7", "#e07b28", "#3a9d5d", "#c2498c", "#8a6fd1", "#a8902a"}

// svg returns the drawing. It has no background: text and axes follow the reader's theme.
func (d *drawing) svg() []byte {
	height := svgTitle + len(d.diagrams)*svgPanel + svgBottom
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="13">
<style>
.t{fill:#333}.g{stroke:#888;stroke-opacity:.35}.l{fill:none;stroke-width:1.5;stroke-linejoin:round}.d{stroke-width:3;stroke-linecap:round}
@media (prefers-color-scheme:dark){.t{fill:#ddd}}
</style>
`, svgWidth, height, svgWidth, height)
	fmt.Fprintf(&b, `<text class="t" x="%d" y="22" font-size="15" font-weight="bold">%s</text>`+"\n", svgLeft, html.EscapeString(d.title))
	for i := range d.diagrams {
		d.panel(&b, &d.diagrams[i], svgTitle+i*svgPanel)
	}
	bottom := svgTitle + len(d.diagrams)*svgPanel
	step := tick(d.span, 10)
	for n := 0; float64(n)*step <= d.span*1.0001; n++ {
		t := float64(n) * step
		fmt.Fprintf(&b, `<text class="t" x="%s" y="%d" text-anchor="middle">%s s</text>`+"\n", px(d.x(t)), bottom+18, number(t, step))
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// x is where a time is.
func (d *drawing) x(t float64) float64 { return svgLeft + t/d.span*svgInner }

// panel draws one diagram whose top is at y.
func (d *drawing) panel(b *strings.Builder, g *diagram, top int) {
	most := 0.0
	for _, l := range g.lines {
		for _, p := range l.points {
			most = max(most, p.y)
		}
	}
	if most == 0 {
		most = 1 // nothing happened: an empty diagram
	}
	step := tick(most*1.05, 4)
	high := step * math.Ceil(most*1.05/step)
	floor, height := float64(top+svgPanel), float64(svgPanel-svgGap)
	y := func(v float64) float64 { return floor - v/high*height }
	fmt.Fprintf(b, `<text class="t" x="%d" y="%d">%s</text>`+"\n", svgLeft, top+svgGap-9, html.EscapeString(g.title))
	for n := 0; float64(n)*step <= high*1.0001; n++ {
		v := float64(n) * step
		fmt.Fprintf(b, `<path class="g" d="M%d %sH%d"/><text class="t" x="%d" y="%s" text-anchor="end">%s</text>`+"\n",
			svgLeft, px(y(v)), svgWidth-svgRight, svgLeft-6, px(y(v)+4), number(v, step))
	}
	legend := svgLegendAt
	for i := len(g.lines) - 1; i >= 0; i-- {
		if name := g.lines[i].name; name != "" {
			fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end" fill="%s">%s</text>`+"\n",
				legend, top+svgGap-9, colours[i%len(colours)], html.EscapeString(name))
			legend -= 8*len(name) + 12
		}
	}
	class := "l"
	if g.dots {
		class = "d"
	}
	for i, l := range g.lines {
		fmt.Fprintf(b, `<path class="%s" stroke="%s" d="`, class, colours[i%len(colours)])
		for j, p := range l.points {
			switch {
			case g.dots:
				fmt.Fprintf(b, "M%s %sh0", px(d.x(p.x)), px(y(p.y)))
			case j == 0:
				fmt.Fprintf(b, "M%s %s", px(d.x(p.x)), px(y(p.y)))
			default:
				fmt.Fprintf(b, "L%s %s", px(d.x(p.x)), px(y(p.y)))
			}
		}
		b.WriteString("\"/>\n")
	}
}

// px writes a place in pixels.
func px(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// number writes a label of an axis with such steps.
func number(v, step float64) string {
	decimals := 0
	if step < 1 {
		decimals = int(math.Ceil(-math.Log10(step) - 1e-9))
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// tick returns a round step that divides a range into at most so many parts.
func tick(span float64, parts int) float64 {
	if span <= 0 {
		return 1
	}
	least := span / float64(parts)
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= least*0.9999 {
			return m * power
		}
	}
	return 10 * power
}
