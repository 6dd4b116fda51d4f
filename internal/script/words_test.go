package script

import (
	"slices"
	"testing"
)

func TestWordsKeepWhatBelongsTogether(t *testing.T) {
	got, err := split(`inject s 84 #3  reliable r=2 "two words" + unreliable {ping time=5} <fe 01>`)
	want := []string{"inject", "s", "84", "#3", "reliable", "r=2", `"two words"`, "+", "unreliable", "{ping time=5}", "<fe 01>"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := split(`send c "never ends`); err == nil {
		t.Error("an open quote is no mistake")
	}
}

func TestWhatNobodyAskedForIsAMistake(t *testing.T) {
	f := newFields([]string{"one", "a=1", `"x=y"`})
	if f.word() != "one" || f.number("a", 0) != 1 || f.word() != `"x=y"` || f.done() != nil {
		t.Errorf("%+v", f)
	}
	for _, words := range [][]string{{"b=1"}, {"more"}, {"n=seven"}} {
		f := newFields(words)
		f.number("n", 0)
		if f.done() == nil {
			t.Errorf("%q is no mistake", words)
		}
	}
}
