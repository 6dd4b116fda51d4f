package netsim

import (
	"flag"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/raknet-go/raknet/internal/pool"
)

var (
	seedFlag  = flag.Int64("seed", -1, "TestSim: run this seed alone, with a trace if it fails")
	seedsFlag = flag.Int("seeds", 200, "TestSim: how many seeds to run")
	firstFlag = flag.Uint64("first", 0, "TestSim: the first seed")
	linkFlag  = flag.String("link", "", "TestSim: every path is this link, such as delay=40ms,loss=0.2")
	shardFlag = flag.String("shard", "0/1", "TestSim: run every n-th seed from the i-th on: i/n")
	tailFlag  = flag.Int("tail", 60, "TestSim: how many events a failure shows")
	forFlag   = flag.Duration("for", 0, "TestSim: go on with further seeds for so long, however many -seeds says")
	goOnFlag  = flag.Bool("goon", false, "TestSim: go on after a failure, and print one line for each")
)

// simulated runs one seed and reports what is wrong with it, leaks included.
func simulated(seed uint64, link *Link, trace int) (Report, *World, error) {
	before := pool.InUse()
	w := NewWorld(Generate(seed, link))
	if trace > 0 {
		w.Trace(trace)
	}
	report, err := w.Run()
	if leaked := pool.InUse() - before; err == nil && leaked != 0 {
		err = &Failure{Invariant: "buffers", At: report.Simulated, Detail: fmt.Sprintf("%d were not given back", leaked)}
	}
	return report, w, err
}

func TestSim(t *testing.T) {
	var link *Link
	replay := ""
	if *linkFlag != "" {
		l, err := ParseLink(*linkFlag)
		if err != nil {
			t.Fatal(err)
		}
		link = &l
		replay = " -link=" + *linkFlag
	}
	first, last, step := *firstFlag, *firstFlag+uint64(*seedsFlag), uint64(1)
	if i, n, ok := strings.Cut(*shardFlag, "/"); ok {
		shard, err1 := strconv.ParseUint(i, 10, 32)
		shards, err2 := strconv.ParseUint(n, 10, 32)
		if err1 != nil || err2 != nil || shards == 0 {
			t.Fatalf("-shard=%s", *shardFlag)
		}
		first, step = first+shard, shards
	}
	if *seedFlag >= 0 {
		first, last = uint64(*seedFlag), uint64(*seedFlag)+1
	}
	var total Report
	runs, failed := 0, 0
	start := time.Now()
	for seed := first; seed < last || time.Since(start) < *forFlag; seed += step {
		report, _, err := simulated(seed, link, 0)
		runs++
		total.Add(&report)
		if err == nil {
			continue
		}
		failed++
		line := fmt.Sprintf("go test ./internal/netsim -run 'TestSim$' -seed=%d%s", seed, replay)
		if *goOnFlag {
			t.Errorf("%s: %v", line, err)
			continue
		}
		_, w, again := simulated(seed, link, *tailFlag)
		t.Fatalf("%v\nreplay: %s\n%v\n%s\nthe second run: %v", err, line, w.sc, strings.Join(w.Tail(), "\n"), again)
	}
	took := time.Since(start)
	t.Logf("%d seeds, %d failed, in %v: %v", runs, failed, took.Round(time.Millisecond), &total)
	t.Logf("%.1f simulated hours, %.0f simulated seconds per second, %.0f events per second (%s, %d CPUs)",
		total.Simulated.Hours(), total.Simulated.Seconds()/took.Seconds(), float64(total.Events)/took.Seconds(), runtime.GOARCH, runtime.NumCPU())
}

// Equal scenarios happen equally, or a seed would not replay a failure.
func TestWorldsAreDeterministic(t *testing.T) {
	for seed := uint64(0); seed < 10; seed++ {
		a, _, errA := simulated(seed, nil, 0)
		b, _, errB := simulated(seed, nil, 10)
		if a != b || fmt.Sprint(errA) != fmt.Sprint(errB) {
			t.Fatalf("seed %d: %+v, %v and then %+v, %v", seed, a, errA, b, errB)
		}
	}
}
