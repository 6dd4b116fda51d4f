package netsim

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// String writes the link as ParseLink reads it, "perfect" if nothing is set. Blackout is
// left out.
func (l Link) String() string {
	var parts []string
	duration := func(name string, d time.Duration) {
		if d != 0 {
			parts = append(parts, name+"="+d.String())
		}
	}
	share := func(name string, p float64) {
		if p != 0 {
			parts = append(parts, name+"="+strconv.FormatFloat(p, 'g', 4, 64))
		}
	}
	number := func(name string, n int64) {
		if n != 0 {
			parts = append(parts, name+"="+strconv.FormatInt(n, 10))
		}
	}
	duration("delay", l.Delay)
	duration("jitter", l.Jitter)
	share("loss", l.Loss)
	if b := l.Burst; b != nil {
		share("tobad", b.ToBad)
		share("togood", b.ToGood)
		share("lossgood", b.LossGood)
		share("lossbad", b.LossBad)
	}
	share("dup", l.Duplicate)
	share("reorder", l.Reorder)
	duration("reorderby", l.ReorderBy)
	share("corrupt", l.Corrupt)
	share("truncate", l.Truncate)
	number("bandwidth", l.Bandwidth)
	number("queue", int64(l.Queue))
	number("mtu", int64(l.MTU))
	if len(parts) == 0 {
		return "perfect"
	}
	return strings.Join(parts, ",")
}

// ParseLink reads what Link.String writes: settings such as "delay=50ms,loss=0.1" in any
// order.
func ParseLink(text string) (l Link, err error) {
	if text == "perfect" {
		return l, nil
	}
	burst := func() *GilbertElliott {
		if l.Burst == nil {
			l.Burst = new(GilbertElliott)
		}
		return l.Burst
	}
	for _, part := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		var d *time.Duration
		var p *float64
		var n int64
		switch name {
		case "delay":
			d = &l.Delay
		case "jitter":
			d = &l.Jitter
		case "reorderby":
			d = &l.ReorderBy
		case "loss":
			p = &l.Loss
		case "dup":
			p = &l.Duplicate
		case "reorder":
			p = &l.Reorder
		case "corrupt":
			p = &l.Corrupt
		case "truncate":
			p = &l.Truncate
		case "tobad":
			p = &burst().ToBad
		case "togood":
			p = &burst().ToGood
		case "lossgood":
			p = &burst().LossGood
		case "lossbad":
			p = &burst().LossBad
		case "bandwidth", "queue", "mtu":
			n, err = strconv.ParseInt(value, 10, 64)
		default:
			return l, fmt.Errorf("a link has no %q", name)
		}
		switch {
		case d != nil:
			*d, err = time.ParseDuration(value)
		case p != nil:
			*p, err = strconv.ParseFloat(value, 64)
		case name == "bandwidth":
			l.Bandwidth = n
		case name == "queue":
			l.Queue = int(n)
		default:
			l.MTU = int(n)
		}
		if err != nil {
			return l, fmt.Errorf("link setting %q: %w", part, err)
		}
	}
	return l, nil
}
