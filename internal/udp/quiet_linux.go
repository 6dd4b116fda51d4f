package udp

import (
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// quiet waits for a socket's datagrams, and for nothing else. Go's poller has every socket tell
// of room to send as well: each datagram that somebody takes wakes the process that sent it,
// which costs more than to send it. So the socket is taken away from the poller and put into
// an epoll instance of its own, which asks for datagrams alone, and which the poller watches.
// It can be silenced, too, for a reader who naps.
type quiet struct {
	addr net.Addr
	wait *os.File              // the epoll instance
	rc   syscall.RawConn       // its
	read func(fd uintptr) bool // the reader's: what Read was given
	call func(ep uintptr) bool // which calls it, as a value made once

	mu     sync.RWMutex // held for reading while fd is used, but by who waits
	fd     int
	ep     int
	closed bool // under mu
	dialed bool // it counts among quietDialed

	patient bool // a call that receives may wait in the system, for a tick or two
}

// quietDialed counts the dialed sockets that are quiet, of which there are at most maxQuietDialed: each
// takes two descriptors, and of those a process has a limited number. Beyond it sockets are left to
// the poller. Arbitrary.
var quietDialed atomic.Int32

const maxQuietDialed = 512

// writeWait is how long a write waits at once while the system's send buffer is full: then it
// looks whether the socket was closed. Arbitrary.
const writeWait = 10 * time.Millisecond

// newQuiet takes the socket of c over, and closes c if it succeeds.
func newQuiet(c *net.UDPConn) (made *quiet, err error) {
	rc, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	q := &quiet{addr: c.LocalAddr(), fd: -1, ep: -1}
	q.call = func(uintptr) bool { return q.read(uintptr(q.fd)) }
	defer func() {
		if err != nil {
			q.release()
		}
	}()
	var failed error
	err = rc.Control(func(fd uintptr) {
		q.fd, failed = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
	})
	if err = firstOf(err, failed); err != nil {
		return nil, err
	}
	if q.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, err
	}
	if err = unix.SetNonblock(q.ep, true); err != nil { // what makes the poller take it
		return nil, err
	}
	if err = q.listen(); err != nil {
		return nil, err
	}
	ep := q.ep
	q.wait = os.NewFile(uintptr(ep), "epoll")
	if q.rc, err = q.wait.SyscallConn(); err != nil {
		return nil, err
	}
	if err = q.wait.SetReadDeadline(time.Time{}); err != nil { // the poller did not take it
		return nil, err
	}
	c.Close()
	tick := unix.NsecToTimeval(int64(time.Microsecond)) // the least there is: a call may wait until the next one but one
	q.patient = unix.SetsockoptTimeval(q.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tick) == nil &&
		unix.SetNonblock(q.fd, false) == nil
	return q, nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// listen makes the epoll instance wait for datagrams.
func (q *quiet) listen() error {
	return unix.EpollCtl(q.ep, unix.EPOLL_CTL_ADD, q.fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(q.fd)})
}

// silence lets nobody be told of datagrams, or has them told again, those that came meanwhile at
// once.
func (q *quiet) silence(on bool) {
	q.mu.RLock()
	defer q.mu.RUnlock()
	switch {
	case q.closed:
	case on:
		// To take it out and not to change what it is asked for: of one that is said to be
		// ready, since nobody looked, a change would tell nobody.
		_ = unix.EpollCtl(q.ep, unix.EPOLL_CTL_DEL, q.fd, &unix.EpollEvent{}) // it is there
	default:
		_ = q.listen() // it was there before
	}
}

// Read calls f, which reads, until it returns true, and waits for datagrams in between.
func (q *quiet) Read(f func(fd uintptr) (done bool)) error {
	// Close waits until nobody is in here, and takes the socket away afterwards.
	q.read = f
	err := q.rc.Read(q.call)
	if err != nil && q.isClosed() {
		return net.ErrClosed
	}
	return err
}

// Write calls f, which writes, until it returns true, and waits for room in between.
func (q *quiet) Write(f func(fd uintptr) (done bool)) error {
	for {
		done, err := q.tryWrite(f)
		if done || err != nil {
			return err
		}
	}
}

func (q *quiet) tryWrite(f func(fd uintptr) (done bool)) (bool, error) {
	q.mu.RLock()
	defer q.mu.RUnlock()
	if q.closed {
		return false, net.ErrClosed
	}
	if f(uintptr(q.fd)) {
		return true, nil
	}
	fds := [1]unix.PollFd{{Fd: int32(q.fd), Events: unix.POLLOUT}}
	_, _ = unix.Poll(fds[:], int(writeWait/time.Millisecond))
	return false, nil
}

// Control calls f.
func (q *quiet) Control(f func(fd uintptr)) error {
	q.mu.RLock()
	defer q.mu.RUnlock()
	if q.closed {
		return net.ErrClosed
	}
	f(uintptr(q.fd))
	return nil
}

func (q *quiet) isClosed() bool {
	q.mu.RLock()
	defer q.mu.RUnlock()
	return q.closed
}

func (q *quiet) LocalAddr() net.Addr { return q.addr }

func (q *quiet) SetReadDeadline(t time.Time) error {
	err := q.wait.SetReadDeadline(t)
	if err != nil && q.isClosed() {
		return net.ErrClosed
	}
	return err
}

// Close ends whoever reads or writes.
func (q *quiet) Close() error {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return net.ErrClosed
	}
	q.closed = true
	q.mu.Unlock()
	q.release()
	return nil
}

// release gives back what there is.
func (q *quiet) release() {
	if q.dialed {
		quietDialed.Add(-1)
	}
	if q.patient {
		_ = unix.Shutdown(q.fd, unix.SHUT_RD) // ends a wait, even if it says that there is no connection
	}
	switch {
	case q.wait != nil:
		q.wait.Close() // when it returns nobody reads
	case q.ep >= 0:
		unix.Close(q.ep)
	}
	if q.fd >= 0 {
		unix.Close(q.fd)
	}
}
