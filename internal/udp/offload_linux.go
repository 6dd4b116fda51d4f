package udp

import (
	"bytes"
	"strconv"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// version is a version of the kernel.
type version struct{ major, minor, patch int }

func (v version) before(o version) bool {
	if v.major != o.major {
		return v.major < o.major
	}
	if v.minor != o.minor {
		return v.minor < o.minor
	}
	return v.patch < o.patch
}

// kernel returns the version that runs, zeros where it cannot be told.
var kernel = sync.OnceValue(func() version {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return version{}
	}
	release, _, _ := bytes.Cut(u.Release[:], []byte{0})
	return parseVersion(release)
})

// parseVersion reads the numbers at the start of a release such as "6.18.44-lts".
func parseVersion(release []byte) (v version) {
	for i, part := range bytes.SplitN(release, []byte("."), 3) {
		digits := 0
		for digits < len(part) && part[digits] >= '0' && part[digits] <= '9' {
			digits++
		}
		n, err := strconv.Atoi(string(part[:digits]))
		if err != nil {
			break
		}
		*[]*int{&v.major, &v.minor, &v.patch}[i] = n
	}
	return v
}

// The first kernels that do it well. Both options are older by a little, but before 5.12 the
// receiving one could not be read back, and was said to be shaky.
var (
	segmentsFrom = version{5, 0, 0}
	joinsFrom    = version{5, 12, 0}
)

// Kernels from brokenFrom on damage segmented sends on some network cards, if all segments
// have one size; those from mendedFrom on do not. This machine cannot see the damage, only
// the loss. Where an older kernel was given the same fault, RAKNET_DISABLE_GSO helps.
var brokenFrom, mendedFrom = version{7, 0, 0}, version{7, 1, 5}

// canSegment reports whether the kernel v cuts a message of the socket into datagrams.
func canSegment(fd int, v version) bool {
	if v.before(segmentsFrom) || !v.before(brokenFrom) && v.before(mendedFrom) {
		return false
	}
	if _, err := unix.GetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_SEGMENT); err != nil {
		return false
	}
	// A kernel in name only may read the option and not know it. What is set must be unset, or
	// everything would be cut.
	if unix.SetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_SEGMENT, 1400) != nil {
		return false
	}
	return unix.SetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_SEGMENT, 0) == nil
}

// knownToSegment are the IP versions for whose sockets the kernel was seen to do it: 4, and 6. It is the same
// for every socket, and three system calls to find out.
var knownToSegment [2]atomic.Bool

// segments reports whether the kernel that runs cuts a message of the socket into datagrams.
func segments(fd int, v6 bool) bool {
	known := &knownToSegment[0]
	if v6 {
		known = &knownToSegment[1]
	}
	if !known.Load() && canSegment(fd, kernel()) {
		known.Store(true)
	}
	return known.Load()
}

// joinReceived makes the kernel v hand over datagrams of one size that came from one peer in
// a row as one message, and reports whether it will.
func joinReceived(fd int, v version) bool {
	if v.before(joinsFrom) {
		return false
	}
	return unix.SetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_GRO, 1) == nil
}

// countDrops makes the kernel tell how many datagrams found the receive buffer full, and
// reports whether it will.
func countDrops(fd int) bool {
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1) == nil
}

// enablePacketInfo makes the kernel tell which of this machine's addresses each datagram
// was sent to.
func enablePacketInfo(fd int, v6 bool) bool {
	err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_PKTINFO, 1)
	if v6 {
		// On such a socket the IPv4 option is for the IPv4 part of the traffic alone.
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1)
	}
	return err == nil
}
