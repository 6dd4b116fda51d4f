package udp

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// vigil is how a reader waits while datagrams come one soon after the other: in a system call, and
// not in Go's poller. There each wait parks a goroutine, lets the thread look for others
// and wait in epoll, wakes the runtime's monitor, and has all of it undone when the datagram
// comes, which is most of what a message there and back takes beside the system's own work.
//
// It waits in the call that receives, where the system counts time in its ticks. To wait in poll for a part
// of a millisecond costs 4 us more for each datagram, since a timer of that precision is set and
// taken back, which a virtual machine has to ask its host for.
//
// It is for a quiet socket, whose datagrams then wake nobody else. A thread that waits so keeps a
// processor's place from other goroutines until the monitor takes it away, as with every
// system call that waits: so no more than half of the places are ever given to vigils, and a reader
// who waited long goes back to the poller. An interrupt comes two ticks late at most, 8 ms where there are
// 250 in a second.
type vigil struct {
	q     *quiet
	on    atomic.Bool // it holds one of the places
	quick int8        // waits in the poller that were short, in a row
	heavy int8        // reads that brought much in pieces, in a row
	lone  bool        // the last wait in the system was one, and brought one message: the next makes room for no more
	since time.Time   // when the wait in the poller or the system began; zero: none did
}

const (
	// vigilTime is how long a wait may be for the vigil to go on. Arbitrary, but with a third of it, and a quarter of vigilQuick, vigils seldom
	// began where the two ends of an exchange have different processors, which is slow to begin with.
	vigilTime = time.Millisecond
	// vigilWait is how long a call that waits takes at least, and one that need not at most. Arbitrary.
	vigilWait = 3 * time.Microsecond
	// vigilAfter waits in the poller that each took less than vigilQuick begin a vigil. Both arbitrary.
	vigilAfter = 8
	vigilQuick = 400 * time.Microsecond
	// Where the kernel does not join datagrams a transfer wakes its reader for each few of them, and each
	// time draws an ACK. So after heavyAfter reads of heavyBytes or more the reader naps, heavyNap and the
	// 60 us by which the system is late, before it waits: fewer wake-ups and ACKs are worth
	// a part of a millisecond. All arbitrary but the nap: shorter ones win nothing, longer ones less.
	heavyAfter = 16
	heavyBytes = 4 << 10
	heavyNap   = 120 * time.Microsecond
)

// vigils counts those of the process.
var vigils atomic.Int32

// waits reports whether the call that receives shall wait. Where it cannot, waits has waited itself. Only
// the reader may call it, with the socket not closed.
func (v *vigil) waits(fd uintptr) bool {
	if v.q != nil && v.q.patient {
		v.since = time.Now()
		return true
	}
	if !v.glance(fd, vigilTime) {
		v.end()
	}
	return false
}

// refusesToWait reports whether that is why a call that waits failed. Sandboxes that play the system's part know
// fewer flags (gVisor does not know MSG_WAITFORONE).
func refusesToWait(why syscall.Errno) bool {
	switch why {
	case unix.EINVAL, unix.EOPNOTSUPP, unix.ENOSYS, unix.EPERM:
		return true
	}
	return false
}

// glance waits for at most d, and reports whether there is something to read. The vigil goes on.
func (v *vigil) glance(fd uintptr, d time.Duration) bool {
	fds := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	timeout := unix.NsecToTimespec(int64(d))
	for {
		n, err := unix.Ppoll(fds[:], &timeout, nil)
		if err == unix.EINTR {
			continue // the runtime wants the goroutine to give way, as it does when the call has returned
		}
		return n > 0 && err == nil
	}
}

// weigh notes what a read brought, and whether any of it was joined.
func (v *vigil) weigh(bytes int, joined bool) {
	if v.heavy = min(v.heavy+1, heavyAfter); joined || bytes < heavyBytes {
		v.heavy = 0
	}
}

// naps sleeps if it is worth it, and reports whether it did.
func (v *vigil) naps() bool {
	if v.heavy < heavyAfter {
		return false
	}
	nap(heavyNap)
	return true
}

// parks notes that the reader is about to wait in the poller.
func (v *vigil) parks() {
	if v.q != nil {
		v.since = time.Now()
	}
}

// came notes that so many messages were read, and begins a vigil if it is time for one, or ends that of a
// reader who has waited long. It reports whether the wait was part of a vigil.
func (v *vigil) came(messages int) (kept bool) {
	if v.since.IsZero() {
		return false
	}
	took := time.Since(v.since)
	v.since = time.Time{}
	if v.on.Load() {
		v.judge(messages, took)
		return true
	}
	if v.quick++; took > vigilQuick {
		v.quick = 0
	}
	if v.quick < vigilAfter {
		return false
	}
	v.quick = 0
	if vigils.Add(1) > int32(runtime.GOMAXPROCS(0)/2) {
		vigils.Add(-1)
		return false
	}
	v.lone = false
	v.on.Store(true)
	v.q.silence(true)
	return false
}

// judge draws conclusions from a wait in the system.
func (v *vigil) judge(messages int, took time.Duration) {
	if v.lone = messages == 1 && took > vigilWait; took > vigilTime {
		v.end()
	}
}

// end ends the vigil, if there is one: the poller is told of datagrams again.
func (v *vigil) end() {
	if v.drop() {
		v.q.silence(false)
	}
}

// drop is end for a socket that is closed, or of whose datagrams nobody is to be told. Anybody may
// call it once nobody reads.
func (v *vigil) drop() bool {
	held := v.on.Swap(false)
	if held {
		vigils.Add(-1)
	}
	return held
}
