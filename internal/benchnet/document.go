package main

import (
	"fmt"
	"strings"

	"github.com/raknet-go/raknet/internal/show"
)

// part is a table with its heading and what must be known to read it.
type part struct {
	title, intro string
	table        show.Table
}

func (r *Report) parts() []part {
	return []part{
		{"Required and reached", "By the medians of the runs.", r.verdicts()},
		{"A game's messages", fmt.Sprintf("%d flows at once, each 60 reliable, ordered messages a second of %d bytes, 25 ms one way. "+
			"The time from the call that sends to the call that receives. Bytes on the wire are those of both directions, IP and UDP headers included, for each byte of a message.",
			gameFlows, gameSize), r.games()},
		{"Bulk", "Reliable, ordered messages of 1 KB, as many as one connection takes, 25 ms one way, no limit of rate. The first rows are bare datagrams " +
			"through the relay, without a protocol but for a window, one by one and in pieces (GSO): its own limit. \"Held up by\" says what kept a run from being faster: " +
			"the relay, if it used most of a core or the figure is near that of bare datagrams; the processors, if the two processes kept all of them busy; " +
			"other programs, if those used more than 0.3 cores; otherwise the library's own window, pacing or recovery.", r.bulks()},
		{"A narrow link", "The same through 20 Mbit/s with a drop-tail queue of 64 KB. Of the 2.5 MB/s, 2.39 are left for messages. Drops are counted from the connection's beginning.", r.narrow()},
		{fmt.Sprintf("Transfers of %d MiB", r.TransferBytes>>20), "From the first message's sending to the last one's arrival. quic-go is given half as long again as this library took, and a second, " +
			"but no more than 5 s beside: \"unfinished\" is slower.", r.transfers()},
		{"The laboratory's scenarios over real sockets", "The scenarios of `internal/lab`, once each, for a shorter time; games as 16 flows at once, each on a link of its own. " +
			"\"Resent\" are datagrams given up as lost and \"needless\" those of them that had arrived, as the library counts them.", r.laboratory()},
	}
}

func (r *Report) where() string {
	m := &r.Machine
	return fmt.Sprintf("%d cores (%s), Linux %s, %s %s, receive buffers up to %s bytes. Load averages %s before and %s after. "+
		"This library at %s, kcp-go %s, quic-go %s. %d runs, %s, %d s.",
		m.Cores, m.CPU, m.Kernel, m.Go, m.OS, m.ReceiveBuffer, m.LoadBefore, r.LoadAfter,
		m.Revision, m.Modules["github.com/xtaci/kcp-go/v5"], m.Modules["github.com/quic-go/quic-go"], r.Runs, r.Started.Format("2006-01-02 15:04 UTC"), r.Seconds)
}

// Text writes the report for a terminal.
func (r *Report) Text() string {
	var b strings.Builder
	b.WriteString(r.where() + "\n")
	for _, p := range r.parts() {
		if len(p.table) > 1 {
			fmt.Fprintf(&b, "\n%s\n%s", p.title, p.table.Text())
		}
	}
	for _, f := range r.failures() {
		fmt.Fprintf(&b, "\nFAILED: %s\n", f)
	}
	return b.String()
}

const preface = `# Beside other libraries, over real sockets

` + "`make bench-net`" + ` writes this page, in about a quarter of an hour; ` + "`make bench-net-quick`" + ` prints a part of it in less than three
minutes. All single runs are in ` + "`testdata/bench-net.json`" + `. The numbers depend on the machine, and most of all on what else it
does: compare what stands in one page only.

How it is measured:

- The program is a module of its own, ` + "`internal/benchnet`" + `. Every measurement is a process with a server and its clients, which talk over
  loopback UDP sockets through a relay, a second process. The libraries take turns; every figure is the median of the runs, with the least and the most in
  brackets.
- The relay delays, loses and queues as ` + "`internal/netsim`" + ` does in the simulations, from the same code, with a seed. It reads and writes in
  batches, and keeps pieces that the system made of datagrams (GSO, GRO) together where it loses nothing of them. A datagram's delay counts from when
  the system took it. The relay's thread runs before others where it may. "Relay late" is how much later than due datagrams left it.
- Every message is checked: its number, and each of its bytes. One that is missing, wrong or out of order makes the program fail.
- This library has its default settings. kcp-go has ` + "`SetNoDelay(1, 10, 2, 1)`" + `, windows of 4096 segments, the same MTU, no encryption and no
  redundancy; for games it sends and acknowledges at once, for bulk it gathers writes and is a stream. quic-go uses one stream for each connection with windows of
  32 MB; its messages have a length before them and are gathered for bulk. It encrypts, which cannot be turned off.
- The window of kcp-go has no regard for the path ("nc" is 1), so that it drowns narrow links.

Measured on: `

// Markdown writes the report as the document.
func (r *Report) Markdown() string {
	var b strings.Builder
	b.WriteString(preface + r.where() + "\n")
	for _, p := range r.parts() {
		if len(p.table) > 1 {
			fmt.Fprintf(&b, "\n## %s\n\n%s\n\n%s", p.title, p.intro, p.table.Markdown())
		}
	}
	return b.String()
}
