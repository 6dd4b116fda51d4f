package raknet

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/raknet-go/raknet/internal/offline"
)

// maxTargets bounds the addresses of one host that are tried. A name with more
// is a pool, of which any few members do.
const maxTargets = 8

// fallbackDelay is how long one address of a host may take before the next is tried
// beside it. Four packets cross a bad link within a second; much less would
// open two connections to servers that are far away.
const fallbackDelay = time.Second

// resolve returns the addresses that "host:port" names, IPv4 first: where a game
// server's name has both, it is the IPv6 one that is more often not served. An empty
// host is this machine.
func resolve(ctx context.Context, address string) ([]netip.AddrPort, error) {
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := net.DefaultResolver.LookupPort(ctx, "udp", service)
	if err != nil {
		return nil, err
	}
	var ips []netip.Addr
	if host == "" {
		ips = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
	} else if ip, err := netip.ParseAddr(host); err == nil {
		ips = []netip.Addr{ip}
	} else if ips, err = net.DefaultResolver.LookupNetIP(ctx, "ip", host); err != nil {
		return nil, err
	}
	return order(ips, uint16(port)), nil
}

// order unmaps, sorts and limits the addresses of a host.
func order(ips []netip.Addr, port uint16) []netip.AddrPort {
	var v4, v6 []netip.AddrPort
	for _, ip := range ips {
		a := netip.AddrPortFrom(ip.Unmap(), port)
		family := &v6
		if a.Addr().Is4() {
			family = &v4
		}
		if !slices.Contains(*family, a) {
			*family = append(*family, a)
		}
	}
	// The first of each family goes before the rest, so that neither starves the other.
	var all []netip.AddrPort
	for i := 0; i < max(len(v4), len(v6)); i++ {
		if i < len(v4) {
			all = append(all, v4[i])
		}
		if i < len(v6) {
			all = append(all, v6[i])
		}
	}
	return all[:min(len(all), maxTargets)]
}

// race calls try for each target, the next one as soon as one fails or
// fallbackDelay has passed, and returns the first success. Successes that come
// later are given to discard. The error of a server that answered is final;
// otherwise the first target's counts.
func race[T any](
	ctx context.Context, targets []target, try func(context.Context, target) (T, error), discard func(T),
) (T, error) {
	if len(targets) == 1 {
		return try(ctx, targets[0])
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the attempts that lost

	type outcome struct {
		i   int
		v   T
		err error
	}
	outcomes := make(chan outcome)
	started, running := 0, 0
	start := func() {
		i := started
		started++
		running++
		go func() {
			v, err := try(ctx, targets[i])
			outcomes <- outcome{i, v, err}
		}()
	}
	errs := make([]error, len(targets))
	// Every attempt is waited for: when race returns, nothing of it is left.
	finish := func() {
		cancel()
		for ; running > 0; running-- {
			if o := <-outcomes; o.err == nil {
				discard(o.v)
			}
		}
	}

	start()
	timer := time.NewTimer(fallbackDelay)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			if started < len(targets) {
				start()
				timer.Reset(fallbackDelay)
			}
		case o := <-outcomes:
			running--
			if o.err == nil || answered(o.err) {
				finish()
				return o.v, o.err
			}
			errs[o.i] = o.err
			if started < len(targets) && ctx.Err() == nil {
				start()
				timer.Reset(fallbackDelay)
			} else if running == 0 {
				return o.v, errs[0]
			}
		}
	}
}

// answered reports whether an error of a dial came from the server itself.
func answered(err error) bool {
	var version *offline.VersionError
	var refused *offline.RefusedError
	return errors.As(err, &version) || errors.As(err, &refused) || errors.Is(err, offline.ErrSecurityUnsupported)
}
