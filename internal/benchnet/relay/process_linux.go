package relay

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"time"

	"github.com/raknet-go/raknet/internal/netsim"
)

// order is what a relay is told, on its standard input.
type order struct {
	Darken time.Duration // if not zero
	Report bool
}

// memoryLimit is what a relay's process may use before it collects garbage.
const memoryLimit = 1 << 30

// wireConfig is a Config as it is handed over: links are text.
type wireConfig struct {
	Target               string
	Up, Down             string
	UpSpread, DownSpread time.Duration
	UpEvery, DownEvery   time.Duration
	Seed                 uint64
	Own                  bool
}

// Main is the whole of a relay's process: it reads its Config as the first line of in,
// answers with its address, and then obeys. It returns when in ends.
func Main(in io.Reader, out io.Writer) error {
	// Few allocations are left, and collecting them would hold the loop up.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(memoryLimit)
	orders, answers := json.NewDecoder(bufio.NewReader(in)), json.NewEncoder(out)
	var w wireConfig
	if err := orders.Decode(&w); err != nil {
		return err
	}
	conf := Config{Target: w.Target, Seed: w.Seed, Own: w.Own}
	var err1, err2 error
	conf.Up.Link, err1 = netsim.ParseLink(w.Up)
	conf.Down.Link, err2 = netsim.ParseLink(w.Down)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	conf.Up.Spread, conf.Down.Spread, conf.Up.Every, conf.Down.Every = w.UpSpread, w.DownSpread, w.UpEvery, w.DownEvery
	r, err := New(conf)
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- r.Serve() }()
	if err := answers.Encode(r.Addr().String()); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- r.obey(orders, answers) }()
	select {
	case err := <-failed:
		return err
	case err := <-done:
		return err
	}
}

func (r *Relay) obey(orders *json.Decoder, answers *json.Encoder) error {
	for {
		var o order
		if err := orders.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if o.Darken > 0 {
			r.Darken(o.Darken)
		}
		var rep Report
		if o.Report {
			rep = r.Report()
		}
		if err := answers.Encode(rep); err != nil {
			return err
		}
	}
}

// Process is a relay that runs in a process of its own.
type Process struct {
	Addr   string
	cmd    *exec.Cmd
	in     io.WriteCloser
	orders *json.Encoder
	answer *json.Decoder
}

// Start starts this program once more, with the given arguments, which must make it call
// Main.
func Start(conf Config, args ...string) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &Process{cmd: exec.Command(self, args...)}
	p.cmd.Stderr = os.Stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.orders, p.answer = json.NewEncoder(p.in), json.NewDecoder(out)
	w := wireConfig{Target: conf.Target, Up: conf.Up.String(), Down: conf.Down.String(), Seed: conf.Seed, Own: conf.Own,
		UpSpread: conf.Up.Spread, DownSpread: conf.Down.Spread, UpEvery: conf.Up.Every, DownEvery: conf.Down.Every}
	err = p.orders.Encode(w)
	if err == nil {
		err = p.answer.Decode(&p.Addr)
	}
	if err != nil {
		p.Stop()
		return nil, fmt.Errorf("relay: %w", err)
	}
	return p, nil
}

// Report asks for a report.
func (p *Process) Report() (rep Report, err error) {
	if err := p.orders.Encode(order{Report: true}); err != nil {
		return rep, err
	}
	err = p.answer.Decode(&rep)
	return rep, err
}

// Darken lets everything vanish for that long.
func (p *Process) Darken(d time.Duration) error {
	if err := p.orders.Encode(order{Darken: d}); err != nil {
		return err
	}
	var rep Report
	return p.answer.Decode(&rep)
}

// Stop ends the process.
func (p *Process) Stop() {
	p.in.Close()
	_ = p.cmd.Wait()
}
