package raknet

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/netip"
	"time"

	"github.com/raknet-go/raknet/internal/endpoint"
	"github.com/raknet-go/raknet/internal/siphash"
)

// A cookie is a number that a client gets with the answer to its first request and has to
// return with the second, which shows that it receives at the address it sends from. Until
// then a listener remembers nothing about it. There are four modes:
//
//   - By default each listener makes cookies under a secret of its own, good for 30 to 60 seconds.
//   - With [ListenConfig].CookieKeys several listeners share secrets, so that a client whose second
//     request reaches another of them is let in.
//   - With [ListenConfig].CookieVerifier the application makes and judges them.
//   - With [ListenConfig].DisableCookies there are none.

// CookieKey is a secret under which cookies are made.
type CookieKey [16]byte

// cookieKeyLife is how long SharedCookieKeys makes cookies under one key.
const cookieKeyLife = 30 * time.Second

// minCookieSecret is the shortest secret that SharedCookieKeys takes: that of a key.
const minCookieSecret = len(CookieKey{})

// SharedCookieKeys returns a [ListenConfig].CookieKeys that derives the keys from a secret and the
// wall clock, so that all who know the secret agree on them without talking. The key changes
// every 30 seconds; the one before and the one after are recognised, too, so that clocks may
// be that far apart. It panics if the secret has less than 16 bytes: it has to be a random
// one, not a word.
func SharedCookieKeys(secret []byte) func(now time.Time) []CookieKey {
	if len(secret) < minCookieSecret {
		panic(fmt.Sprintf("raknet: a cookie secret of %d bytes can be guessed: use at least %d random ones", len(secret), minCookieSecret))
	}
	secret = append([]byte(nil), secret...)
	return func(now time.Time) []CookieKey {
		epoch := now.Unix() / int64(cookieKeyLife/time.Second)
		return []CookieKey{cookieKey(secret, epoch), cookieKey(secret, epoch-1), cookieKey(secret, epoch+1)}
	}
}

// cookieKey derives the key of an epoch.
func cookieKey(secret []byte, epoch int64) (key CookieKey) {
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write(binary.BigEndian.AppendUint64([]byte("raknet cookie key"), uint64(epoch))) // never fails
	copy(key[:], mac.Sum(nil))
	return key
}

// CookieVerifier makes and judges cookies, for instance as a protection service in front of the
// server does, which then answers first requests in the server's place. Its methods are
// called by the goroutine that serves the socket, for every request of a stranger: they must
// return quickly, remember nothing, and, with [ListenConfig].Sockets, may be called
// by several goroutines at once.
type CookieVerifier interface {
	// IssueCookie returns the cookie for a client that speaks version.
	IssueCookie(client netip.AddrPort, version byte) uint32
	// VerifyCookie reports whether only the owner of the address can know the cookie, and the
	// version that the client spoke in its first request; 0 if the cookie does not tell, which
	// stands for the highest version of the listener.
	VerifyCookie(client netip.AddrPort, cookie uint32) (version byte, ok bool)
}

// cookies sets up who makes the cookies of an endpoint.
func (conf ListenConfig) cookies(c *endpoint.Config) {
	c.NoCookies = conf.DisableCookies
	if v := conf.CookieVerifier; v != nil {
		c.CookieIssue, c.CookieVerify = v.IssueCookie, v.VerifyCookie
	}
	if source := conf.CookieKeys; source != nil {
		c.CookieKeys = func(now time.Time) []siphash.Key {
			var keys []siphash.Key
			for _, k := range source(now) {
				keys = append(keys, siphash.Key(k))
			}
			return keys
		}
	}
}
