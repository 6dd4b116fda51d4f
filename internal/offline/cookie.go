package offline

import (
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/internal/siphash"
)

// cookieEpoch is how long cookies are issued under one key. A cookie is good in
// its epoch and in the next, so it lives 30 to 60 seconds: far longer than any
// handshake, far shorter than an attacker needs to try a share of 2^32 values.
const cookieEpoch = 30 * time.Second

// Cookies issues and recognises cookies in a server's place: see [CookieRing] for servers that
// share secrets.
type Cookies interface {
	// Issue returns the cookie for a client at addr that speaks version.
	Issue(now monotime.Time, addr netip.AddrPort, version byte) uint32
	// Recognise reports whether cookie proves that the client received it at addr, and
	// the version that it was issued for, one of versions, or 0 if the cookie does not tell.
	Recognise(now monotime.Time, addr netip.AddrPort, cookie uint32, versions []byte) (version byte, ok bool)
}

// MaxCookieKeys bounds the secrets of a CookieRing. Each costs a hash per accepted version and
// bad cookie, and each makes a guess as much more likely.
const MaxCookieKeys = 4

// CookieRing makes and recognises cookies under secrets that several servers know, so
// that one of them recognises what another issued. It does not age them: whoever sets the keys
// changes them. The zero value has no keys, and recognises nothing.
type CookieRing struct{ keys []siphash.Key }

// Set replaces the keys, of which it keeps a copy. The first issues, all recognise; those beyond
// MaxCookieKeys are left out.
func (r *CookieRing) Set(keys []siphash.Key) {
	r.keys = append(r.keys[:0], keys[:min(len(keys), MaxCookieKeys)]...)
}

// Issue returns the cookie for a client at addr that speaks version. Without a key it is one
// that nobody recognises.
func (r *CookieRing) Issue(_ monotime.Time, addr netip.AddrPort, version byte) uint32 {
	if len(r.keys) == 0 {
		return 0
	}
	m := cookieMessage(addr)
	j := cookieJar{r.keys[0]}
	return j.hash(&m, version, 0)
}

// Recognise returns the version for which cookie was issued to addr under one of the keys.
func (r *CookieRing) Recognise(_ monotime.Time, addr netip.AddrPort, cookie uint32, versions []byte) (version byte, ok bool) {
	m := cookieMessage(addr)
	for i := range r.keys {
		j := cookieJar{r.keys[i]}
		for _, v := range versions {
			if j.hash(&m, v, 0) == cookie {
				return v, true
			}
		}
	}
	return 0, false
}

// cookieJar issues and recognises cookies: 32 bits that prove that whoever sends
// request 2 received reply 1 at that address and port. Nothing is stored per
// client. The key of an epoch is the one secret with the epoch's number in the
// hashed message, so that keys rotate without anybody drawing new ones.
//
// The client's protocol version is in request 1 only, so it is hashed as well:
// request 2 is tried against every accepted version, and the one that fits is the
// client's. A guess succeeds with probability 2 * versions / 2^32.
type cookieJar struct{ key siphash.Key }

// issue returns the cookie for a client at addr that speaks version.
func (j *cookieJar) issue(now monotime.Time, addr netip.AddrPort, version byte) uint32 {
	m := cookieMessage(addr)
	return j.hash(&m, version, epochOf(now))
}

// recognise returns the version for which cookie was issued to addr in this epoch
// or the one before.
func (j *cookieJar) recognise(now monotime.Time, addr netip.AddrPort, cookie uint32, versions []byte) (version byte, ok bool) {
	m := cookieMessage(addr)
	epoch := epochOf(now)
	for _, v := range versions {
		if j.hash(&m, v, epoch) == cookie {
			return v, true
		}
	}
	for _, v := range versions {
		if j.hash(&m, v, epoch-1) == cookie {
			return v, true
		}
	}
	return 0, false
}

// cookieMessage lays out what is hashed: 16 bytes of address, the port, one byte
// of version and five of epoch. An IPv4 address and its IPv6-mapped form are the
// same client, seen through different sockets, and the zone is the host's own
// affair: neither makes a difference.
func cookieMessage(addr netip.AddrPort) (m [24]byte) {
	a := addr.Addr().As16()
	copy(m[:], a[:])
	binary.BigEndian.PutUint16(m[16:], addr.Port())
	return m
}

func (j *cookieJar) hash(m *[24]byte, version byte, epoch int64) uint32 {
	m[18] = version
	m[19] = byte(epoch >> 32)
	binary.BigEndian.PutUint32(m[20:], uint32(epoch))
	return uint32(siphash.Sum(&j.key, m[:]))
}

func epochOf(now monotime.Time) int64 { return int64(now) / int64(cookieEpoch) }
