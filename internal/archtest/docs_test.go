package archtest

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var testName = regexp.MustCompile(`\b(Test|Fuzz|Benchmark)[A-Z]\w*`)

// A page that names a test is a promise that it is there.
func TestDocumentsNameTestsThatExist(t *testing.T) {
	known := map[string]bool{}
	for _, s := range sources(t) {
		for _, decl := range s.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && s.test {
				known[f.Name.Name] = true
			}
		}
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("found no documents: %v", err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range testName.FindAllString(string(text), -1) {
			if !known[name] {
				t.Errorf("%s: there is no %s", page, name)
			}
		}
	}
}
