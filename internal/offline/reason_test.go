package offline

import "testing"

func TestDropReasonsHaveNames(t *testing.T) {
	seen := make(map[string]bool)
	for r := range DropReasons + 1 {
		name := DropReason(r).String()
		if name == "" || seen[name] {
			t.Errorf("reason %d is %q", r, name)
		}
		seen[name] = true
	}
}
