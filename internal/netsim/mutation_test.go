package netsim

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var mutationsFlag = flag.Bool("mutations", false, "TestMutationsAreCaught: run it; it builds the engine anew for every fault")

// mutation is a fault put into the source: in file, the text old, which must be there
// once, becomes new. The oracle must see it by one of the promises named in caught.
type mutation struct {
	name, file, old, new string
	caught               []string
}

var mutations = []mutation{
	{"reliable frames are not deduplicated", "internal/arq/receive.go",
		"if e.reliable.insert(expand24(f.Reliable, e.reliable.base)) != reliableNew {",
		"if e.reliable.insert(expand24(f.Reliable, e.reliable.base)) == reliableTooFar {",
		[]string{"1 exactly once", "2 order"}},
	{"datagrams are not deduplicated", "internal/arq/window.go",
		"case n < w.full, w.seen[n>>6&(len64-1)]&(1<<(n&63)) != 0:",
		"case n < w.full:",
		[]string{"4 at most once"}},
	{"a datagram number is not expanded across the wrap", "internal/arq/receive.go",
		"number := expand24(wireNumber, e.arrivals.next)",
		"number := e.arrivals.next&^seqMask | int64(wireNumber)",
		[]string{"16 liveness", "18 live sessions stay", "honest datagrams"}},
	{"an acknowledged number is not expanded across the wrap", "internal/arq/loss.go",
		"first := expand24(r.First, e.sent.next)",
		"first := e.sent.next&^seqMask | int64(r.First)",
		[]string{"16 liveness", "18 live sessions stay", "honest datagrams"}},
	{"an ordering index is not expanded across the wrap", "internal/arq/channel.go",
		"return expand24(wire24(order), c.next)",
		"return c.next&^seqMask | int64(wire24(order))",
		[]string{"16 liveness", "2 order", "6 both sides connected"}},
	{"a sequenced message is delivered after a newer one", "internal/arq/channel.go",
		"if older24(seq, c.sequence) {",
		"if older24(seq, c.sequence) && seq%2 == 0 {",
		[]string{"3 sequence rises", "1 exactly once", "4 at most once"}},
	{"an ordered message does not wait", "internal/arq/channel.go",
		"case order > c.next:\n",
		"case order > c.next+1:\n",
		[]string{"2 order", "3 sequence rises"}},
	{"a fragment is lost after it was acknowledged", "internal/arq/receive.go",
		"	part := fragmentOf(f)\n",
		"	part := fragmentOf(f)\n	if part.index == 1 {\n		return false\n	}\n",
		[]string{"16 liveness", "18 live sessions stay", "7 written before close arrives"}},
	{"datagrams have a byte too many", "internal/arq/engine.go",
		"return int(e.mtu) - protocol.UDPOverhead }",
		"return int(e.mtu) - protocol.UDPOverhead + 1 }",
		[]string{"8 datagram size"}},
	{"a buffer is not given back", "internal/arq/packet.go",
		"		e.spare(p.buf)\n		p.buf = nil\n	}\n	clear(p.messages)",
		"		p.buf = nil\n	}\n	clear(p.messages)",
		[]string{"buffers"}},
	{"the congestion window is ignored", "internal/arq/transmit.go",
		"if e.inFlight+p.buf.N > e.cc.Window() || !e.paced(now, p.buf.N) {",
		"if e.inFlight > 8*e.cc.Window() {",
		[]string{"10 bytes in flight"}},
	{"what was sent again is sent once more when its first copy is given up", "internal/arq/loss.go",
		"if p == nil || p.number != n || p.place != nowhere {",
		"if p == nil || p.place != nowhere {",
		[]string{"14 once per round trip"}},
	{"a round trip is measured from the wrong end", "internal/arq/loss.go",
		"sample.RTT = now.Sub(newest.sentAt)",
		"sample.RTT = newest.sentAt.Sub(newest.firstSentAt)",
		[]string{"15 round trips", "14 once per round trip"}},
	{"dead peers are found too late", "internal/session/timing.go",
		"defaultIdle         = 10 * time.Second",
		"defaultIdle         = 40 * time.Second",
		[]string{"17 dead peer found"}},
	{"live peers count as dead", "internal/session/timing.go",
		"defaultIdle         = 10 * time.Second",
		"defaultIdle         = 40 * time.Millisecond",
		[]string{"18 live sessions stay", "16 liveness"}},
	{"a close does not wait for what was written", "internal/session/close.go",
		"wait := c.said != saidNothing || c.timing.Farewell < 0",
		"wait := c.said == saidBye",
		[]string{"7 written before close arrives", "18 live sessions stay"}},
	{"messages come out after the close", "internal/session/control.go",
		"case c.state == Closing: // nobody reads any more",
		"case false:",
		[]string{"6 nothing after the end", "buffers"}},
	{"an unproven address is sent everything", "internal/session/unproven.go",
		"return k != nil && k.left <= 0",
		"return false",
		[]string{"9 amplification"}},
	{"an unread message is not counted", "internal/session/control.go",
		"	c.eng.SetUnread(c.inbox.bytes)\n",
		"	c.eng.SetUnread(0)\n",
		[]string{"11 memory", "18 live sessions stay"}},
	{"the half-open cap is off by one", "internal/guard/halfopen.go",
		"len(h.byAddr) >= h.total",
		"len(h.byAddr) > h.total",
		[]string{"12 half-open cap"}},
	{"an acknowledgement that is due does not leave", "internal/arq/transmit.go",
		"if e.acks.pending() && (e.ackRides || e.acks.due(now)) {",
		"if e.acks.pending() && e.ackRides {",
		[]string{"deadline"}},
	{"an acknowledged message is told lost", "internal/arq/loss.go",
		"e.reportReceipt(m, true)",
		"e.reportReceipt(m, m.split)",
		[]string{"receipts"}},
}

// Every fault in the table is put into the engine and must be caught: what the oracle
// does not see, it does not prove.
func TestMutationsAreCaught(t *testing.T) {
	if !*mutationsFlag {
		t.Skip("builds the engine anew for every fault: make mutants")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	sound := exec.Command("go", "test", "-count=1", "-run", "TestSim$", "./internal/netsim")
	sound.Dir = root
	if out, err := sound.CombinedOutput(); err != nil {
		t.Fatalf("the simulation fails without any fault put in:\n%s", firstLines(out, 10))
	}
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) { m.run(t, root) })
	}
}

var (
	caughtLine = regexp.MustCompile(`(?m)^ *sim_test\.go:\d+: (.*)$`)
	replayLine = regexp.MustCompile(`-seed=(\d+)`)
)

func (m *mutation) run(t *testing.T, root string) {
	path := filepath.Join(root, filepath.FromSlash(m.file))
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), m.old); n != 1 {
		t.Fatalf("%s has the text %d times: bring the table up to date\n%s", m.file, n, m.old)
	}
	dir := t.TempDir()
	mutant := filepath.Join(dir, "mutant.go")
	overlay := filepath.Join(dir, "overlay.json")
	files, err := json.Marshal(map[string]map[string]string{"Replace": {path: mutant}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		mutant: []byte(strings.Replace(string(source), m.old, m.new, 1)), overlay: files,
	} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "test", "-vet=off", "-count=1", "-overlay", overlay, "-run", "TestSim$", "./internal/netsim", "-args", "-seeds=1000", "-tail=1")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatal("not caught by 1000 seeds")
	}
	line := caughtLine.FindSubmatch(out)
	seed := replayLine.FindSubmatch(out)
	if line == nil || seed == nil {
		t.Fatalf("the simulation failed otherwise:\n%s", firstLines(out, 30))
	}
	for _, invariant := range m.caught {
		if strings.HasPrefix(string(line[1]), invariant+":") {
			t.Logf("seed %s: %s", seed[1], line[1])
			return
		}
	}
	t.Errorf("seed %s: %s\nexpected one of %q", seed[1], line[1], m.caught)
}

func firstLines(b []byte, n int) string {
	lines := strings.SplitN(string(b), "\n", n+1)
	return fmt.Sprint(strings.Join(lines[:min(n, len(lines))], "\n"))
}
