package archtest

import (
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// core are the packages that know no clock, no lock, no goroutine and no socket:
// the same inputs at the same times give the same outputs.
var core = []string{"internal/wire", "internal/arq", "internal/session", "internal/offline", "internal/guard", "internal/proxyproto"}

// forbiddenImports by path; everything below them is forbidden too unless allowed.
var forbiddenImports = []string{"net", "sync", "os", "log", "context", "runtime", "unsafe", "syscall", "crypto/rand", "golang.org/x"}

var allowedImports = []string{"net/netip"}

// clockFuncs are what package time offers besides the arithmetic of durations.
var clockFuncs = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// seededRandom are the functions of math/rand/v2 that do not draw from the
// process's hidden generator.
var seededRandom = []string{"New", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "PCG", "ChaCha8", "Source", "Zipf"}

func TestTheCoreIsClockFree(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || !slices.Contains(core, s.pkg) {
			continue
		}
		names := map[string]string{} // how the file calls an import -> its path
		for _, spec := range s.file.Imports {
			imp, _ := strconv.Unquote(spec.Path.Value)
			name := path.Base(imp)
			if imp == "math/rand/v2" {
				name = "rand"
			}
			if spec.Name != nil {
				name = spec.Name.Name
			}
			names[name] = imp
			under := func(p string) bool { return imp == p || strings.HasPrefix(imp, p+"/") }
			if slices.ContainsFunc(forbiddenImports, under) && !slices.Contains(allowedImports, imp) {
				t.Errorf("%s: the clock-free core imports %s", s.at(spec.Pos()), imp)
			}
			if name == "." {
				t.Errorf("%s: a dot import hides what the file uses", s.at(spec.Pos()))
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: the clock-free core starts a goroutine", s.at(n.Pos()))
			case *ast.ChanType:
				t.Errorf("%s: the clock-free core has a channel", s.at(n.Pos()))
			case *ast.SelectorExpr:
				x, ok := n.X.(*ast.Ident)
				if !ok {
					return true
				}
				switch names[x.Name] {
				case "time":
					if slices.Contains(clockFuncs, n.Sel.Name) {
						t.Errorf("%s: the clock-free core calls time.%s", s.at(n.Pos()), n.Sel.Name)
					}
				case "math/rand", "math/rand/v2":
					if !slices.Contains(seededRandom, n.Sel.Name) {
						t.Errorf("%s: the clock-free core draws from the global random generator", s.at(n.Pos()))
					}
				}
			}
			return true
		})
	}
}
