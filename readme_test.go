package raknet_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// Every program and fragment of Go in the README compiles.
func TestReadmeCompiles(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	blocks := goBlock.FindAllSubmatch(readme, -1)
	require.Greater(t, len(blocks), 3)
	dir := t.TempDir()
	for i, b := range blocks {
		src := string(b[1])
		if !strings.HasPrefix(src, "package ") {
			src = program(src)
		}
		file := filepath.Join(dir, "block"+string(rune('a'+i))+".go")
		require.NoError(t, os.WriteFile(file, []byte(src), 0o600))
		out, err := exec.Command("go", "vet", file).CombinedOutput()
		require.NoError(t, err, "block %d:\n%s\n%s", i, src, out)
	}
}

// program makes a whole file of a fragment: with what the text around it takes for given.
func program(fragment string) string {
	if strings.HasPrefix(fragment, "import ") {
		return "package main\n" + fragment + "\nvar _ = raknet.Dial\nfunc main() {}\n"
	}
	var used bytes.Buffer
	for _, v := range []string{"receipt", "listener", "err"} {
		if regexp.MustCompile(`\b` + v + `\b.*:=`).MatchString(fragment) {
			used.WriteString("_ = " + v + "\n")
		}
	}
	return `package main

import (
	"context"
	"net/netip"
	"time"

	"github.com/raknet-go/raknet"
)

var (
	ctx     context.Context
	conn    *raknet.Conn
	payload []byte
	_       = time.Second
)

func banned(netip.Addr) bool { return false }

func main() {
` + fragment + used.String() + "}\n"
}

// The README's lists name things that exist.
func TestReadmeNamesExist(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)

	for _, m := range regexp.MustCompile(`\]\(([a-zA-Z][^)#:]*)\)`).FindAllSubmatch(readme, -1) {
		_, err := os.Stat(string(m[1]))
		require.NoError(t, err, "the README links to it")
	}

	makefile, err := os.ReadFile("Makefile")
	require.NoError(t, err)
	for _, m := range regexp.MustCompile("`?make ([a-z]+)").FindAllSubmatch(readme, -1) {
		require.Regexp(t, `(?m)^`+string(m[1])+`:`, string(makefile))
	}

	exported := exportedNames(t)
	for _, m := range regexp.MustCompile("`(?:raknet\\.)?([A-Z][A-Za-z]+)(?:\\.[A-Z][A-Za-z]+)?(?:\\(n?\\))?`").FindAllSubmatch(readme, -1) {
		require.Contains(t, exported, string(m[1]))
	}
}

// exportedNames returns the exported names of the package, and the methods and
// fields of its types.
func exportedNames(t *testing.T) map[string]bool {
	names := map[string]bool{}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.IsExported() {
				names[id.Name] = true
			}
			return true
		})
	}
	return names
}
