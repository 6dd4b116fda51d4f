package archtest

import (
	"bytes"
	"go/ast"
	"go/format"
	"regexp"
	"strings"
	"testing"
)

func TestFilesAreFormatted(t *testing.T) {
	for _, s := range sources(t) {
		want, err := format.Source(s.text)
		if err != nil {
			t.Errorf("%s: %v", s.path, err)
		} else if !bytes.Equal(want, s.text) {
			t.Errorf("%s is not formatted: run gofmt -w", s.path)
		}
	}
}

// unfinished are the words by which code says that it is not done.
var unfinished = regexp.MustCompile(`(?i)\b(TO` + `DO|FIX` + `ME|XX` + `X|not imple` + `mented|for n` + `ow)\b`)

func TestNothingIsLeftUnfinished(t *testing.T) {
	for _, s := range sources(t) {
		for _, group := range s.file.Comments {
			if m := unfinished.FindString(group.Text()); m != "" {
				t.Errorf("%s: a comment says %q", s.at(group.Pos()), m)
			}
		}
	}
}

// Every exported name says what it is.
func TestExportedNamesAreDocumented(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || strings.HasPrefix(s.pkg, "examples/") {
			continue
		}
		for _, decl := range s.file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
					t.Errorf("%s: %s has no comment", s.at(d.Pos()), d.Name.Name)
				}
			case *ast.GenDecl:
				undocumented(d, func(id *ast.Ident) { t.Errorf("%s: %s has no comment", s.at(id.Pos()), id.Name) })
			}
		}
	}
}

// exportedReceiver reports whether the function is no method, or one of an
// exported type that its interface alone does not explain.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if index, ok := typ.(*ast.IndexExpr); ok {
		typ = index.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}

// undocumented reports the exported names of a declaration that neither have a
// comment nor share that of their group.
func undocumented(d *ast.GenDecl, report func(*ast.Ident)) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() && spec.Doc == nil && d.Doc == nil && spec.Comment == nil {
				report(spec.Name)
			}
		case *ast.ValueSpec:
			if spec.Doc != nil || spec.Comment != nil || d.Doc != nil {
				continue
			}
			for _, id := range spec.Names {
				if id.IsExported() {
					report(id)
				}
			}
		}
	}
}
