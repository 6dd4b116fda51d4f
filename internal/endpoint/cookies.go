package endpoint

import (
	"net/netip"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/siphash"
)

// cookies returns who issues and recognises cookies in the server's place, or nil. What it
// returns belongs to the reader.
func (e *Endpoint) cookies() offline.Cookies {
	switch {
	case e.cfg.CookieIssue != nil && e.cfg.CookieVerify != nil:
		return &ownCookies{e}
	case e.cfg.CookieKeys != nil:
		return &sharedCookies{e: e}
	}
	return nil
}

// sharedCookies makes cookies under secrets that the user supplies, and asks for them anew
// from time to time.
type sharedCookies struct {
	e     *Endpoint
	ring  offline.CookieRing
	until monotime.Time // when the keys are asked for again
}

func (s *sharedCookies) refresh(now monotime.Time) {
	if now < s.until {
		return
	}
	s.until = now.Add(cookieKeysFor)
	if keys, ok := s.ask(); ok {
		s.ring.Set(keys)
	}
}

// ask calls the user's function, with the wall clock, by which servers agree on a key. After
// a panic the keys stay as they are.
func (s *sharedCookies) ask() (keys []siphash.Key, ok bool) {
	defer func() {
		if v := recover(); v != nil {
			s.e.panicked("source of cookie keys", v)
		}
	}()
	return s.e.cfg.CookieKeys(time.Now()), true
}

func (s *sharedCookies) Issue(now monotime.Time, addr netip.AddrPort, version byte) uint32 {
	s.refresh(now)
	return s.ring.Issue(now, addr, version)
}

func (s *sharedCookies) Recognise(now monotime.Time, addr netip.AddrPort, cookie uint32, versions []byte) (byte, bool) {
	s.refresh(now)
	return s.ring.Recognise(now, addr, cookie, versions)
}

// ownCookies leaves cookies to the user.
type ownCookies struct{ e *Endpoint }

func (o *ownCookies) Issue(_ monotime.Time, addr netip.AddrPort, version byte) (cookie uint32) {
	defer func() {
		if v := recover(); v != nil {
			o.e.panicked("cookie verifier", v)
		}
	}()
	return o.e.cfg.CookieIssue(addr, version)
}

func (o *ownCookies) Recognise(_ monotime.Time, addr netip.AddrPort, cookie uint32, _ []byte) (version byte, ok bool) {
	defer func() {
		if v := recover(); v != nil {
			o.e.panicked("cookie verifier", v)
			version, ok = 0, false
		}
	}()
	return o.e.cfg.CookieVerify(addr, cookie)
}
