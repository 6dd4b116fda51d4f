package xray

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"github.com/raknet-go/raknet/internal/offline"
	"github.com/raknet-go/raknet/internal/wire"
	"github.com/raknet-go/raknet/protocol"
)

const (
	// tries is how often each question is asked that stays unanswered.
	tries = 3
	// interval is the time between.
	interval = 500 * time.Millisecond
	// settle is how long answers that were doubled on their way are waited out, lest
	// they be taken for those to the next question. Those to a question that was asked twice
	// are waited out for as long as the first one took, and half an interval.
	settle = 50 * time.Millisecond
	// MaxDatagrams bounds what is sent to a server in all: a ping, six versions and three sizes, each
	// three times.
	MaxDatagrams = (1 + len(versions) + len(protocol.ProbeMTUs)) * tries
	// maxErrors is how many errors of the socket are passed over while one answer is waited for.
	maxErrors = 10
	// readSize holds any datagram that a server may answer with.
	readSize = 2048
	// versionMTU is the size of the requests that ask for versions: one that every path carries.
	versionMTU = 576
)

// versions are those that were ever in use, newest first.
var versions = [...]byte{11, 10, 9, 8, 7, 6}

// Look asks the server at the other end of conn, every Read and Write of which is one
// datagram. guid is what the pings call their sender. It returns what was learned until ctx ended, with its error,
// or the socket failed.
func Look(ctx context.Context, conn net.Conn, guid int64) (Report, error) {
	e := eye{conn: conn, ctx: ctx, buf: make([]byte, readSize)}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	err := e.look(guid)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return e.Report, err
}

type eye struct {
	Report
	conn net.Conn
	ctx  context.Context
	buf  []byte
}

func (e *eye) look(guid int64) error {
	if err := e.ping(guid); err != nil {
		return err
	}
	for _, v := range versions {
		p, err := e.request(v, versionMTU)
		if err != nil {
			return err
		}
		e.Versions = append(e.Versions, p.version)
	}
	e.Spoken = spoken(e.Versions)
	ask := e.Spoken
	if ask == 0 {
		ask = protocol.VersionCurrent
	}
	for _, mtu := range protocol.ProbeMTUs {
		p, err := e.request(ask, mtu)
		if err != nil {
			return err
		}
		e.Probes = append(e.Probes, p.probe)
	}
	return nil
}

// spoken picks the version to go on with.
func spoken(all []Version) byte {
	for _, v := range all {
		if v.Answer == Accepted {
			return v.Version
		}
	}
	for _, v := range all {
		if v.Answer == Mismatch {
			return v.Speaks
		}
	}
	return 0
}

// stamp is the time in pings.
const stamp = 0x5ca1ab1e

func (e *eye) ping(guid int64) error {
	question := wire.UnconnectedPing{Time: stamp, HasGUID: true, GUID: guid}
	return e.ask(question.Append(nil), e.readPong)
}

// readPong reads an answer to a ping, and reports whether it is one.
func (e *eye) readPong(b []byte, rtt time.Duration) bool {
	var p wire.UnconnectedPong
	if p.Parse(b) != nil {
		return false
	}
	e.Pong = &Pong{GUID: p.GUID, Data: append([]byte{}, p.Data...), Size: len(b), TimeKept: p.Time == stamp, RoundTrip: rtt}
	switch rest := len(b) - 17 - wire.MagicSize; {
	case rest > len(p.Data):
		e.Pong.Form = FormLength
	case rest > 0:
		e.Pong.Form = FormRaw
	}
	return true
}

// opening is the answer to a request 1, seen as one to its version and to its size.
type opening struct {
	version Version
	probe   Probe
}

func (e *eye) request(version byte, mtu int) (o opening, err error) {
	o = opening{Version{Version: version}, Probe{MTU: mtu}}
	question := wire.OpenRequest1{Version: version, MTU: mtu}
	err = e.ask(question.Append(nil), func(b []byte, rtt time.Duration) bool { return o.take(b, rtt) })
	return o, err
}

// take reads an answer, and reports whether it is one.
func (o *opening) take(b []byte, rtt time.Duration) bool {
	var reply wire.OpenReply1
	var mismatch wire.IncompatibleVersion
	var refusal wire.Refusal
	switch {
	case reply.Parse(b) == nil:
		o.answer(Accepted)
		o.probe.Granted, o.probe.GUID, o.probe.Size, o.probe.RoundTrip = reply.MTU, reply.GUID, len(b), rtt
		o.probe.Security, o.probe.Cookie, o.probe.Libcat = reply.Security, reply.Cookie, reply.LibcatKey
	case mismatch.Parse(b) == nil:
		o.answer(Mismatch)
		o.version.Speaks, o.version.MagicFirst = mismatch.Version, !wire.HasMagic(b[2:])
	case refusal.Parse(b) == nil:
		o.answer(Refused)
		o.version.Reason = offline.RefusalFromID(protocol.ID(refusal.ID))
		o.probe.Reason = o.version.Reason
	default:
		return false
	}
	return true
}

func (o *opening) answer(a Answer) { o.version.Answer, o.probe.Answer = a, a }

// ask sends a question until take finds an answer to it, or nobody answers. Everything else that
// comes is passed over.
func (e *eye) ask(question []byte, take func(b []byte, rtt time.Duration) bool) error {
	begun := time.Now()
	for n := range tries {
		asked := time.Now()
		e.Sent++
		if _, err := e.conn.Write(question); err != nil && !passing(err) {
			return err
		}
		answered, err := e.listen(asked.Add(interval), func(b []byte) bool { return take(b, time.Since(asked)) })
		if err != nil {
			return err
		}
		if answered {
			over := time.Now().Add(settle)
			if n > 0 {
				over = asked.Add(time.Since(begun) + interval/2)
			}
			_, err = e.listen(over, func([]byte) bool { return false })
			return err
		}
	}
	return nil
}

// listen gives take what comes until a time, or until take says that it was enough.
func (e *eye) listen(until time.Time, take func([]byte) bool) (enough bool, err error) {
	if err := e.conn.SetReadDeadline(until); err != nil {
		return false, err
	}
	for failed := 0; ; {
		if err := e.ctx.Err(); err != nil {
			return false, err
		}
		n, err := e.conn.Read(e.buf)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return false, e.ctx.Err()
		case err != nil && (failed == maxErrors || !passing(err)):
			return false, err
		case err != nil:
			failed++ // nobody listens there, says the system; perhaps in a moment somebody does
			continue
		}
		e.Received++
		if take(e.buf[:n]) {
			return true, nil
		}
	}
}

// passing reports whether an error of the socket is of one datagram: refused at its destination, or
// too large for the path.
func passing(err error) bool {
	return !errors.Is(err, net.ErrClosed) && errors.As(err, new(*os.SyscallError))
}
