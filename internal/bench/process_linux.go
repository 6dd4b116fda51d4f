package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is an end, seen from the program that started it.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *json.Decoder
	stderr bytes.Buffer
	role   string
	hello  Hello
}

// start starts an end and waits until it is ready. The caller must end it.
func start(c Cell, role, address string) (*process, error) {
	c.Role, c.Address = role, address
	p := &process{role: role}
	if c.Library == enetName {
		program, err := enetProgram()
		if err != nil {
			return nil, err
		}
		p.cmd = exec.Command(program, role, string(c.Work), address, fmt.Sprint(c.Size), fmt.Sprint(c.Count))
	} else {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(c)
		if err != nil {
			return nil, err
		}
		p.cmd = exec.Command(self, "end", string(text))
		p.cmd.Env = environment(c.Library)
	}
	// It ends with its input. Pdeathsig is for one that no longer reads that. With a session of
	// its own it has a priority of its own.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
	p.cmd.Stderr = &p.stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = json.NewDecoder(out)
	if err := startFirst(p.cmd); err != nil {
		return nil, err
	}
	if err = p.answer(&p.hello, helloTime); err == nil && p.hello.Error != "" {
		err = errors.New(p.hello.Error)
	}
	if err != nil {
		p.end()
		return nil, fmt.Errorf("the %s did not start: %w%s", role, err, p.said())
	}
	return p, nil
}

// priority is that of both ends, so that what else the machine does changes the figures less.
const priority = -15

// startFirst starts a process that runs before others, where that is allowed.
func startFirst(cmd *exec.Cmd) error {
	// Threads have the priority of the thread that starts them.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if unix.Setpriority(unix.PRIO_PROCESS, 0, priority) == nil {
		defer func() { _ = unix.Setpriority(unix.PRIO_PROCESS, 0, 0) }()
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	// Where the system gives sessions equal shares, the priority is within one only.
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", cmd.Process.Pid), fmt.Append(nil, priority), 0)
	return nil
}

// environment is this process's, without what would change how libraries work, and with
// what makes the library work as its name says.
func environment(name string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "RAKNET_") })
	if l, err := find(name); err == nil {
		env = append(env, l.env...)
	}
	return env
}

// answer reads a line, and kills the process when there is none for too long.
func (p *process) answer(to any, limit time.Duration) error {
	late := time.AfterFunc(limit, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	return p.out.Decode(to)
}

// order gives an order and returns the answer.
func (p *process) order(o Order) (l Look, err error) {
	text, err := json.Marshal(o)
	if err != nil {
		return l, err
	}
	if _, err = p.in.Write(append(text, '\n')); err == nil {
		err = p.answer(&l, lookTime+settleTime)
	}
	if err == nil && l.Error != "" {
		err = errors.New(l.Error)
	}
	if err != nil {
		p.end()
		err = fmt.Errorf("the %s: %w%s", p.role, err, p.said())
	}
	return l, err
}

// said returns what the process complained of, once it is dead.
func (p *process) said() string {
	if p.cmd.ProcessState == nil || p.stderr.Len() == 0 {
		return ""
	}
	return "\n" + p.stderr.String()
}

// endTime is how long a process has to end by itself.
const endTime = 5 * time.Second

// end ends the process.
func (p *process) end() {
	p.in.Close()
	late := time.AfterFunc(endTime, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	_ = p.cmd.Wait() // how it ended is of no interest: what it had to say it said
}
