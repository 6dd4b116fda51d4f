package archtest

import (
	"bufio"
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// layers is the architecture from the bottom up: a package may import packages of
// lower layers only, never one of its own.
var layers = [][]string{
	{"protocol", "protocol/bedrock"},
	{"internal/wire", "internal/pool", "internal/monotime", "internal/siphash", "internal/proxyproto"},
	{"internal/arq"},
	{"internal/session", "internal/offline", "internal/guard", "internal/udp"},
	{"internal/endpoint"},
	{"."},
	{"qlog"},
}

// aside are the packages beside the layers. Nothing that a user's program links
// imports them.
var aside = []string{"examples/", "internal/archtest", "internal/attack", "internal/captures", "internal/dialect", "internal/histogram", "internal/hostile", "internal/interop", "internal/lab", "internal/netsim", "internal/script", "internal/show", "internal/xray"}

func layerOf(pkg string) int {
	return slices.IndexFunc(layers, func(l []string) bool { return slices.Contains(l, pkg) })
}

func isAside(pkg string) bool {
	return slices.ContainsFunc(aside, func(a string) bool { return pkg == a || strings.HasPrefix(pkg, strings.TrimSuffix(a, "/")+"/") })
}

func TestImportsPointDownwards(t *testing.T) {
	for _, s := range sources(t) {
		layer := layerOf(s.pkg)
		if layer < 0 && !isAside(s.pkg) {
			t.Errorf("%s: package %s has no place in the architecture: add it to layers", s.path, s.pkg)
			continue
		}
		if s.test || layer < 0 {
			continue
		}
		for _, imp := range s.imports() {
			pkg, ok := local(imp)
			if !ok {
				continue
			}
			if isAside(pkg) {
				t.Errorf("%s imports %s, which no program may need", s.path, pkg)
			} else if layerOf(pkg) >= layer {
				t.Errorf("%s imports %s: imports go down the layers only", s.path, pkg)
			}
		}
	}
}

// The examples are what users copy from: they must build without the module's
// inside. Only the demo needs the simulated network, and the ping, for one flag, the bare packets.
var insideOf = map[string]string{"examples/demo": "internal/netsim", "examples/ping": "internal/xray"}

func TestExamplesUseThePublicPackages(t *testing.T) {
	for _, s := range sources(t) {
		if !strings.HasPrefix(s.pkg, "examples/") || s.test {
			continue
		}
		for _, imp := range s.imports() {
			pkg, ok := local(imp)
			if !ok || !strings.HasPrefix(pkg, "internal/") {
				continue
			}
			if insideOf[s.pkg] != pkg {
				t.Errorf("%s imports %s, which its readers cannot", s.path, pkg)
			}
		}
	}
}

func TestUnsafeStaysInTheSocketLayer(t *testing.T) {
	for _, s := range sources(t) {
		if slices.Contains(s.imports(), "unsafe") && s.pkg != "internal/udp" {
			t.Errorf("%s imports unsafe", s.path)
		}
	}
}

// What a program links by importing the package: the standard library, x/net and x/sys.
func TestDependencies(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".")
	cmd.Dir = "../.."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	allowed := []string{module, "golang.org/x/net", "golang.org/x/sys"}
	seen := false
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		dep := lines.Text()
		seen = seen || dep == module
		if !slices.ContainsFunc(allowed, func(a string) bool { return dep == a || strings.HasPrefix(dep, a+"/") }) {
			t.Errorf("the package depends on %s", dep)
		}
	}
	if !seen {
		t.Errorf("go list did not name the package itself:\n%s", out)
	}
}
