package interop

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Require says that the peers have to be there: on continuous integration, or when RAKNET_INTEROP=require asks for it. A test
// whose peer is missing fails then, and is skipped otherwise.
func Require() bool {
	return os.Getenv("CI") == "true" || os.Getenv("RAKNET_INTEROP") == "require"
}

// Missing ends a test whose peer isn't installed.
func Missing(t testing.TB, what, remedy string) {
	t.Helper()
	if Require() {
		t.Fatalf("%s is missing: %s", what, remedy)
	}
	t.Skipf("%s is missing: %s", what, remedy)
}

// Process is a peer that runs as a process of its own, one for each link, and speaks the line protocol of peers/protocol.js.
type Process struct {
	name    string
	command []string
}

// Node returns the peer that a script in the directory peers makes of an npm package.
func Node(t testing.TB, pkg, script string, args ...string) *Process {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		Missing(t, "Node.js", "install node 18 or later")
	}
	_, here, _, _ := runtime.Caller(0)
	dir := filepath.Join(filepath.Dir(here), "peers")
	if _, err := os.Stat(filepath.Join(dir, "node_modules", pkg)); err != nil {
		Missing(t, pkg, "run npm ci in internal/interop/peers")
	}
	return &Process{name: pkg, command: append([]string{node, filepath.Join(dir, script)}, args...)}
}

// With returns the same peer with options for node itself.
func (p *Process) With(options ...string) *Process {
	return &Process{name: p.name, command: slices.Concat(p.command[:1], options, p.command[1:])}
}

// Exports lists what the package offers.
func (p *Process) Exports(t testing.TB) []string {
	t.Helper()
	cmd := exec.Command(p.command[0], "-p", "Object.keys(require("+strconv.Quote(p.name)+")).join()")
	cmd.Dir = filepath.Dir(p.command[len(p.command)-1])
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(out)), ",")
}

// Name is the name of the package.
func (p *Process) Name() string { return p.name }

// Listen starts a process that listens.
func (p *Process) Listen(t testing.TB, o Options) (Link, int) {
	l := p.start(t)
	if o.Port == 0 {
		o.Port = FreePort(t)
	}
	l.command(map[string]any{"cmd": "listen", "host": o.host(), "port": o.Port, "version": o.Version, "pong": o.Pong})
	return l, Await(t, p.name, l, Ready, time.Minute).Port
}

// Dial starts a process that dials.
func (p *Process) Dial(t testing.TB, port int, o Options) Link {
	l := p.start(t)
	l.command(map[string]any{"cmd": "dial", "host": "127.0.0.1", "port": port, "version": o.Version})
	return l
}

// Ping starts a process that pings.
func (p *Process) Ping(t testing.TB, port int) Link {
	l := p.start(t)
	l.command(map[string]any{"cmd": "ping", "host": "127.0.0.1", "port": port})
	return l
}

// FreePort finds a UDP port of 127.0.0.1 that nobody has. Some peers can't tell which port they got when they ask for any.
func FreePort(t testing.TB) int {
	c, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).Port
}

type processLink struct {
	t      testing.TB
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	events chan Event
	echoes chan struct{} // the peer has taken an echo command
}

func (p *Process) start(t testing.TB) *processLink {
	t.Helper()
	cmd := exec.Command(p.command[0], p.command[1:]...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	l := &processLink{t: t, cmd: cmd, stdin: stdin, events: NewEvents(), echoes: make(chan struct{}, 1)}
	over := make(chan struct{}) // the test: nobody reads events any more
	read := make(chan struct{}) // the reader of stdout has ended
	go func() {
		defer close(read)
		lines := bufio.NewScanner(stdout)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var e Event
			if json.Unmarshal(lines.Bytes(), &e) != nil {
				continue // the peer's own chatter
			}
			if e.Kind == echoing {
				select {
				case l.echoes <- struct{}{}:
				default:
				}
				continue
			}
			select {
			case l.events <- e:
			case <-over:
				return
			}
		}
		select {
		case l.events <- Event{Kind: Broken, Text: "the process has ended"}:
		case <-over:
		}
	}()
	t.Cleanup(func() {
		close(over)
		cmd.Process.Kill()
		<-read
		cmd.Wait()
		if t.Failed() && stderr.Len() > 0 {
			t.Logf("%s wrote to stderr:\n%s", p.name, &stderr)
		}
	})
	return l
}

// command writes one command. A process that has died is noticed by the events that don't come.
func (l *processLink) command(c map[string]any) {
	line, err := json.Marshal(c)
	if err != nil {
		l.t.Fatal(err)
	}
	l.stdin.Write(append(line, '\n'))
}

func (l *processLink) Send(b Burst) {
	l.command(map[string]any{"cmd": "send", "size": b.Size, "seed": b.Seed, "count": b.Count, "every": b.Every.Milliseconds(),
		"reliability": b.Reliability, "channel": b.Channel})
}

// echoing is the event by which a process says that it has taken an echo command.
const echoing = "echoing"

// Echo waits until the process has taken the command: a message on its way over the network may be
// faster than a line on its way through a pipe.
func (l *processLink) Echo(reliability, channel byte) {
	l.command(map[string]any{"cmd": "echo", "reliability": reliability, "channel": channel})
	select {
	case <-l.echoes:
	case <-time.After(handshakeBound):
		l.events <- Event{Kind: Broken, Text: "the peer did not take the echo command"}
	}
}

func (l *processLink) Close() { l.command(map[string]any{"cmd": "close"}) }

func (l *processLink) Kill() { l.cmd.Process.Kill() }

func (l *processLink) Events() <-chan Event { return l.events }
