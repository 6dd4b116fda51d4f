package script

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/raknet-go/raknet/internal/arq"
	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/session"
	"github.com/raknet-go/raknet/protocol"
)

// do carries out one command.
func (w *world) do(line string) error {
	words, err := split(line)
	if err != nil {
		return err
	}
	name, words := words[0], words[1:]
	rest := strings.TrimPrefix(strings.TrimPrefix(line, name), " ")
	switch name {
	case "set":
		return w.set(newFields(words))
	case "listen":
		return w.listen(newFields(words))
	case "dial":
		return w.dialWith(newFields(words))
	case "connect":
		return w.connect(newFields(words))
	case "warm":
		return w.warm()
	case "run":
		d, err := time.ParseDuration(strings.Join(words, ""))
		if err != nil {
			return err
		}
		return w.run(w.now.Add(d), nil)
	case "quietly":
		return w.quietly(rest)
	case "repeat":
		return w.repeat(words)
	case "expect":
		return w.expect(words)
	}
	if len(words) == 0 {
		return errors.New("unknown command, or no side given")
	}
	s, err := parseSide(words[0])
	if err != nil {
		return err
	}
	f := words[1:]
	switch name {
	case "send", "queue":
		return w.send(s, newFields(f), name == "queue")
	case "inject":
		return w.inject(s, f)
	case "drop", "hold", "dup", "delay", "corrupt":
		return w.rule(name, s, newFields(f))
	case "pass":
		w.path.rules[s] = nil
		return nil
	case "release":
		return w.release(s, f)
	case "stats":
		return w.stats(s, f)
	}
	n, err := w.node(s)
	if err != nil {
		return err
	}
	switch name {
	case "flush":
		n.held = false
	case "close":
		n.conn.Close(w.now)
	case "abort":
		cause := error(nil)
		if len(f) > 0 {
			cause = errors.New(strings.Trim(f[0], `"`))
		}
		n.conn.Abort(w.now, cause)
	case "deaf":
		n.user().deaf = true
	case "read":
		limit := -1
		if len(f) > 0 {
			if limit, err = strconv.Atoi(f[0]); err != nil {
				return err
			}
		} else {
			n.user().deaf = false
		}
		n.read(limit)
	default:
		return errors.New("unknown command")
	}
	w.settle(s)
	return w.fault
}

func parseSide(s string) (side, error) {
	switch s {
	case "c":
		return client, nil
	case "s":
		return server, nil
	}
	return 0, fmt.Errorf("%q is neither c nor s", s)
}

// node returns the present connection of an end.
func (w *world) node(s side) (*node, error) {
	n := w.dialer.node
	if s == server {
		n = w.host.find(w.dialer.port)
	}
	if n == nil {
		return nil, fmt.Errorf("%v has no connection", s)
	}
	return n, nil
}

func (w *world) set(f *fields) error {
	a, t, l := &w.cfg.arq, &w.cfg.timing, &w.cfg.arq.Limits
	if f.has("counters") {
		n := f.number("counters", 0)
		a.FirstDatagram, a.FirstReliable, a.FirstOrder = n, n, n
	}
	a.FirstSplit = uint16(f.number("split", int64(a.FirstSplit)))
	if f.has("window") {
		a.Controller = arq.NewFixed(int(f.number("window", 0)))
	}
	switch name := f.text("congestion", ""); name {
	case "":
	case "sliding":
		a.Controller = arq.NewSliding
	case "cubic":
		a.Controller = arq.NewCubic
	case "model":
		a.Controller = arq.NewModel
	default:
		f.fail("congestion", name, "sliding, cubic or model")
	}
	l.ReceiveBuffer = int(f.number("receive-buffer", int64(l.ReceiveBuffer)))
	l.HeldMessages = int(f.number("held-messages", int64(l.HeldMessages)))
	l.ReassemblyGroups = int(f.number("groups", int64(l.ReassemblyGroups)))
	for _, d := range []struct {
		name  string
		value *time.Duration
	}{
		{"unreliable-age", &l.UnreliableAge}, {"reassembly-age", &l.ReassemblyAge}, {"handshake", &t.Handshake}, {"idle", &t.Idle},
		{"ping", &t.Ping}, {"unacked", &t.Unacked}, {"drain", &t.Drain}, {"farewell", &t.Farewell},
		{"linger", &t.Linger}, {"stall", &t.ReceiveStall}, {"path-delay", &w.path.delay},
	} {
		*d.value = f.duration(d.name, *d.value)
	}
	w.path.mtu = int(f.number("path-mtu", int64(w.path.mtu)))
	return f.done()
}

func (w *world) listen(f *fields) error {
	cfg := offline.ServerConfig{GUID: serverGUID, Key: cookieKey, MaxMTU: int(f.number("mtu", 0))}
	switch v := f.text("cookies", "on"); v {
	case "on":
	case "off":
		cfg.Cookies = offline.CookiesOff
	default:
		f.fail("cookies", v, "on or off")
	}
	for _, v := range strings.Split(f.text("versions", "10,11"), ",") {
		n, err := strconv.Atoi(v)
		if err != nil {
			return err
		}
		cfg.Versions = append(cfg.Versions, byte(n))
	}
	w.host.refuse = 0
	if f.has("refuse") {
		v := f.text("refuse", "")
		id, ok := refusalNames[v]
		if !ok {
			f.fail("refuse", v, "a refusal")
		}
		w.host.refuse = byte(id)
	}
	if err := f.done(); err != nil {
		return err
	}
	w.host.listening = true
	w.host.offline.Init(w.now, &cfg)
	return nil
}

func (w *world) dialWith(f *fields) error {
	cfg := offline.ClientConfig{Version: byte(f.number("version", 0)), MaxMTU: int(f.number("mtu", 0))}
	if err := f.done(); err != nil {
		return err
	}
	w.dialer.dial(&cfg)
	return w.fault
}

// connect plays a whole handshake, which it does not show, and goes on to the next tenth
// of a second.
func (w *world) connect(f *fields) error {
	cfg := offline.ClientConfig{MaxMTU: int(f.number("mtu", 0))}
	if err := f.done(); err != nil {
		return err
	}
	w.quiet = true
	defer func() { w.quiet = false }()
	if err := w.listen(newFields(nil)); err != nil {
		return err
	}
	w.dialer.dial(&cfg)
	if err := w.run(w.now.Add(time.Second), func() bool {
		c, s := w.dialer.node, w.host.find(w.dialer.port)
		return c != nil && s != nil && c.conn.State() == session.Connected && s.conn.State() == session.Connected
	}); err != nil {
		return err
	}
	n, err := w.node(client)
	if err != nil || n.conn.State() != session.Connected {
		return errors.New("no connection came about")
	}
	if err := w.toNextTenth(); err != nil {
		return err
	}
	w.quiet = false
	w.say("", "both are connected, mtu %d", n.conn.MTU())
	return nil
}

// toNextTenth goes on to a time that is a whole number of 100 ms.
func (w *world) toNextTenth() error {
	const tenth = 100 * time.Millisecond
	passed := w.now.Sub(start)
	return w.run(start.Add((passed/tenth+1)*tenth), nil)
}

// warm exchanges datagrams for a second, so that both ends know the path and no
// longer acknowledge at once as they do in the beginning.
func (w *world) warm() error {
	w.quiet = true
	defer func() { w.quiet = false }()
	for range 20 {
		for _, s := range []side{client, server} {
			if err := w.send(s, newFields([]string{"unreliable", `"warm"`}), false); err != nil {
				return err
			}
		}
		if err := w.run(w.now.Add(40*time.Millisecond), nil); err != nil {
			return err
		}
	}
	if err := w.toNextTenth(); err != nil {
		return err
	}
	w.users[client].got, w.users[server].got = nil, nil
	w.quiet = false
	w.say("", "both know the path")
	return nil
}

func (w *world) send(s side, f *fields, hold bool) error {
	n, err := w.node(s)
	if err != nil {
		return err
	}
	mode, err := parseMode(f.word())
	if err != nil {
		return err
	}
	m := arq.Message{Reliability: mode, Channel: uint8(f.number("ch", 0)), ReceiptID: uint64(f.number("receipt", 0))}
	switch v := f.text("prio", "immediate"); v {
	case "immediate":
		m.Priority = protocol.PriorityImmediate
	case "high":
		m.Priority = protocol.PriorityHigh
	case "medium":
		m.Priority = protocol.PriorityMedium
	case "low":
		m.Priority = protocol.PriorityLow
	default:
		f.fail("prio", v, "a priority")
	}
	if m.Payload, err = readPayload(f.word()); err != nil {
		return err
	}
	if err := f.done(); err != nil {
		return err
	}
	if err := n.conn.Send(w.now, &m); err != nil {
		n.say("cannot send: %v", err)
	}
	n.held = hold
	if !hold {
		w.settle(s)
	}
	return w.fault
}

// inject lets an end receive a datagram that nobody sent.
func (w *world) inject(s side, words []string) error {
	data, err := readDatagram(words)
	if err != nil {
		return err
	}
	lines := showDatagram(data)
	w.say("*->"+s.String(), "%s", lines[0])
	for _, l := range lines[1:] {
		w.more("%s", l)
	}
	w.arrive(flight{from: s.other(), port: w.dialer.port, data: data})
	w.settle(s)
	return w.fault
}

func (w *world) rule(action string, s side, f *fields) error {
	r := rule{action: action, by: f.duration("by", 0), byte: int(f.number("byte", 0))}
	switch count := f.word(); count {
	case "all":
		r.count = -1
	default:
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is neither a number of datagrams nor all", count)
		}
		r.count = n
	}
	r.what = f.word()
	if err := checkWhat(r.what); err != nil {
		return err
	}
	w.path.rules[s] = append(w.path.rules[s], r)
	return f.done()
}

// release lets held datagrams arrive now, one after the other.
// Together they are one batch.
func (w *world) release(s side, order []string) error {
	together := len(order) > 0 && order[0] == "together"
	if together {
		order = order[1:]
	}
	flights, err := w.path.release(s, order)
	if err != nil {
		return err
	}
	for _, f := range flights {
		w.say(s.String()+"->"+s.other().String(), "%s -- arrives", fieldsOf(f.data)[0])
		w.arrive(f)
		if !together {
			w.settle(s.other())
		}
	}
	w.settle(s.other())
	return w.fault
}

// quietly does a command and tells only how many datagrams it took.
func (w *world) quietly(line string) error {
	w.quiet, w.count = true, [2]int{}
	err := w.do(line)
	w.quiet = false
	w.say("", "(%d datagrams from c, %d from s)", w.count[client], w.count[server])
	return err
}

// repeat does a command several times; %d in it is the number of the turn.
func (w *world) repeat(words []string) error {
	if len(words) < 2 {
		return errors.New("repeat needs a number and a command")
	}
	n, err := strconv.Atoi(words[0])
	if err != nil {
		return err
	}
	line := strings.Join(words[1:], " ")
	for i := 1; i <= n; i++ {
		if err := w.do(strings.ReplaceAll(line, "%d", strconv.Itoa(i))); err != nil {
			return err
		}
	}
	return nil
}

// expect checks what must hold whatever was recorded.
func (w *world) expect(words []string) error {
	if len(words) < 2 {
		return errors.New("expect needs a side and what to expect")
	}
	s, err := parseSide(words[0])
	if err != nil {
		return err
	}
	u, what, want := &w.users[s], words[1], words[2:]
	var have []string
	switch what {
	case "got":
		have, u.got = u.got, nil
	case "receipts":
		have, u.receipts = u.receipts, nil
	case "state":
		have = []string{u.state}
	case "closed":
		have = []string{strconv.Quote(u.closed)}
	default:
		return fmt.Errorf("%q is none of got, receipts, state and closed", what)
	}
	if len(want) == 1 && want[0] == "nothing" {
		want = nil
	}
	if !slices.Equal(have, want) {
		return fmt.Errorf("is %v", have)
	}
	return nil
}

func (w *world) stats(s side, names []string) error {
	n, err := w.node(s)
	if err != nil {
		return err
	}
	var st session.Stats
	n.conn.Stats(&st)
	all := map[string]any{
		"rtt": st.RTT, "window": st.CongestionWindow, "in-flight": st.BytesInFlight, "queued": st.SendQueueBytes,
		"lost": st.DatagramsLost, "spurious": st.SpuriousLosses, "resent": st.FramesResent, "probes": st.Probes,
		"expired": st.MessagesExpired, "duplicates": st.DuplicatesReceived, "stale": st.Stale, "refused": st.DatagramsRefused,
		"dropped": st.FramesDropped, "violations": st.Violations, "sent": st.MessagesSent, "received": st.MessagesReceived,
		"unread": st.UnreadBytes,
	}
	var line []string
	for _, name := range names {
		v, ok := all[name]
		if !ok {
			return fmt.Errorf("no counter %q", name)
		}
		line = append(line, fmt.Sprintf("%s=%v", name, v))
	}
	n.say("%s", strings.Join(line, " "))
	return nil
}
