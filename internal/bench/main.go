// Command bench measures this library beside what there is to compare it with: the bare
// sockets, a program that does only what RakNet cannot do without, the kernel's TCP, and
// other libraries. All take turns in one run.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
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
	verbose := flags.Bool("v", false, "print every measurement as it comes")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	defer removeENet()
	began := time.Now()
	var failed []string
	for n := range p.Runs {
		cells := p.cells(n)
		for i, c := range cells {
			res := measure(c)
			if res.Error != "" {
				failed = append(failed, res.line())
			}
			if *verbose {
				fmt.Printf("[%4ds] run %d, %d of %d: %s\n", int(time.Since(began).Seconds()), n+1, i+1, len(cells), res.line())
			}
		}
	}
	if len(failed) > 0 {
		return errors.New(strings.Join(failed, "\n"))
	}
	return nil
}
