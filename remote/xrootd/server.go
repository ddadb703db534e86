package xrootd

import (
	"context"
	"sync"
)

// A server is what files that are open share: a connection to a server with one identity.
type server struct {
	identity identity
	files    int           // that use it
	lock     chan struct{} // for conn
	conn     *conn
}

var servers = struct {
	sync.Mutex
	all map[identity]*server
}{all: map[identity]*server{}}

// useServer returns the server for a file, which must call release in the end.
func useServer(id identity) *server {
	servers.Lock()
	defer servers.Unlock()
	s := servers.all[id]
	if s == nil {
		s = &server{identity: id, lock: make(chan struct{}, 1)}
		servers.all[id] = s
	}
	s.files++
	return s
}

// release closes the connection if no file uses the server any more.
func (s *server) release() {
	servers.Lock()
	s.files--
	last := s.files == 0
	if last {
		delete(servers.all, s.identity)
	}
	servers.Unlock()
	if !last {
		return
	}
	s.lock <- struct{}{}
	defer func() { <-s.lock }()
	if s.conn != nil {
		s.conn.close()
		s.conn = nil
	}
}

// connect returns the connection, which it makes if there is none, or none that works. Then it may
// make a first request at once; otherwise the call is nil.
func (s *server) connect(ctx context.Context, first *request, p *progress) (*conn, *call, error) {
	select {
	case s.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	defer func() { <-s.lock }()
	if s.conn != nil {
		if s.conn.alive() {
			return s.conn, nil, nil
		}
		s.conn.close()
		s.conn = nil
	}
	c, k, err := dial(ctx, s.identity, first, p)
	s.conn = c
	return c, k, err
}
