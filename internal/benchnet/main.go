// Command benchnet measures this library beside others over real sockets, through a relay
// that delays, loses and queues datagrams. See docs/BENCH-NET.md.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/raknet-go/raknet/internal/benchnet/relay"
	"github.com/raknet-go/raknet/internal/show"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench-net:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	// The program starts itself for every measurement, and for every relay.
	switch {
	case len(args) == 1 && args[0] == "relay":
		return relay.Main(os.Stdin, os.Stdout)
	case len(args) == 2 && args[0] == "cell":
		return runCell(args[1])
	}
	var p Plan
	flags := flag.NewFlagSet("bench-net", flag.ContinueOnError)
	flags.IntVar(&p.Runs, "runs", 3, "runs of each, whose median counts")
	flags.BoolVar(&p.Quick, "quick", false, "measure less, and for a shorter time: one run in less than three minutes")
	flags.StringVar(&p.Sections, "sections", "abcde", "what to measure: a games, b bulk, c a narrow link, d transfers, e the laboratory's scenarios")
	flags.StringVar(&p.Profile, "profile", "", "write a CPU profile of both ends of every measurement into this directory")
	write := flags.String("write", "", "write docs/BENCH-NET.md and testdata/bench-net.json below this directory, the project's root")
	verbose := flags.Bool("v", false, "print every measurement as it comes")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if p.Quick {
		p.Runs = 1
	}
	p.complete()
	r := &Report{Machine: show.ThisMachine("github.com/quic-go/quic-go", "github.com/xtaci/kcp-go/v5"), Quick: p.Quick, Runs: p.Runs, TransferBytes: p.transfer, Started: time.Now().UTC().Truncate(time.Second)}
	measureAll(&p, r, *verbose)
	r.Seconds = int(time.Since(r.Started).Seconds())
	r.LoadAfter = show.Load()
	fmt.Print(r.Text())
	if *write != "" {
		if err := r.write(*write); err != nil {
			return err
		}
	}
	if failed := r.failures(); len(failed) > 0 {
		return errors.New(strings.Join(failed, "\n"))
	}
	return nil
}

func measureAll(p *Plan, r *Report, verbose bool) {
	lastOurs := time.Duration(0)
	for n := range p.Runs {
		cells := p.cells(n)
		for i, c := range cells {
			if c.Kind == "transfer" && c.Library == quicGo {
				// Long enough to see whether it is faster.
				c.Limit = lastOurs + min(lastOurs/2+quicAtLeast, quicAtMost)
			}
			res := runProcess(c)
			if c.Kind == "transfer" && c.Library == ours {
				lastOurs = time.Duration(res.Values[mSeconds] * float64(time.Second))
			}
			r.Results = append(r.Results, res)
			if verbose {
				fmt.Printf("[%4ds] run %d, %d of %d: %s\n", int(time.Since(r.Started).Seconds()), n+1, i+1, len(cells), res.line())
			}
		}
	}
}

// runProcess measures a cell in a process of its own.
func runProcess(c Cell) *Result {
	failed := func(err error) *Result { return &Result{Cell: c, Error: err.Error(), Values: Values{}} }
	text, err := json.Marshal(c)
	if err != nil {
		return failed(err)
	}
	self, err := os.Executable()
	if err != nil {
		return failed(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialTime+c.Warm+c.Measure+c.Limit+3*drainTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "cell", string(text))
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err = cmd.Run()
	var res Result
	if err == nil {
		err = json.Unmarshal(out.Bytes(), &res)
	}
	if err != nil {
		return failed(fmt.Errorf("%w\n%s", err, stderr.String()))
	}
	return &res
}

func (r *Report) write(root string) error {
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		filepath.Join("docs", "BENCH-NET.md"):       []byte(r.Markdown()),
		filepath.Join("testdata", "bench-net.json"): append(data, '\n'),
	} {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
