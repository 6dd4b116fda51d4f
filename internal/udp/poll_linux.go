package udp

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Poll implements Poller.
func (s *batch) Poll(in []Inbound) (int, error) { return s.r.poll(s.rc, in) }

// More implements Poller.
func (s *batch) More() bool { return s.r.filled }

// Wakeful implements Poller.
func (s *batch) Wakeful() bool { return s.r.vigil.on.Load() }

// Alone implements Poller.
func (s *batch) Alone(only bool) {
	w := &s.r.watch
	if w.alone = only; !only {
		w.row = 0
	}
}

// Glance implements Poller.
func (s *batch) Glance(in []Inbound, d time.Duration) (int, error) {
	s.r.glance = d
	defer func() { s.r.glance = 0 }()
	return s.r.read(s.rc, in)
}

// Nap implements Poller. The thread sleeps, and not the goroutine: the runtime's timers count in
// milliseconds while it has nothing else to do.
func (s *batch) Nap(d time.Duration) { nap(d) }

func nap(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&t, nil)
}

// Silence implements Poller.
func (s *batch) Silence(on bool) {
	if s.q != nil {
		s.r.vigil.drop() // who does not wait keeps no vigil
		s.q.silence(on)
	}
}

// poll returns what has come.
func (r *receiver) poll(rc syscall.RawConn, in []Inbound) (int, error) {
	r.in = in
	defer func() { r.in = nil }()
	err := rc.Read(r.ask)
	if err == nil && r.errno != 0 {
		err = os.NewSyscallError("recvmmsg", r.errno)
	}
	if err != nil {
		Release(in)
		return 0, err
	}
	return r.collect(), nil
}
