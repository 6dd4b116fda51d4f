// Package monotime is time as the clock-free core sees it: a signed count of
// nanoseconds on a clock that never goes back. Only the runtime reads a Clock;
// everything below it takes a Time as an argument.
package monotime

import "time"

// Time is a moment, in nanoseconds since the start of some Clock. The zero value
// is "unset"; a Clock starts at 1.
type Time int64

// Never is later than every moment: the deadline of something with nothing to wait for.
const Never Time = 1<<63 - 1

// Add returns t moved by d. Never stays Never.
func (t Time) Add(d time.Duration) Time {
	if t == Never {
		return Never
	}
	return t + Time(d)
}

// Sub returns the duration from u to t.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// Milli returns t in whole milliseconds.
func (t Time) Milli() int64 { return int64(t) / int64(time.Millisecond) }

// IsZero reports whether t is unset.
func (t Time) IsZero() bool { return t == 0 }

// Clock turns the system's monotonic clock into Times. Each socket has its own,
// so that one started inside a testing/synctest bubble follows the bubble's time.
type Clock struct{ start time.Time }

// NewClock returns a clock that reads 1 now.
func NewClock() *Clock { return &Clock{start: time.Now()} }

// Now returns the present moment. Safe for concurrent use.
func (c *Clock) Now() Time { return 1 + Time(time.Since(c.start)) }

// Wall returns the wall-clock time of t.
func (c *Clock) Wall(t Time) time.Time { return c.start.Add(time.Duration(t - 1)) }

// EpochMilli returns the wall time of this clock's start in milliseconds since
// 1970, for the time stamps that packets carry.
func (c *Clock) EpochMilli() int64 { return c.start.UnixMilli() }
