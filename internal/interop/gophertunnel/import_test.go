package gophertunnel_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/raknet-go/raknet/internal/interop"
)

const (
	theirPath = `"github.com/sandertv/go-raknet"`
	ourPath   = `"github.com/raknet-go/raknet"`
)

// gophertunnel was written for go-raknet. With the import path changed, and not another byte of its source, its packages and
// their tests compile, and its own server and client log in and spawn over this library.
func TestChangingTheImportPathIsEnough(t *testing.T) {
	t.Parallel()
	if !interop.Full() {
		t.Skip("make interop plays this")
	}
	source := strings.TrimSpace(goCommand(t, nil, "list", "-m", "-f", "{{.Dir}}", "github.com/sandertv/gophertunnel"))
	changed := filepath.Join(t.TempDir(), "gophertunnel")
	files := change(t, source, changed)
	if files == 0 {
		t.Fatal("no file imports go-raknet")
	}
	t.Logf("%d files import go-raknet", files)

	// The changed source needs our module instead of go-raknet's; where that is, the main module says.
	edit(t, filepath.Join(changed, "go.mod"), "-droprequire=github.com/sandertv/go-raknet", "-require=github.com/raknet-go/raknet@v0.0.0")
	modfile := filepath.Join(t.TempDir(), "go.mod")
	copyFile(t, "go.mod", modfile)
	copyFile(t, "go.sum", strings.TrimSuffix(modfile, ".mod")+".sum")
	edit(t, modfile, "-droprequire=github.com/sandertv/go-raknet", "-replace=github.com/sandertv/gophertunnel="+changed)

	// Everything is in the module cache, or this test would need a network.
	offline := []string{"GOFLAGS=-mod=mod", "GOPROXY=off", "RAKNET_CHANGED=1"}
	goCommand(t, offline, "vet", "-modfile="+modfile, "github.com/sandertv/gophertunnel/minecraft/...", "github.com/sandertv/gophertunnel/query")
	t.Log(goCommand(t, offline, "test", "-count=1", "-parallel=256", "-modfile="+modfile, "./changed"))
}

// change copies a module's source with the import path changed, and returns in how many files it was.
func change(t *testing.T, from, to string) (files int) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if filepath.Ext(path) == ".go" && bytes.Contains(b, []byte(theirPath)) {
			b = bytes.ReplaceAll(b, []byte(theirPath), []byte(ourPath))
			files++
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func edit(t *testing.T, modfile string, args ...string) {
	t.Helper()
	goCommand(t, nil, append(append([]string{"mod", "edit"}, args...), modfile)...)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func goCommand(t *testing.T, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
