package raknet

import "github.com/raknet-go/raknet/internal/endpoint"

// MemoryBudget bounds the memory that many connections hold together, of however many
// listeners and dialers: what was received and not read, what waits for messages or
// fragments that are missing, what waits to be sent or acknowledged. [Limits] bound each of
// these for one connection; a budget bounds what many peers can bring about, each within its limits.
//
// When the budget is exceeded, the connections that hold most are closed with
// [ErrMemoryBudget], until an eighth of it is free. What is held is added up now and then, so that the
// budget may be exceeded for a moment. It does not count the connections themselves, of some
// KB each, and what the application has read.
type MemoryBudget struct{ b *endpoint.Budget }

// NewMemoryBudget returns a budget of so many bytes. Zero or less is no limit.
func NewMemoryBudget(bytes int64) *MemoryBudget {
	return &MemoryBudget{endpoint.NewBudget(bytes)}
}

// DefaultMemoryBudget returns the budget of all listeners and dialers that were given no
// other: a quarter of the process's memory limit (GOMEMLIMIT, debug.SetMemoryLimit) at the
// time of its first use, or 1 GiB if there is none.
func DefaultMemoryBudget() *MemoryBudget { return &MemoryBudget{endpoint.ProcessBudget()} }

// Limit returns the size of the budget in bytes; 0 is no limit.
func (m *MemoryBudget) Limit() int64 { return m.b.Limit() }

// Used returns how many bytes the connections hold, which it adds up for the occasion.
func (m *MemoryBudget) Used() int64 { return m.b.Used() }

// Closed returns how many connections were closed with [ErrMemoryBudget].
func (m *MemoryBudget) Closed() uint64 { return m.b.Ended() }

// budget is what m stands for in an endpoint; nil is the default.
func (m *MemoryBudget) budget() *endpoint.Budget {
	if m == nil {
		return nil
	}
	return m.b
}
