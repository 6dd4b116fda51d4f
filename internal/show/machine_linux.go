package show

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Machine says where the measurements were made.
type Machine struct {
	Cores                     int
	CPU, Kernel, Go, OS       string
	Revision                  string            // of this library
	Modules                   map[string]string // versions of the others
	ReceiveBuffer, LoadBefore string
}

// ThisMachine describes this machine, with the versions of the modules named.
func ThisMachine(modules ...string) Machine {
	m := Machine{Cores: runtime.NumCPU(), Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH, Modules: map[string]string{}, LoadBefore: Load()}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		m.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	m.ReceiveBuffer = firstLine("/proc/sys/net/core/rmem_max")
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			m.CPU = strings.TrimSpace(value)
			break
		}
	}
	if out, err := exec.Command("git", "describe", "--always", "--dirty", "--abbrev=7", "--exclude", "*").Output(); err == nil {
		m.Revision = strings.TrimSpace(string(out))
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if slices.Contains(modules, d.Path) {
				m.Modules[d.Path] = d.Version
			}
		}
	}
	return m
}

// Load returns the load averages of 1, 5 and 15 minutes.
func Load() string {
	f := strings.Fields(firstLine("/proc/loadavg"))
	return strings.Join(f[:min(len(f), 3)], " ")
}

func firstLine(name string) string {
	text, _ := os.ReadFile(name)
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}
