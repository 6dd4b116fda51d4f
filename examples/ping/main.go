// Command ping asks servers what they show in server lists, and with -x everything that can be
// learned about what they speak without connecting.
//
//	go run ./examples/ping play.example.org:19132
//	go run ./examples/ping -x play.example.org:19132
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/protocol/bedrock"
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
	x := flags.Bool("x", false, "look through the server: versions, sizes, cookies; at most 30 datagrams and 20 seconds")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("name at least one server, as host:port")
	}
	var failed error
	for _, address := range flags.Args() {
		for range *count {
			err := error(nil)
			if *x {
				err = look(ctx, address, out)
			} else {
				err = ping(ctx, address, *timeout, out)
			}
			if err != nil {
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
	fmt.Fprintf(out, "%s (%v)\n", address, p.Addr)
	line(out, "round trip", "%v", p.RTT.Round(10*time.Microsecond))
	line(out, "GUID", "%d", p.GUID)
	show(out, p.Data)
	return nil
}

// show prints a pong's data: field by field if it is Bedrock's, as it is if another program put
// in what it liked.
func show(out io.Writer, data []byte) {
	m, ok := bedrock.Parse(data)
	if !ok {
		line(out, "data", "%q", data)
		return
	}
	for i, f := range []struct {
		name  string
		value any
	}{
		{"edition", m.Edition}, {"name", m.Name}, {"protocol", m.Protocol}, {"version", m.Version},
		{"players", m.Players}, {"capacity", m.MaxPlayers}, {"server id", m.GUID}, {"world", m.World},
		{"game mode", m.GameMode}, {"mode id", m.GameModeID}, {"IPv4 port", m.PortV4}, {"IPv6 port", m.PortV6},
	} {
		if i < m.Count {
			if s, ok := f.value.(string); ok {
				f.value = fmt.Sprintf("%q", s)
			}
			line(out, f.name, "%v", f.value)
		}
	}
	for _, extra := range m.Extra {
		line(out, "", "%q", extra)
	}
}

func line(out io.Writer, name, format string, args ...any) {
	fmt.Fprintf(out, "  %-11s %s\n", name, fmt.Sprintf(format, args...))
}
