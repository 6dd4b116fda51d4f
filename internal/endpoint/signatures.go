package endpoint

import (
	"context"
	"iter"
	"net"
	"net/netip"
	"time"

	"github.com/raknet-go/raknet/internal/udp"
)

// The exported surface, written down first so that the root package can be
// written against it; the bodies move to their own files.

type Endpoint struct{}

func New(s udp.Socket, cfg Config) (*Endpoint, error)                                    { panic("") }
func (e *Endpoint) Accept(ctx context.Context) (*Conn, error)                            { panic("") } // net.ErrClosed after Close
func (e *Endpoint) Dial(ctx context.Context, to udp.Peer, cfg DialConfig) (*Conn, error) { panic("") } // ErrFreshPort, offline.* errors, session.ErrHandshakeTimeout, ctx errors
func (e *Endpoint) Ping(ctx context.Context, to udp.Peer) (Pong, error)                  { panic("") } // resends until ctx ends
func (e *Endpoint) SetPong(data []byte)                                                  { panic("") } // copies; nil: no data
func (e *Endpoint) Block(p netip.Prefix, d time.Duration)                                { panic("") }
func (e *Endpoint) Conns() iter.Seq[*Conn]                                               { panic("") } // complete, not ended
func (e *Endpoint) Stats() Stats                                                         { panic("") }
func (e *Endpoint) Close() error                                                         { panic("") }
func (e *Endpoint) Shutdown(ctx context.Context) error                                   { panic("") }
func (e *Endpoint) Done() <-chan struct{}                                                { panic("") } // closed when the endpoint has ended
func (e *Endpoint) Err() error                                                           { panic("") } // why, once Done is closed
func (e *Endpoint) LocalAddr() net.Addr                                                  { panic("") }
func (e *Endpoint) GUID() int64                                                          { panic("") }

type Conn struct{}

func (c *Conn) Read(p []byte) (int, error)                                                { panic("") } // ErrBufferTooSmall
func (c *Conn) ReadPacket() ([]byte, error)                                               { panic("") }
func (c *Conn) Receive(ctx context.Context) (Message, error)                              { panic("") }
func (c *Conn) Write(p []byte) (int, error)                                               { panic("") } // ReliableOrdered, channel 0, PriorityHigh
func (c *Conn) Send(ctx context.Context, payload []byte, o SendOptions) (*Receipt, error) { panic("") }
func (c *Conn) Handle(fn func(Message))                                                   { panic("") }
func (c *Conn) Close() error                                                              { panic("") } // at once; drains behind
func (c *Conn) Abort(cause error)                                                         { panic("") } // at once, nothing drains
func (c *Conn) SetDeadline(t time.Time) error                                             { panic("") }
func (c *Conn) SetReadDeadline(t time.Time) error                                         { panic("") }
func (c *Conn) SetWriteDeadline(t time.Time) error                                        { panic("") }
func (c *Conn) Context() context.Context                                                  { panic("") }
func (c *Conn) Stats() ConnStats                                                          { panic("") }
func (c *Conn) RTT() time.Duration                                                        { panic("") }
func (c *Conn) MTU() int                                                                  { panic("") }
func (c *Conn) GUID() int64                                                               { panic("") } // the peer's
func (c *Conn) Version() byte                                                             { panic("") }
func (c *Conn) Peer() udp.Peer                                                            { panic("") }
func (c *Conn) LocalAddr() net.Addr                                                       { panic("") }
func (c *Conn) Endpoint() *Endpoint                                                       { panic("") }
func (c *Conn) User() any                                                                 { panic("") }
func (c *Conn) SetUser(v any)                                                             { panic("") }

// Receipt tells what became of a message that was sent with a receipt.
type Receipt struct{}

func (r *Receipt) Done() <-chan struct{} { panic("") }
func (r *Receipt) Err() error            { panic("") } // after Done: nil = acknowledged, ErrReceiptLost, or the connection's cause
