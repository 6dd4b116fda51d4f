package arq

import (
	"reflect"
	"testing"
	"time"
)

func TestZeroLimitsAreDefaults(t *testing.T) {
	v := reflect.ValueOf(*Limits{}.withDefaults())
	unbounded := map[string]bool{"ReliableInFlight": true, "Departures": true} // zero means what it says
	for i := range v.NumField() {
		if v.Field(i).IsZero() && !unbounded[v.Type().Field(i).Name] {
			t.Errorf("%s has no default", v.Type().Field(i).Name)
		}
	}
	if l := (Limits{SendBuffer: 7, UnreliableAge: time.Minute}).withDefaults(); l.SendBuffer != 7 || l.UnreliableAge != time.Minute {
		t.Error("a limit that was set changed")
	}
}
