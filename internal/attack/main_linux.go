// Command attack runs attacks against a listener with real sessions, and hostile servers
// against a dialer, all over loopback, and says what they cost and whether what must hold did.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/raknet-go/raknet/internal/show"
)

func main() {
	var err error
	if len(os.Args) == 3 && os.Args[1] == "role" {
		err = runRole(os.Args[2], os.Stdin, os.Stdout)
	} else {
		err = run(os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("attack", flag.ContinueOnError)
	quick := flags.Bool("quick", false, "fewer rates and shorter times, and no judgement of what depends on the machine: less than a minute")
	only := flags.String("only", "", "run only attacks with this in their name")
	write := flags.String("write", "", "write the tables into "+documentName+" below this directory, the project's root")
	verbose := flags.Bool("v", false, "print every attack as it ends")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	p := fullPlan()
	if *quick {
		p = quickPlan()
	}
	p.Only = *only
	began := time.Now()
	rows, err := p.run(func(r *Row) {
		if *verbose {
			if r.Dial != nil {
				fmt.Printf("[%4.0fs] %s: %+v\n", time.Since(began).Seconds(), r.title(), *r.Dial)
			} else {
				fmt.Printf("[%4.0fs] %s  %d sent, %d connects, %d overflows; %s\n", time.Since(began).Seconds(), strings.TrimSpace(show.Table{r.cells()}.Text()), r.Sent, r.Connects, r.Overflows, r.ends())
			}
		}
	})
	if err != nil {
		return err
	}
	report := &Report{Machine: machine(), Quick: *quick, Took: time.Since(began), Rows: rows}
	fmt.Print(report.text())
	if *write != "" {
		if err := report.write(*write); err != nil {
			return err
		}
	}
	if failed, _ := report.failures(); len(failed) > 0 {
		return fmt.Errorf("%d requirements were not reached", len(failed))
	}
	return nil
}
