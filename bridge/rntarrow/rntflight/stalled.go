package rntflight

import (
	"net"
	"slices"
	"sync"
)

// stalled has the connections of streams that ended because the client took no data. The last
// record batch of each stays in memory until the client takes it or disconnects, so the first
// connection is closed when there are too many.
type stalled struct {
	most  int
	mu    sync.Mutex
	conns []*conn // one for each stream, in the order in which they ended
}

// add adds the connection of a client, if it is one of a listener.
func (s *stalled) add(client net.Addr) {
	a, ok := client.(address)
	if !ok {
		return
	}
	s.mu.Lock()
	s.conns = append(s.conns, a.conn)
	var first *conn
	if len(s.conns) > s.most {
		first = s.conns[0]
	}
	s.mu.Unlock()
	if first != nil {
		first.Close()
	}
}

// A listener accepts connections that are known by the addresses of their clients.
type listener struct {
	net.Listener
	stalled *stalled
}

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{c, l.stalled}, nil
}

type conn struct {
	net.Conn
	stalled *stalled
}

func (c *conn) RemoteAddr() net.Addr { return address{c.Conn.RemoteAddr(), c} }

func (c *conn) Close() error {
	c.stalled.mu.Lock()
	c.stalled.conns = slices.DeleteFunc(c.stalled.conns, func(other *conn) bool { return other == c })
	c.stalled.mu.Unlock()
	return c.Conn.Close()
}

// An address is that of the client of a connection.
type address struct {
	net.Addr
	conn *conn
}
