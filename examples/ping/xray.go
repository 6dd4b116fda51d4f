package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/raknet-go/raknet/internal/xray"
)

// lookTime is how long a server is looked at, at most: a little more than one takes that never answers.
const lookTime = 20 * time.Second

// look prints what a server speaks. Unlike the rest of this program it uses a package that
// only this module can: most programs have no need for it.
func look(ctx context.Context, address string, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "udp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	r, err := xray.Look(ctx, conn, rand.Int64()|-1<<63)
	if err == nil && r.Received == 0 {
		err = fmt.Errorf("no answer to %d datagrams", r.Sent)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s (%v)\n", address, conn.RemoteAddr())
	showPong(out, r.Pong)
	showVersions(out, &r)
	for _, p := range r.Probes {
		line(out, fmt.Sprintf("MTU %d", p.MTU), "%s", probe(&p))
	}
	line(out, "datagrams", "%d sent, %d received", r.Sent, r.Received)
	return nil
}

func showPong(out io.Writer, p *xray.Pong) {
	if p == nil {
		line(out, "pong", "none")
		return
	}
	line(out, "round trip", "%v", p.RoundTrip.Round(10*time.Microsecond))
	line(out, "GUID", "%d", p.GUID)
	stamp := "the ping's time"
	if !p.TimeKept {
		stamp = "a time of its own"
	}
	line(out, "pong", "%d bytes, %v, %s", p.Size, p.Form, stamp)
	if len(p.Data) > 0 {
		show(out, p.Data)
	}
}

func showVersions(out io.Writer, r *xray.Report) {
	var takes []string
	for _, v := range r.Versions {
		if v.Answer == xray.Accepted {
			takes = append(takes, fmt.Sprint(v.Version))
		}
	}
	if len(takes) == 0 {
		takes = []string{"none of those known"}
	}
	line(out, "versions", "%s", strings.Join(takes, ", "))
	for _, v := range r.Versions {
		switch v.Answer {
		case xray.Accepted:
		case xray.Mismatch:
			form := ""
			if v.MagicFirst {
				form = " (marker first)"
			}
			line(out, "", "asked in %d: speaks %d%s", v.Version, v.Speaks, form)
		case xray.Refused:
			line(out, "", "asked in %d: %v", v.Version, v.Reason)
		default:
			line(out, "", "asked in %d: no answer", v.Version)
		}
	}
}

// probe says in words how a server took a size.
func probe(p *xray.Probe) string {
	switch p.Answer {
	case xray.Silence:
		return "no answer"
	case xray.Mismatch:
		return "another version"
	case xray.Refused:
		return p.Reason.String()
	}
	security := "no cookie"
	switch {
	case p.Libcat:
		return fmt.Sprintf("demands the original's encryption, %d bytes, GUID %d", p.Size, p.GUID)
	case p.Security:
		security = fmt.Sprintf("security with cookie %08x", p.Cookie)
	}
	return fmt.Sprintf("grants %d, %s, %d bytes, GUID %d, %v", p.Granted, security, p.Size, p.GUID, p.RoundTrip.Round(10*time.Microsecond))
}
