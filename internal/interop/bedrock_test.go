package interop_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/interop"
)

// A whole Bedrock server and a whole Bedrock client, with the example proxy between them: the client's ping brings the server's data, and
// the player logs in, gets its resource packs, the game, and spawns. Either end meets this library in the proxy.

func TestBedrockOverTheOriginal(t *testing.T) { bedrock(t, native, nil) }

func TestBedrockOverRust(t *testing.T) { bedrock(t, rust, []string{"-cookies=false"}) }

func TestBedrockOverJSP(t *testing.T) { bedrock(t, jsp, []string{"-cookies=false"}) }

const bedrockProtocol = "bedrock-protocol"

func bedrock(t *testing.T, backend string, flags []string) {
	t.Parallel()
	if !interop.Full() {
		t.Skip("make interop plays this")
	}
	amd64(t, backend)
	peer := interop.Node(t, bedrockProtocol, "bedrock.js", backend)
	if backend == rust {
		peer = peer.With(rustHeap...)
	}
	p := pair(peer, peer)
	// What silences the proxy's connection ends the other one as well.
	p.ListenerPatience, p.DialerPatience = 60*time.Second, 60*time.Second
	p.Row, p.Role = bedrockProtocol+" over "+backend, interop.AsBoth
	p.PongFields = 2 // the server makes the rest by itself
	p.Stretch = 4    // a second of processor time goes by before a process of these does anything
	p.Cases = interop.Basics()
	if backend == rust {
		p.PongFields = 1 // see TestDialRust
	}
	p.Tries = 3 // the client gives up after nine seconds, which a loaded machine takes to start it
	p.Fault = func(path, name string) string {
		for _, f := range bedrockFaults[backend] {
			if (f.path == "" || f.path == path) && f.name == name {
				return f.why
			}
		}
		return ""
	}
	p.Between = func(t testing.TB, o interop.Options, port int) int {
		args := append([]string{"-listen", o.Place(), "-server", "127.0.0.1:" + strconv.Itoa(port)}, flags...)
		return startProxy(t, exec.Command(proxy(t), args...))
	}
	interop.Run(t, p)
}

const (
	jspDeaf = "its server is not told when a client's connection ends"
	// Seen as a wrong checksum of the encryption on a slow machine.
	rustOvertakes = "calls of the addon overtake each other unless each waits for the one before, and bedrock-protocol does not wait"
)

// What a whole server and client cannot do because of what is below them.
var bedrockFaults = map[string][]fault{
	jsp: slices.Concat(
		of(fault{why: jspDeaf}, "the dialer closes", "the dialer dies"),
		of(fault{path: lossy, why: jspOnce}, "handshake"),
		of(fault{path: lossy, why: jspForgets}, "echo of 100 KB", "echo of 1 MB", "echo of 2 MB", "100 messages a second both ways"),
	),
	rust: slices.Concat(
		of(fault{why: rustOvertakes}, "100 messages a second both ways"),
		of(fault{path: lossy, why: rustOnce}, "handshake"),
	),
}

// proxy builds the example, once.
func proxy(t testing.TB) string {
	t.Helper()
	if err := buildProxy(); err != nil {
		t.Fatal(err)
	}
	return proxyPath
}

var (
	proxyPath  string
	buildProxy = sync.OnceValue(func() error {
		dir, err := os.MkdirTemp("", "proxy")
		if err != nil {
			return err
		}
		proxyPath = filepath.Join(dir, "proxy")
		if out, err := exec.Command("go", "build", "-o", proxyPath, "../../examples/proxy").CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	})
)

// TestMain removes what the tests share.
func TestMain(m *testing.M) {
	code := m.Run()
	if proxyPath != "" {
		os.RemoveAll(filepath.Dir(proxyPath))
	}
	os.Exit(code)
}

// startProxy starts a proxy, and waits until it answers pings with what the server behind it says.
func startProxy(t testing.TB, cmd *exec.Cmd) (port int) {
	t.Helper()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 100)
	t.Cleanup(func() {
		cmd.Process.Kill()
		for range lines { // until its end
		}
		cmd.Wait()
	})
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(stdout); s.Scan(); {
			select {
			case lines <- s.Text():
			default: // who reads the rest?
			}
		}
	}()
	var place string
	select {
	case line := <-lines:
		place, _, _ = strings.Cut(strings.TrimPrefix(line, "listening on "), " ")
	case <-time.After(time.Minute):
		t.Fatal("the proxy does not start")
	}
	_, text, err := net.SplitHostPort(place)
	if err != nil {
		t.Fatalf("the proxy says %q: %v", place, err)
	}
	if port, err = strconv.Atoi(text); err != nil {
		t.Fatal(err)
	}
	for range 60 {
		if data, err := raknet.PingTimeout(place, 5*time.Second); err == nil && len(data) > 0 {
			return port
		}
		time.Sleep(time.Second)
	}
	t.Fatal("the proxy does not reach the server")
	return 0
}
