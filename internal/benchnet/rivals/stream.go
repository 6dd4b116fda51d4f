package rivals

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// Messages over a stream of bytes: each has its length, four bytes, before it.

const prefix = 4

// streamBuffer is how much is gathered for a call, and read by one.
const streamBuffer = 64 << 10

// Stream carries messages over a stream of bytes, which it reads through a buffer.
type Stream struct {
	*streamSender
	*streamReceiver
}

// NewStream returns a Stream over rw.
func NewStream(rw io.ReadWriter, job Job) *Stream {
	return &Stream{newStreamSender(rw, job), newStreamReceiver(rw)}
}

// streamSender writes messages to a stream: each with a call of its own, or gathered.
type streamSender struct {
	w      io.Writer
	gather *bufio.Writer
	buf    []byte
	length [prefix]byte
}

func newStreamSender(w io.Writer, job Job) *streamSender {
	s := &streamSender{w: w}
	if job == Bulk {
		s.gather = bufio.NewWriterSize(w, streamBuffer)
	}
	return s
}

func (s *streamSender) Send(m []byte) error {
	if s.gather == nil {
		s.buf = binary.BigEndian.AppendUint32(s.buf[:0], uint32(len(m)))
		s.buf = append(s.buf, m...)
		_, err := s.w.Write(s.buf)
		return err
	}
	binary.BigEndian.PutUint32(s.length[:], uint32(len(m)))
	if _, err := s.gather.Write(s.length[:]); err != nil {
		return err
	}
	_, err := s.gather.Write(m)
	return err
}

func (s *streamSender) Flush() error {
	if s.gather == nil {
		return nil
	}
	return s.gather.Flush()
}

type streamReceiver struct {
	r      *bufio.Reader
	buf    []byte
	length [prefix]byte
}

func newStreamReceiver(r io.Reader) *streamReceiver {
	return &streamReceiver{r: bufio.NewReaderSize(r, streamBuffer)}
}

func (s *streamReceiver) Receive() ([]byte, error) {
	if _, err := io.ReadFull(s.r, s.length[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(s.length[:])
	if n > MaxMessage {
		return nil, fmt.Errorf("a message of %d bytes is announced", n)
	}
	if uint32(cap(s.buf)) < n {
		s.buf = make([]byte, n)
	}
	s.buf = s.buf[:n]
	_, err := io.ReadFull(s.r, s.buf)
	return s.buf, err
}
