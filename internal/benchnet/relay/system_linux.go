package relay

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// CPUTime returns how long this process has used processors.
func CPUTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// AllCPUTime returns how long all programs of this machine have used processors, or kept
// them from it as the host of a virtual machine does.
func AllCPUTime() time.Duration {
	const ticks = 100 // a second
	text, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(text), "\n")
	sum := time.Duration(0)
	for i, f := range strings.Fields(line) {
		// user, nice, system, idle, iowait, irq, softirq, steal; the rest is counted in user
		if n, err := strconv.ParseInt(f, 10, 64); err == nil && i != 4 && i != 5 && i <= 8 {
			sum += time.Duration(n) * time.Second / ticks
		}
	}
	return sum
}

// SocketDrops returns how many datagrams the UDP sockets of this machine dropped because
// their receive buffers were full, by local port.
func SocketDrops() map[uint16]uint64 {
	drops := map[uint16]uint64{}
	for _, name := range []string{"/proc/net/udp", "/proc/net/udp6"} {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) < 13 {
				continue
			}
			_, port, _ := strings.Cut(f[1], ":")
			p, err := strconv.ParseUint(port, 16, 16)
			if err != nil {
				continue
			}
			n, _ := strconv.ParseUint(f[len(f)-1], 10, 64)
			drops[uint16(p)] += n
		}
	}
	return drops
}
