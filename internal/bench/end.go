package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
)

// runEnd is the whole of an end's process: it prints that it is ready, and obeys until its
// input ends, which it does also when the program that started it dies.
func runEnd(text string, in io.Reader, out io.Writer) error {
	var c Cell
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return err
	}
	finish, err := profile(&c)
	if err != nil {
		return err
	}
	defer finish()
	answers, orders := json.NewEncoder(out), json.NewDecoder(in)
	address, e, err := open(&c)
	if err != nil {
		return answers.Encode(Hello{Error: err.Error()})
	}
	if err := answers.Encode(Hello{Address: address}); err != nil {
		return err
	}
	for {
		var o Order
		if err := orders.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var err error
		switch o.Do {
		case "stop":
			err = e.stop()
		case "settle":
			err = e.settle(o.Expect)
		}
		l := look(o.Collect)
		e.look(&l)
		if err != nil {
			l.Error = err.Error()
		}
		if err := answers.Encode(l); err != nil {
			return err
		}
	}
}

// open makes the end ready.
func open(c *Cell) (address string, e end, err error) {
	servers := map[Work]func(*Cell) (string, end, error){
		Bulk: newBulkServer, Ping: newPingServer, Connect: newConnectServer, Pong: newPongServer, Idle: newIdleServer, Players: newGameServer,
	}
	clients := map[Work]func(*Cell) (end, error){
		Bulk: newBulkClient, Ping: newPinger, Connect: newConnector, Pong: newPingers, Idle: newIdlers, Players: newGameClients,
	}
	if c.Role == "server" {
		if f := servers[c.Work]; f != nil {
			return f(c)
		}
	} else if f := clients[c.Work]; f != nil {
		e, err = f(c)
		return "", e, err
	}
	return "", nil, fmt.Errorf("no work %q", c.Work)
}

// profile starts a CPU profile where one is asked for.
func profile(c *Cell) (finish func(), err error) {
	if c.Profile == "" {
		return func() {}, nil
	}
	f, err := os.Create(filepath.Join(c.Profile, strings.ReplaceAll(fmt.Sprintf("%s-%d-%s-%s-%d.pprof", c.Work, max(c.Size, c.Count), c.Library, c.Role, c.Run), "/", "-")))
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close()
	}, nil
}
