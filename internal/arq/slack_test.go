package arq

import "testing"

func TestStorageOutlivesWavesAndIsGivenBackInACalm(t *testing.T) {
	var s slack
	round := func(used, capacity int) bool {
		s.used(used / 2)
		s.used(used)
		s.used(1)
		return s.emptied(capacity, 16)
	}
	t.Log("# waves that use more than a quarter keep it, with calm between them")
	for range 10 {
		for range slackRounds - 1 {
			if round(10, 1024) {
				t.Fatal("dropped between waves")
			}
		}
		if round(300, 1024) {
			t.Fatal("dropped in a wave")
		}
	}
	t.Log("# a long calm does not")
	for i := range slackRounds {
		if got, want := round(10, 1024), i == slackRounds-1; got != want {
			t.Fatalf("round %d: %v", i, got)
		}
	}
	t.Log("# small storage always stays")
	for range 3 * slackRounds {
		if round(1, 16) {
			t.Fatal("dropped what was to be kept")
		}
	}
}
