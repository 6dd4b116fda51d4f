package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/raknet-go/raknet"

// source is one parsed Go file of the module.
type source struct {
	path string // from the module's root, with slashes
	pkg  string // its directory: "." for the root package
	test bool
	text []byte
	file *ast.File
	fset *token.FileSet
}

func (s *source) imports() []string {
	var paths []string
	for _, spec := range s.file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser accepts only quoted paths
		}
		paths = append(paths, p)
	}
	return paths
}

func (s *source) at(pos token.Pos) string {
	return s.path + ":" + strconv.Itoa(s.fset.Position(pos).Line)
}

// sources returns every Go file of the module, parsed, nested modules left out.
func sources(t *testing.T) []*source {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 || !slices.ContainsFunc(all, func(s *source) bool { return s.pkg == "." }) {
		t.Fatalf("found only %d files: the test looks in the wrong place", len(all))
	}
	return all
}

var parsed = sync.OnceValues(func() ([]*source, error) {
	const root = "../.."
	var all []*source
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules" {
				return fs.SkipDir
			}
			if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil && rel != "." {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		s := &source{path: rel, pkg: path.Dir(rel), test: strings.HasSuffix(rel, "_test.go"), text: text, fset: token.NewFileSet()}
		s.file, err = parser.ParseFile(s.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		all = append(all, s)
		return nil
	})
	return all, err
})

// local returns the package of this module that an import path names.
func local(importPath string) (pkg string, ok bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}
