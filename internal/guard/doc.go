// Package guard bounds what strangers may cost: token buckets per network prefix
// (Limiter), prefixes that the application has blocked (Blocklist), and the number
// of handshakes under way (HalfOpen). Time is an argument; none of the types is
// safe for concurrent use. Nothing here blocks anybody on its own: source
// addresses of unconnected datagrams can be forged, so only budgets apply to them.
package guard
