package main

import (
	"cmp"
	"slices"
	"time"
)

// What depends on the machine is measured again where it falls short, and the median counts: one
// pause of a shared machine in a time of two seconds makes a p99.

const (
	// measurements are how often at most.
	measurements = 3
	// againTime is how long an attack may take that is worth it.
	againTime = 20 * time.Second
)

// unlucky reports whether nothing but delays and costs fell short.
func (r *Row) unlucky() bool {
	slow := false
	for _, v := range r.Verdicts {
		if !v.OK && v.Judged {
			if !v.What.timed() {
				return false
			}
			slow = true
		}
	}
	return slow
}

// timed reports whether the requirement depends on what else the machine does.
func (q requirement) timed() bool {
	switch q {
	case reqCPU, reqDelayFlood, reqDelayPeer, reqJoin, reqMemory: // the last with what was not collected yet
		return true
	}
	return false
}

// middle is the last of several measurements of one attack with the medians of what is timed in all of them.
func middle(rows []Row) Row {
	r := rows[len(rows)-1]
	r.Again = len(rows) - 1
	r.Heap = median(rows, func(r *Row) int64 { return r.Heap })
	r.CPU = median(rows, func(r *Row) time.Duration { return r.CPU })
	r.Before = median(rows, func(r *Row) time.Duration { return r.Before })
	r.During = median(rows, func(r *Row) time.Duration { return r.During })
	r.Slowest = median(rows, func(r *Row) time.Duration { return r.Slowest })
	r.Failed = median(rows, func(r *Row) int { return r.Failed })
	r.Verdicts = nil
	return r
}

func median[T cmp.Ordered](rows []Row, of func(r *Row) T) T {
	all := make([]T, len(rows))
	for i := range rows {
		all[i] = of(&rows[i])
	}
	slices.Sort(all)
	return all[(len(all)-1)/2]
}
