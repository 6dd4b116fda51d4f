package archtest

import (
	"go/ast"
	"os"
	"strings"
	"testing"
)

// Every habit of other implementations that the page lists has somebody who has it, an answer, and
// at least one test, which exists. A test that the page names elsewhere exists as well: see
// TestDocumentsNameTestsThatExist.
func TestEveryDialectHasATest(t *testing.T) {
	known := map[string]bool{}
	for _, s := range sources(t) {
		for _, decl := range s.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && s.test {
				known[f.Name.Name] = true
			}
		}
	}
	page, err := os.ReadFile("../../docs/DIALECTS.md")
	if err != nil {
		t.Fatal(err)
	}
	habits := map[string]bool{}
	for number, line := range strings.Split(string(page), "\n") {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if len(cells) != 4 {
			t.Errorf("line %d has %d cells, want 4", number+1, len(cells))
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
			if cells[i] == "" {
				t.Errorf("line %d: cell %d is empty", number+1, i+1)
			}
		}
		if cells[0] == "Habit" || strings.HasPrefix(cells[0], "---") {
			continue
		}
		if habits[cells[0]] {
			t.Errorf("line %d: %q is listed twice", number+1, cells[0])
		}
		habits[cells[0]] = true
		names := testName.FindAllString(cells[3], -1)
		if len(names) == 0 {
			t.Errorf("line %d: %q has no test", number+1, cells[0])
		}
		for _, name := range names {
			if !known[name] {
				t.Errorf("line %d: there is no %s", number+1, name)
			}
		}
	}
	if len(habits) < 60 {
		t.Errorf("the page lists only %d habits", len(habits))
	}
}
