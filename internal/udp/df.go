package udp

import (
	"net"
	"syscall"
)

// dfOption is a socket option that forbids fragmentation, and the value that does.
type dfOption struct {
	socketOption
	forbid int
	v6     bool // for IPv6 alone
}

// dontFragment switches the "don't fragment" rule of a UDP socket. A socket that never
// sends a probe is never touched.
type dontFragment struct {
	rc     syscall.RawConn // nil: not possible
	on     bool
	v4     bool  // what leaves is IPv4 alone
	before []int // values before the first switch, of dfOptions; -1: not there
}

func (d *dontFragment) init(c *net.UDPConn) {
	if rc, err := c.SyscallConn(); err == nil && len(dfOptions) > 0 {
		d.rc, d.v4 = rc, isIPv4Only(c)
	}
}

// set makes datagrams from now on go out whole or not at all, or as the system would by
// itself. Of a socket for both IP versions each has its own options, and one version's may
// fail on a socket of the other: what cannot be set stays as it is.
func (d *dontFragment) set(on bool) {
	if d.on == on || d.rc == nil {
		return
	}
	d.on = on
	// An error means that the socket is closed, which the send will tell.
	_ = d.rc.Control(func(fd uintptr) {
		if d.before == nil {
			d.before = make([]int, len(dfOptions))
			for i, o := range dfOptions {
				d.before[i] = -1
				if d.v4 && o.v6 {
					continue
				}
				if v, err := o.get(fd); err == nil {
					d.before[i] = v
				}
			}
		}
		for i, o := range dfOptions {
			if d.before[i] < 0 {
				continue
			}
			v := d.before[i]
			if on {
				v = o.forbid
			}
			_ = o.set(fd, v)
		}
	})
}
