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
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Server, real sessions, attackers and dialer are processes of their own, this program once more,
// so that the processor time and the memory of each are its own. They are given orders on their
// input, one JSON object a line, answer each on their output, and end with their input.

// The roles.
const (
	roleServer   = "server"
	roleCrowd    = "crowd"
	roleAttacker = "attacker"
	roleVictim   = "victim"
)

// roles are what a process does with an order.
var roles = map[string]func() role{
	roleServer:   func() role { return &server{} },
	roleCrowd:    func() role { return &crowd{} },
	roleAttacker: func() role { return &attacker{} },
	roleVictim:   func() role { return &victim{} },
}

type role interface {
	obey(o *Order) (Answer, error)
	// close lets go of everything that was opened.
	close()
}

// Order is what a process is told to do. Each uses what its operation needs.
type Order struct {
	Op                    string
	Target                string     `json:",omitempty"` // address of the server
	Kind                  attackKind `json:",omitempty"`
	Name                  string     `json:",omitempty"` // of the attack
	Sessions              int        `json:",omitempty"`
	Rate                  int        `json:",omitempty"` // datagrams a second, 0: as many as there can be
	Count                 uint64     `json:",omitempty"` // datagrams, 0: no bound
	Time                  time.Duration
	Least                 time.Duration `json:",omitempty"` // not less, however many that makes
	Victims               []string      `json:",omitempty"`
	Collect, Probe, Once  bool
	Stall, Unacked, Greet time.Duration // of the server's timeouts; 0: their defaults
}

// Answer is what it says then.
type Answer struct {
	Error   string   `json:",omitempty"`
	Address string   `json:",omitempty"`
	List    []string `json:",omitempty"`
	Look    *Look    `json:",omitempty"`
	Crowd   *Crowd   `json:",omitempty"`
	Attack  *Attack  `json:",omitempty"`
	Dial    *Dial    `json:",omitempty"`
}

// runRole obeys orders until the input ends.
func runRole(name string, in io.Reader, out io.Writer) error {
	make, ok := roles[name]
	if !ok {
		return fmt.Errorf("no role %q", name)
	}
	r := make()
	defer r.close()
	orders, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var o Order
		if err := orders.Decode(&o); errors.Is(err, io.EOF) {
			return nil // whoever gave orders is gone
		} else if err != nil {
			return err
		}
		a, err := r.obey(&o)
		if err != nil {
			a.Error = err.Error()
		}
		if err := answers.Encode(&a); err != nil {
			return err
		}
	}
}

// agent is somebody with a role.
type agent struct {
	role string
	tell func(o *Order) (Answer, error)
	end  func() (said string) // ends it and returns what it complained of
}

// order gives an order and returns the answer.
func (a *agent) order(o Order) (Answer, error) {
	answer, err := a.tell(&o)
	if err == nil && answer.Error != "" {
		err = errors.New(answer.Error)
	}
	if err != nil {
		err = fmt.Errorf("%s, told to %s %s: %w", a.role, o.Op, o.Name, err)
	}
	return answer, err
}

// recruit finds somebody for a role, who may be one to whom others do not lose the processors.
type recruit func(name string, idle bool, env ...string) (*agent, error)

// process is an agent that is a process of its own.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	orders *json.Encoder
	out    *json.Decoder
	stderr bytes.Buffer
}

// startProcess is a recruit that starts a process.
func startProcess(name string, idle bool, env ...string) (*agent, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	a := &process{cmd: exec.Command(self, "role", name)}
	a.cmd.Env = append(os.Environ(), env...)
	// It ends with its input. Pdeathsig is for one that no longer reads that.
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	a.cmd.Stderr = &a.stderr
	if a.in, err = a.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	a.orders, a.out = json.NewEncoder(a.in), json.NewDecoder(out)
	// The parent's death is that of the thread that started the child.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := a.cmd.Start(); err != nil {
		return nil, err
	}
	if idle {
		leaveProcessors(a.cmd.Process.Pid)
	}
	return &agent{name, a.tell, a.end}, nil
}

// leaveProcessors makes a process run when nobody else wants to. A high nice value is not enough: who has that
// is not interrupted at once when somebody wakes up. Threads take after the one that starts them.
func leaveProcessors(pid int) {
	done := make(map[int]bool)
	for more := true; more; {
		more = false
		threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil {
			return
		}
		for _, t := range threads {
			tid, err := strconv.Atoi(t.Name())
			if err == nil && !done[tid] {
				done[tid], more = true, true
				_ = unix.SchedSetAttr(tid, &unix.SchedAttr{Policy: unix.SCHED_IDLE}, 0) // a matter of the delays alone
			}
		}
	}
}

// orderTime is how long an order may take beyond the time that it asks for.
const orderTime = 60 * time.Second

func (a *process) tell(o *Order) (answer Answer, err error) {
	late := time.AfterFunc(o.Time+orderTime, func() { _ = a.cmd.Process.Kill() })
	defer late.Stop()
	if err = a.orders.Encode(o); err == nil {
		err = a.out.Decode(&answer)
	}
	return answer, err
}

func (a *process) end() string {
	a.in.Close()
	late := time.AfterFunc(5*time.Second, func() { _ = a.cmd.Process.Kill() })
	defer late.Stop()
	_ = a.cmd.Wait() // how it ended is of no interest: what it had to say it said
	return a.stderr.String()
}
