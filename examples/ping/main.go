// Command ping asks servers what they show in server lists.
//
//	go run ./examples/ping play.example.org:19132
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/raknet-go/raknet"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "ping:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("ping", flag.ContinueOnError)
	flags.SetOutput(out)
	timeout := flags.Duration("timeout", 5*time.Second, "how long to wait for an answer")
	count := flags.Int("count", 1, "pings to each server")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("name at least one server, as host:port")
	}
	var failed error
	for _, address := range flags.Args() {
		for range *count {
			if err := ping(ctx, address, *timeout, out); err != nil {
				failed = err
				fmt.Fprintf(out, "%s\n  %v\n", address, err)
			}
		}
	}
	return failed
}

func ping(ctx context.Context, address string, timeout time.Duration, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	p, err := raknet.Dialer{}.PingInfo(ctx, address)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s (%v)\n  round trip  %v\n  GUID        %d\n", address, p.Addr, p.RTT.Round(10*time.Microsecond), p.GUID)
	for i, field := range strings.Split(strings.TrimSuffix(string(p.Data), ";"), ";") {
		fmt.Fprintf(out, "  %-11s %q\n", fieldName(string(p.Data), i), field)
	}
	return nil
}

// fieldName names the i-th field of the data if it is Bedrock's; other programs put
// in what they like.
func fieldName(data string, i int) string {
	names := []string{"data"}
	if strings.HasPrefix(data, "MCPE;") {
		names = []string{"edition", "name", "protocol", "version", "players", "capacity"}
	}
	if i < len(names) {
		return names[i]
	}
	return ""
}
