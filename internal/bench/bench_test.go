package main

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/show"
)

// The program starts itself for every end, and so do its tests.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "end" {
		if runEnd(os.Args[2], os.Stdin, os.Stdout) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Every work delivers what it sends, with the libraries that are judged.
func TestEveryWorkDelivers(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	const moment = 50 * time.Millisecond
	for _, c := range []Cell{
		{Work: Bulk, Library: ours, Size: size1k},
		{Work: Bulk, Library: boundName, Size: size10k},
		{Work: Bulk, Library: tcp, Size: size100},
		{Work: Bulk, Library: tcpUnbuf, Size: size1k},
		{Work: Bulk, Library: udpOffload, Size: sizeDatagram},
		{Work: Ping, Library: udpSingle, Size: size100},
		{Work: Ping, Library: ours, Size: size100},
		{Work: Ping, Library: oursHandlers, Size: size100},
		{Work: Connect, Library: ours, Count: 4},
		{Work: Connect, Library: tcp, Count: 4},
		{Work: Connect, Library: bareUDP, Count: 4},
		{Work: Pong, Library: ours, Count: 4},
		{Work: Pong, Library: rawEcho, Count: 4},
		{Work: Idle, Library: ours, Count: 20, Reads: true},
		{Work: Players, Library: ours, Count: 10},
		{Work: Players, Library: bareUDP, Count: 10},
	} {
		c.Warm, c.Measure = moment, moment
		res := measure(c)
		require.Empty(t, res.Error, "%s of %s", c.Work, c.Library)
		require.NotEmpty(t, res.Values)
		switch c.Work {
		case Bulk:
			require.Positive(t, res.Values[mRate], c.Library)
		case Ping:
			require.Positive(t, res.Values[mP50], c.Library)
		case Connect, Pong, Players:
			require.Positive(t, res.Values[mPerSecond], c.Library)
		}
	}
}

// An end that cannot work is a failure with a reason, and leaves nothing behind that waits.
func TestAnEndThatFailsSaysWhy(t *testing.T) {
	res := measure(Cell{Work: Bulk, Library: "nobody's", Size: size1k, Measure: time.Millisecond})
	require.Contains(t, res.Error, `no library "nobody's"`)
	res = measure(Cell{Work: "nothing", Library: ours, Measure: time.Millisecond})
	require.Contains(t, res.Error, `no work "nothing"`)
}

func TestAMessageIsKnown(t *testing.T) {
	all := newMessages(size1k)
	for n := range uint32(100) {
		m := all.make(n, n == 99)
		last, err := all.check(m, n)
		require.NoError(t, err)
		require.Equal(t, n == 99, last)
		_, err = all.check(m, n+1)
		require.Error(t, err, "not the next one")
		_, err = all.check(m[:len(m)-1], n)
		require.Error(t, err, "too short")
	}
	copied := append([]byte(nil), all.make(checkEvery/2+1, false)...)
	for i := range copied {
		copied[i] ^= 0x40
		_, err := all.check(copied, checkEvery/2+1)
		require.Error(t, err, "byte %d", i)
		copied[i] ^= 0x40
	}
}

// reportOf makes a report of some runs in which another library is a given number of times as good.
func reportOf(rates ...[2]float64) *Report {
	r := &Report{Runs: len(rates), Machine: show.Machine{CPU: "a processor", Cores: 2, Go: "go", Kernel: "1"}, Started: time.Unix(0, 0).UTC()}
	for run, v := range rates {
		for i, l := range []string{ours, tcp} {
			r.Results = append(r.Results, &Result{
				Cell:   Cell{Work: Bulk, Library: l, Size: size1k, Run: run},
				Values: Values{mRate: v[i], mCPU: 1, mAllocs: 0.5, mMessages: v[i] * 1e3},
			})
		}
	}
	return r
}

// The machine is slow in one run and fast in another: what is compared was measured in the same run.
func TestRatiosAreOfOneRun(t *testing.T) {
	r := reportOf([2]float64{100, 150}, [2]float64{10, 15}, [2]float64{50, 20})
	k := key{work: Bulk, n: size1k}
	require.InEpsilon(t, 2.0/3, r.ratio(k, ours, tcp, mRate), 1e-9)
	require.Equal(t, 50.0, r.median(k, ours, mRate))
	verdicts := map[string]requirement{}
	for _, q := range r.requirements() {
		verdicts[q.text] = q
	}
	q := verdicts["bulk 1 KB: of buffered TCP"]
	require.Equal(t, "yes", q.verdict())
	require.Equal(t, ">= 0.5x (aim 1)", q.needs())
	q = verdicts["bulk 1 KB: allocations per message, both ends, Read"]
	require.Equal(t, "no", q.verdict())
	q = verdicts["bulk 100 B: of quic-go"]
	require.Equal(t, "-", q.verdict(), "it was not measured")
	require.Contains(t, r.behind().Text(), "TCP", "what others do better is told as well")
}

// A server that does half of its work with a core needs two.
func TestAServerThatFallsBehindIsNotCheap(t *testing.T) {
	res := &Result{Cell: Cell{Work: Players, Library: ours, Count: 1000}, Values: Values{mServerCPU: 1, mPerSecond: 10_000}}
	r := &Report{Results: []*Result{res}}
	k := key{work: Players, n: 1000}
	require.Equal(t, 2.0, r.median(k, ours, mFullCPU))
	require.Equal(t, 50.0, r.median(k, ours, mInTime))
	res.Values[mPerSecond] = 20_100
	require.Equal(t, 1.0, r.median(k, ours, mFullCPU))
}

// A failure counts for nothing, and makes the program fail.
func TestFailuresAreNoFigures(t *testing.T) {
	r := reportOf([2]float64{100, 150})
	r.Results[1].Error = "a message came twice"
	require.True(t, math.IsNaN(r.ratio(key{work: Bulk, n: size1k}, ours, tcp, mRate)))
	require.Len(t, r.failures(), 1)
	require.Contains(t, r.Text(), "FAILED: bulk 1024, TCP, run 1: a message came twice")

	rival := &Result{Cell: Cell{Work: Bulk, Library: goRaknet, Size: size1k}, Error: "the connection ended"}
	r.Results = append(r.Results, rival)
	require.Len(t, r.failures(), 1, "that another library gives up is told, and fails nothing")
	require.Contains(t, r.Text(), "Broke off: bulk 1024, go-raknet, run 1: the connection ended")
	_, wrong := newMessages(size1k).check(make([]byte, size1k), 0)
	rival.Error = "the server: " + wrong.Error()
	require.Len(t, r.failures(), 2, "that it changes messages does")
}

// The documents follow from what was measured and nothing else, and keep what people wrote.
func TestDocumentsAreTheSameEachTime(t *testing.T) {
	r := reportOf([2]float64{100, 150}, [2]float64{10, 15})
	root := t.TempDir()
	require.NoError(t, r.write(root))
	again, err := read(root + "/" + dataName)
	require.NoError(t, err)
	require.NoError(t, again.write(root+"/again"))
	for _, name := range []string{documentName, dataName, "docs/img/bench-bulk.svg", "docs/img/bench-cpu.svg", "docs/img/bench-latency.svg", "docs/img/bench-server.svg"} {
		one, err := os.ReadFile(root + "/" + name)
		require.NoError(t, err)
		two, err := os.ReadFile(root + "/again/" + name)
		require.NoError(t, err)
		require.Equal(t, string(one), string(two), name)
		require.NotEmpty(t, one)
	}
	text, err := r.Markdown()
	require.NoError(t, err)
	for heading := range strings.Lines(documentText) {
		if strings.HasPrefix(heading, "#") {
			require.Contains(t, text, heading)
		}
	}
	require.Contains(t, text, "\n## How\n")
}

func TestAQuickRunMeasuresWhatIsJudged(t *testing.T) {
	for _, quick := range []bool{true, false} {
		p := Plan{Quick: quick}
		r := &Report{}
		for _, c := range p.cells(0) {
			require.Contains(t, order, c.Library, "the tables have a place for it")
			v := Values{}
			for _, m := range []string{mRate, mCPU, mAllocs, mP50, mP99, mPerSecond, mServerUS, mSrvAllocs, mHeap, mStack, mServerCPU} {
				v[m] = 1
			}
			r.Results = append(r.Results, &Result{Cell: c, Values: v})
		}
		for _, q := range r.requirements() {
			require.True(t, q.measured(), "quick %v: %s", quick, q.text)
		}
	}
}
