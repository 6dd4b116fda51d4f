// Command echo is the smallest server and client: the server sends every message
// back the way it came, the client measures how long that takes.
//
//	go run ./examples/echo server -addr :19132
//	go run ./examples/echo client -addr 127.0.0.1:19132 -count 5
//
// With -qlog both write down what their connections do: see package qlog.
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
	"github.com/raknet-go/raknet/qlog"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "echo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	mode := ""
	if len(args) > 0 {
		mode, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet("echo "+mode, flag.ContinueOnError)
	flags.SetOutput(out)
	addr := flags.String("addr", "127.0.0.1:19132", "address to listen on, or to connect to")
	count := flags.Int("count", 5, "client: messages to send")
	size := flags.Int("size", 64, "client: bytes of each message")
	traces := flags.String("qlog", "", "directory to write a trace of each connection to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var tracer *raknet.Tracer
	if *traces != "" {
		tracer = qlog.Dir(*traces)
	}
	switch mode {
	case "server":
		l, err := raknet.ListenConfig{Tracer: tracer}.Listen(*addr)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, "listening on", l.Addr())
		return serve(ctx, l, out)
	case "client":
		return talk(ctx, raknet.Dialer{Tracer: tracer}, *addr, *count, *size, out)
	}
	return errors.New("say what to be: echo server [flags] or echo client [flags]")
}

// serve accepts connections until ctx ends.
func serve(ctx context.Context, l *raknet.Listener, out io.Writer) error {
	l.PongData([]byte("raknet echo"))
	for {
		conn, err := l.AcceptContext(ctx)
		if ctx.Err() != nil {
			// Whatever was echoed still gets its two seconds to arrive.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			defer cancel()
			return l.Shutdown(ctx)
		}
		if err != nil {
			return err
		}
		fmt.Fprintln(out, conn.RemoteAddr(), "connected")
		go func() {
			err := echo(conn)
			fmt.Fprintln(out, conn.RemoteAddr(), "left:", err)
		}()
	}
}

// echo sends back every message in the mode and on the channel it came by.
func echo(conn *raknet.Conn) error {
	defer conn.Close()
	for {
		m, err := conn.Receive(conn.Context())
		if err != nil {
			return err
		}
		_, err = conn.Send(conn.Context(), m.Data, raknet.SendOptions{Reliability: m.Reliability, Channel: m.Channel})
		if err != nil {
			return err
		}
	}
}

// talk sends messages and prints how long each took to come back.
func talk(ctx context.Context, dialer raknet.Dialer, addr string, count, size int, out io.Writer) error {
	conn, err := dialer.DialContext(ctx, addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	fmt.Fprintf(out, "connected to %v: MTU %d, protocol %d\n", conn.RemoteAddr(), conn.MTU(), conn.ProtocolVersion())

	payload := make([]byte, max(size, 1))
	payload[0] = 0xfe // the first byte is the message's identifier: RakNet keeps a few for itself
	for i := range count {
		start := time.Now()
		if _, err := conn.Write(payload); err != nil {
			return err
		}
		m, err := conn.Receive(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%d: %d bytes came back after %v\n", i+1, len(m.Data), time.Since(start).Round(10*time.Microsecond))
	}
	return nil
}
