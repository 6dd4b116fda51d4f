package netsim

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestADeadlineCanBeTakenBackAfterItPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d deadline
		d.init()
		check := func(what string, want bool) {
			t.Helper()
			synctest.Wait()
			if isClosed(d.wait()) != want {
				t.Errorf("%s: passed is %v", what, !want)
			}
		}
		check("none", false)
		d.set(time.Now().Add(time.Second))
		check("ahead", false)
		time.Sleep(time.Second)
		check("reached", true)
		d.set(time.Now().Add(-1))
		check("set to the past again", true)
		d.set(time.Now().Add(time.Second))
		check("moved ahead", false)
		d.set(time.Time{})
		time.Sleep(time.Minute)
		check("taken away", false)
		d.set(time.Now())
		check("now", true)
	})
}
