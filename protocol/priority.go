package protocol

import "strconv"

// Priority says which of the messages waiting to be sent leaves first. It never
// reorders messages of one ordering channel at the receiver, and it matters only
// while the congestion window holds messages back. The wire does not carry it.
// Queues are served in weighted shares, so that none starves. The zero value is
// PriorityHigh.
type Priority uint8

// The four priorities, by weight: immediate, high, medium, low.
const (
	PriorityHigh Priority = iota
	PriorityImmediate
	PriorityMedium
	PriorityLow
)

// Priorities is the number of priorities.
const Priorities = 4

// Valid reports whether p is one of the four priorities.
func (p Priority) Valid() bool { return p < Priorities }

// String names the priority.
func (p Priority) String() string {
	switch p {
	case PriorityHigh:
		return "high"
	case PriorityImmediate:
		return "immediate"
	case PriorityMedium:
		return "medium"
	case PriorityLow:
		return "low"
	}
	return "priority " + strconv.Itoa(int(p))
}
