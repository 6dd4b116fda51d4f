package protocol

import "testing"

func TestPriorities(t *testing.T) {
	var zero Priority
	if zero != PriorityHigh {
		t.Fatalf("the zero value is %v", zero)
	}
	seen := map[string]bool{}
	for p := range Priority(Priorities) {
		if !p.Valid() {
			t.Errorf("%v is not valid", p)
		}
		seen[p.String()] = true
	}
	for _, name := range []string{"immediate", "high", "medium", "low"} {
		if !seen[name] {
			t.Errorf("no priority is called %q", name)
		}
	}
	if p := Priority(Priorities); p.Valid() || p.String() != "priority 4" {
		t.Errorf("there is a fifth priority, %v", p)
	}
}
