package main

import (
	"fmt"
	"math"

	"github.com/raknet-go/raknet/internal/show"
)

// requirement is something that must be reached.
type requirement struct {
	text    string
	value   float64 // NaN: it was not measured
	limit   float64
	atLeast bool // else at most
	unit    string
	note    string
}

func (q *requirement) measured() bool { return !math.IsNaN(q.value) }

func (q *requirement) ok() bool {
	if q.atLeast {
		return q.value >= q.limit
	}
	return q.value <= q.limit
}

func (q *requirement) verdict() string {
	if !q.measured() {
		return "-"
	}
	return show.YesNo(q.ok())
}

func (q *requirement) needs() string {
	if q.limit == none {
		return fmt.Sprintf("0 (< %v)", none)
	}
	sign := "<="
	if q.atLeast {
		sign = ">="
	}
	return fmt.Sprintf("%s %v%s%s", sign, q.limit, q.unit, q.note)
}

// none is how many allocations each are none: measuring allocates too, and pools are
// emptied now and then.
const none = 0.01

// requirements judges every row that was measured.
func (r *Report) requirements() (all []requirement) {
	ratio := func(text string, k key, a, b, metric string, limit float64, atLeast bool, note string) {
		all = append(all, requirement{text, r.ratio(k, a, b, metric), limit, atLeast, "x", note})
	}
	value := func(text string, k key, metric string, scale, limit float64, unit string) {
		all = append(all, requirement{text, r.median(k, ours, metric) * scale, limit, false, unit, ""})
	}
	at := func(size int) key { return key{work: Bulk, n: size} }
	ratio("bulk 1 KB: of buffered TCP", at(size1k), ours, tcp, mRate, 0.5, true, " (aim 1)")
	ratio("bulk 1 KB: of quic-go", at(size1k), ours, quicGo, mRate, 5, true, "")
	ratio("bulk 1 KB: of ENet", at(size1k), ours, enetName, mRate, 5, true, "")
	ratio("bulk 100 B: of buffered TCP", at(size100), ours, tcp, mRate, 0.4, true, "")
	ratio("bulk 100 B: of quic-go", at(size100), ours, quicGo, mRate, 2.5, true, "")
	ratio("bulk 100 KB: of buffered TCP", at(size100k), ours, tcp, mRate, 0.5, true, "")
	ratio("bulk 100 KB: of quic-go", at(size100k), ours, quicGo, mRate, 5, true, "")
	for _, size := range []int{size100, size1k, size10k, size100k} {
		ratio("bulk "+sizeName(size)+": of the bound program", at(size), ours, boundName, mRate, 0.5, true, "")
	}
	value("bulk 1 KB: CPU-seconds per GB, both ends", at(size1k), mCPU, 1, 2, " s")
	ratio("without GSO and GRO: of the bound program without", at(size1k), oursBatch, boundBatch, mRate, 0.7, true, "")
	ratio("over a net.PacketConn: of the bound program over one", at(size1k), oursPlain, boundPlain, mRate, 0.7, true, "")
	value("bulk 1 KB: allocations per message, both ends, Read", at(size1k), mAllocs, 1, none, "")
	ping := key{work: Ping, n: size100}
	ratio("there and back, Read and Write: p50, of bare UDP", ping, ours, udpSingle, mP50, 2, false, "")
	ratio("there and back, Read and Write: p99, of bare UDP", ping, ours, udpSingle, mP99, 3, false, "")
	ratio("there and back, handlers: p50, of bare UDP", ping, oursHandlers, udpSingle, mP50, 1.3, false, "")
	connect := key{work: Connect, n: 16}
	ratio("connects, 16 at once: of TCP", connect, ours, tcp, mPerSecond, 1, true, "")
	value("connects, 16 at once: server CPU each", connect, mServerUS, 1, 100, " us")
	pong := key{work: Pong, n: pingerCount}
	ratio("answers to pings: of a bare echo in batches", pong, ours, rawEcho, mPerSecond, 0.6, true, "")
	value("answers to pings: server CPU each", pong, mServerUS, 1, 5, " us")
	value("answers to pings: allocations each", pong, mSrvAllocs, 1, none, "")
	idle := key{work: Idle, n: 1000, reads: true}
	value("an idle connection: heap of the server", idle, mHeap, 1, 2560, " B")
	value("an idle connection: stack of the server", idle, mStack, 1, 4096, " B")
	value("1,000 idle connections: CPU, % of a core", idle, mServerCPU, 100, 0.8, " %")
	players := key{work: Players, n: 200}
	ratio("200 players: server CPU, of go-raknet", players, ours, goRaknet, mFullCPU, 0.4, false, "")
	value("200 players: p99", players, mP99, 1e-3, 5, " ms")
	players.n = 1000
	value("1,000 players: server CPU, were all messages in time", players, mFullCPU, 1, 1, " cores")
	value("1,000 players: p99", players, mP99, 1e-3, 10, " ms")
	return all
}

// verdicts is the table of the requirements.
func (r *Report) verdicts() show.Table {
	t := show.Table{{"required", "at least or most", "reached", "yes/no"}}
	for _, q := range r.requirements() {
		reached := digits(q.value)
		if q.measured() {
			reached += q.unit
		}
		t = append(t, []string{q.text, q.needs(), reached, q.verdict()})
	}
	return t
}

// narrow are the ratios for bulk in datagrams that a network takes.
func (r *Report) narrow() show.Table {
	t := show.Table{{"messages", "MB/s", "of buffered TCP", "of the bound program"}}
	row := func(size int, note, library, bound string) {
		k := key{work: Bulk, n: size}
		if v := r.median(k, library, mRate); !math.IsNaN(v) {
			t = append(t, []string{sizeName(size) + note, digits(v), digits(r.ratio(k, library, tcp, mRate)) + "x", digits(r.ratio(k, library, bound, mRate)) + "x"})
		}
	}
	for _, size := range []int{size100, size1k, size10k, size100k} {
		row(size, "", oursNarrow, boundName)
	}
	row(size1k, ", no GSO/GRO", narrowBatch, boundBatch)
	return t
}
