package guard

import (
	"net/netip"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/siphash"
)

// limiterSlots is the number of buckets, a power of two: 512 KiB, allocated with the first
// question, whatever strangers send. Two prefixes that hash to one slot share its budget;
// with a secret key nobody can choose whose.
const limiterSlots = 1 << 16

// The default budgets. They are sized for unconnected pongs: a server list asks a
// few times per minute, so 20 per second serves a busy shared address, and 2000
// per second of at most 432 bytes is 7 Mbit/s of reflection in the worst case.
const (
	DefaultRate        = 20
	DefaultBurst       = 40
	DefaultGlobalRate  = 2000
	DefaultGlobalBurst = 4000
)

// LimiterConfig sets up a Limiter. A zero rate or burst takes the default, a
// negative rate is no limit.
type LimiterConfig struct {
	Key         siphash.Key // a secret of the runtime
	Rate        int         // tokens per second of one prefix, /24 or /56
	Burst       int         // tokens that a prefix saves up
	GlobalRate  int         // tokens per second of everybody together
	GlobalBurst int
}

// Limiter is a token bucket per network prefix and one over all of them.
type Limiter struct {
	key    siphash.Key
	each   bucketRule
	all    bucketRule
	global bucket
	slots  []bucket
}

// Init sets the limiter up, with every bucket full.
func (l *Limiter) Init(_ monotime.Time, c *LimiterConfig) {
	*l = Limiter{
		key:  c.Key,
		each: newBucketRule(c.Rate, DefaultRate, c.Burst, DefaultBurst),
		all:  newBucketRule(c.GlobalRate, DefaultGlobalRate, c.GlobalBurst, DefaultGlobalBurst),
	}
}

// Allow takes one token of addr's prefix and one of the common budget, or none at
// all and returns false. It allocates nothing but for the first time.
func (l *Limiter) Allow(now monotime.Time, addr netip.Addr) bool {
	if l.slots == nil {
		l.slots = make([]bucket, limiterSlots)
	}
	n := network(addr, limitBits4, limitBits6).As16()
	slot := &l.slots[siphash.Sum(&l.key, n[:])%limiterSlots]
	// The prefix comes first, so that one that is over its own budget takes nothing from everybody's.
	if !slot.has(now, &l.each) || !l.global.has(now, &l.all) {
		return false
	}
	slot.take(now, &l.each)
	l.global.take(now, &l.all)
	return true
}

// AllowAny takes one token of the common budget, for whom no budget of its own holds.
func (l *Limiter) AllowAny(now monotime.Time) bool {
	if !l.global.has(now, &l.all) {
		return false
	}
	l.global.take(now, &l.all)
	return true
}

// bucketRule is a rate in the form that bucket computes with.
type bucketRule struct {
	cost  time.Duration // what one token takes to grow back; 0: no limit
	depth time.Duration // what all of them take
}

func newBucketRule(rate, rateDefault, burst, burstDefault int) bucketRule {
	if rate < 0 {
		return bucketRule{}
	}
	if rate == 0 {
		rate = rateDefault
	}
	if burst <= 0 {
		burst = burstDefault
	}
	burst = min(burst, 1<<30) // keeps the product below within 64 bits
	cost := max(time.Second/time.Duration(rate), 1)
	return bucketRule{cost: cost, depth: time.Duration(burst) * cost}
}

// bucket is a token bucket in eight bytes: the moment at which it will be full
// again. Its zero value is full.
type bucket monotime.Time

func (b bucket) has(now monotime.Time, r *bucketRule) bool {
	return max(monotime.Time(b), now).Add(r.cost) <= now.Add(r.depth)
}

func (b *bucket) take(now monotime.Time, r *bucketRule) {
	*b = bucket(max(monotime.Time(*b), now).Add(r.cost))
}
