package qlog_test

import (
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/qlog"
)

// Every connection of a server leaves a file that tools for qlog can draw.
func ExampleDir() {
	dir, err := os.MkdirTemp("", "traces")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	config := raknet.ListenConfig{Tracer: qlog.Dir(dir)}
	listener, err := config.Listen("127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	defer listener.Close()
	// Output:
}

// A tracer has an eye on other things as well, and not every connection is written down.
func ExampleConfig() {
	var suspicious func(*raknet.Conn) bool
	config := qlog.Config{
		Open: func(c *raknet.Conn) (io.WriteCloser, error) {
			if !suspicious(c) {
				return nil, nil
			}
			return qlog.OpenFile("traces", c)
		},
		ErrorLog: slog.Default(),
	}
	tracer := config.Tracer()
	tracer.ConnOpened = func(c *raknet.Conn) { fmt.Println(c.RemoteAddr(), "is here") }
	_ = raknet.Dialer{Tracer: tracer}
}
