package raknet_test

import (
	"net"
	"sync"
	"testing"

	"golang.org/x/net/nettest"

	"github.com/raknet-go/raknet"
	"github.com/raknet-go/raknet/internal/netsim"
)

// streamConn makes a stream of a connection, which is what nettest tests. It puts
// one byte before each message, since a random first byte could be one that RakNet
// keeps for itself, and cuts what is written into messages of bounded size.
type streamConn struct {
	*raknet.Conn
	mu   sync.Mutex // one reader at a time
	rest []byte     // read and not yet asked for
}

const streamPrefix = 0xfe

func (c *streamConn) Read(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.rest) == 0 {
		buf := make([]byte, 64<<10)
		n, err := c.Conn.Read(buf)
		if err != nil {
			return 0, err
		}
		c.rest = buf[1:n]
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *streamConn) Write(b []byte) (int, error) {
	written := 0
	for {
		part := b[written:min(len(b), written+32<<10)]
		if _, err := c.Conn.Write(append([]byte{streamPrefix}, part...)); err != nil {
			return written, err
		}
		if written += len(part); written == len(b) {
			return written, nil
		}
	}
}

// streamPair connects two ends through a listener.
func streamPair(l *raknet.Listener, d raknet.Dialer) (c1, c2 net.Conn, stop func(), err error) {
	client, err := d.Dial(l.Addr().String())
	if err != nil {
		l.Close()
		return nil, nil, nil, err
	}
	server, err := l.Accept()
	if err != nil {
		client.Close()
		l.Close()
		return nil, nil, nil, err
	}
	stop = func() {
		client.Close()
		server.Close()
		l.Close()
	}
	return &streamConn{Conn: client}, &streamConn{Conn: server.(*raknet.Conn)}, stop, nil
}

func TestConformanceOverLoopback(t *testing.T) {
	settled(t)
	nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
		l, err := raknet.Listen("127.0.0.1:0")
		if err != nil {
			return nil, nil, nil, err
		}
		return streamPair(l, raknet.Dialer{})
	})
}

func TestConformanceInASimulatedNetwork(t *testing.T) {
	settled(t)
	nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
		n := netsim.New(1)
		n.SetDefault(netsim.Link{Loss: 0.01, Duplicate: 0.01})
		l, err := raknet.ListenConfig{UpstreamPacketListener: n}.Listen(":0")
		if err != nil {
			return nil, nil, nil, err
		}
		c1, c2, closeAll, err := streamPair(l, raknet.Dialer{UpstreamDialer: n})
		return c1, c2, func() { closeAll(); n.Close() }, err
	})
}
