// Command proxy stands between clients and a server. It ends the connection of each
// client, opens one of its own to the server, and carries every message across in
// the delivery mode and on the channel that it came by. Server list pings are
// answered with what the server says.
//
//	go run ./examples/proxy -listen :19133 -server play.example.org:19132
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/raknet-go/raknet"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "proxy:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("proxy", flag.ContinueOnError)
	flags.SetOutput(out)
	listen := flags.String("listen", "127.0.0.1:19133", "address to listen on")
	server := flags.String("server", "127.0.0.1:19132", "address of the server")
	cookies := flags.Bool("cookies", true, "ask clients to prove their address; some old ones don't know how")
	if err := flags.Parse(args); err != nil {
		return err
	}
	l, err := raknet.ListenConfig{DisableCookies: !*cookies}.Listen(*listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "listening on %v for %s\n", l.Addr(), *server)
	return (&proxy{listener: l, server: *server, anyVersion: !*cookies, out: out}).serve(ctx)
}

type proxy struct {
	listener *raknet.Listener
	server   string
	// anyVersion: find out which version the server speaks, and don't ask for the
	// client's. Without cookies nobody knows that one when the client is accepted.
	anyVersion bool
	refresh    time.Duration // between two pings of the server; 0: 5 seconds
	out        io.Writer
	mu         sync.Mutex // of out
}

// serve carries connections until ctx ends.
func (p *proxy) serve(ctx context.Context) error {
	var work sync.WaitGroup
	defer work.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer p.listener.Close()

	work.Go(func() { p.copyPong(ctx) })
	for {
		client, err := p.listener.AcceptContext(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		work.Go(func() { p.carry(ctx, client) })
	}
}

// copyPong keeps the answer to pings fresh. A ping of a client never causes one of
// the proxy: whoever floods it with pings does not reach the server.
func (p *proxy) copyPong(ctx context.Context) {
	every := p.refresh
	if every == 0 {
		every = 5 * time.Second
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if data, err := (raknet.Dialer{}).PingTimeout(p.server, every); err == nil {
			p.listener.PongData(data)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// carry connects a client to the server until one of them leaves.
func (p *proxy) carry(ctx context.Context, client *raknet.Conn) {
	defer client.Close()
	dialer := raknet.Dialer{ProtocolVersion: client.ProtocolVersion()}
	if p.anyVersion {
		dialer.ProtocolVersion = 0
	}
	upstream, err := dialer.DialContext(ctx, p.server)
	if err != nil {
		p.log(client, "cannot reach the server:", err)
		return
	}
	defer upstream.Close()
	p.log(client, "connected")

	// The end of one direction closes both connections, which ends the other one.
	// Close still delivers what was written before it, such as the reason for a kick.
	var both sync.WaitGroup
	pump := func(to, from *raknet.Conn, name string) {
		defer to.Close()
		defer from.Close()
		p.log(client, name, "ended:", forward(ctx, to, from))
	}
	both.Go(func() { pump(upstream, client, "to the server") })
	both.Go(func() { pump(client, upstream, "to the client") })
	both.Wait()
}

// forward copies messages until either connection or ctx ends.
func forward(ctx context.Context, to, from *raknet.Conn) error {
	for {
		m, err := from.Receive(ctx)
		if err != nil {
			return err
		}
		if _, err := to.Send(ctx, m.Data, raknet.SendOptions{Reliability: m.Reliability, Channel: m.Channel}); err != nil {
			return err
		}
	}
}

func (p *proxy) log(client *raknet.Conn, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintln(p.out, append([]any{client.RemoteAddr()}, args...)...)
}
