// Command demo runs a server and several clients in one process, over a simulated
// link that loses, delays, doubles and reorders datagrams. The clients send in all
// eight delivery modes at once. A table shows live what arrives of each, and at the end
// whether every mode kept its promise.
//
//	go run ./examples/demo
//	go run ./examples/demo -loss 0.2 -delay 120ms -clients 8
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"time"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/netsim"
	"github.com/raknet-go/raknet/qlog"
)

// settings are what the flags say.
type settings struct {
	clients  int
	rate     int // messages a second, of each client in each mode
	duration time.Duration
	seed     uint64
	link     netsim.Link // in each direction
	tracer   *raknet.Tracer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, isTerminal(os.Stdout))
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// isTerminal reports whether f is a terminal that can move its cursor. The old
// console of Windows may not.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 || os.Getenv("TERM") == "dumb" {
		return false
	}
	return runtime.GOOS != "windows" || os.Getenv("WT_SESSION") != ""
}

func run(ctx context.Context, args []string, out io.Writer, live bool) error {
	var s settings
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.IntVar(&s.clients, "clients", 4, "clients, 1 to 100")
	flags.IntVar(&s.rate, "rate", 25, "messages a second of each client in each mode, 1 to 1000")
	flags.DurationVar(&s.duration, "duration", 10*time.Second, "how long to send")
	flags.Uint64Var(&s.seed, "seed", 1, "decides the fate of the datagrams")
	flags.Float64Var(&s.link.Loss, "loss", 0.05, "share of datagrams lost, 0 to 0.5")
	flags.DurationVar(&s.link.Delay, "delay", 40*time.Millisecond, "how long datagrams travel")
	flags.DurationVar(&s.link.Jitter, "jitter", 15*time.Millisecond, "how much that varies")
	flags.Float64Var(&s.link.Duplicate, "duplicate", 0.02, "share of datagrams that arrive twice")
	flags.Float64Var(&s.link.Reorder, "reorder", 0.03, "share of datagrams held back for 25 ms, so that others overtake them")
	traces := flags.String("qlog", "", "directory to write a trace of each end of each connection to: see package qlog")
	plain := flags.Bool("plain", false, "print lines instead of redrawing the table")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if s.clients < 1 || s.clients > 100 || s.rate < 1 || s.rate > 1000 ||
		s.link.Loss < 0 || s.link.Loss > 0.5 || s.duration <= 0 {
		return errors.New("a flag is out of its range: see -help")
	}
	s.link.ReorderBy = 25 * time.Millisecond
	if *traces != "" {
		s.tracer = qlog.Dir(*traces)
	}

	sc := newScreen(out, live && !*plain, s)
	sh := newShow(s)
	err := sh.play(ctx, sc)
	sc.finish(sh.snapshot())
	if err != nil {
		return err
	}
	return sh.verdict()
}
