// Command bench measures this library beside what there is to compare it with: the bare
// sockets, a program that does only what RakNet cannot do without, the kernel's TCP, and
// other libraries. All take turns in one run.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/raknet-go/raknet/internal/show"
)

func main() {
	var err error
	if len(os.Args) == 3 && os.Args[1] == "end" {
		err = runEnd(os.Args[2], os.Stdin, os.Stdout)
	} else {
		err = run(os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var p Plan
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&p.Runs, "runs", 5, "how often each measurement is made")
	flags.BoolVar(&p.Quick, "quick", false, "measure less, and for a shorter time: less than three minutes")
	flags.StringVar(&p.Works, "work", "", "measure only these, of bulk,ping,connect,pong,idle,players")
	flags.StringVar(&p.Sizes, "size", "", "bulk: only messages of these sizes")
	flags.StringVar(&p.Libraries, "lib", "", "measure only these libraries, by the start of their names")
	flags.StringVar(&p.Profile, "profile", "", "write CPU profiles of both ends into this directory")
	flags.DurationVar(&p.Time, "time", 0, "measure for so long each")
	write := flags.String("write", "", "write "+documentName+", its drawings and "+dataName+" below this directory, the project's root")
	from := flags.String("from", "", "measure nothing: read this file, as -write wrote it")
	verbose := flags.Bool("v", false, "print every measurement as it comes")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	runs := false
	flags.Visit(func(f *flag.Flag) { runs = runs || f.Name == "runs" })
	if p.Quick && !runs {
		p.Runs = quickRuns
	}
	r, err := p.report(*from, *verbose)
	if err != nil {
		return err
	}
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

// quickRuns is how often a quick run measures what does not take long.
const quickRuns = 3

// report measures, or reads what was measured.
func (p *Plan) report(from string, verbose bool) (*Report, error) {
	if from != "" {
		return read(from)
	}
	defer removeENet()
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupted // the ends notice that their input has ended
		removeENet()
		os.Exit(1)
	}()
	r := &Report{Machine: show.ThisMachine(modules...), Quick: p.Quick, Runs: p.Runs, Started: time.Now().UTC().Truncate(time.Second)}
	for n := range p.Runs {
		cells := p.cells(n)
		for i, c := range cells {
			res := measure(c)
			r.Results = append(r.Results, res)
			if verbose {
				fmt.Printf("[%4ds] run %d, %d of %d: %s\n", int(time.Since(r.Started).Seconds()), n+1, i+1, len(cells), res.line())
			}
		}
	}
	r.Seconds = int(time.Since(r.Started).Seconds())
	r.LoadAfter = show.Load()
	return r, nil
}
