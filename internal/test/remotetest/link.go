package remotetest

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// A Link is a way to a server that is slow: an address that forwards connections.
type Link struct {
	Addr string // host and port, for connections that are to be forwarded

	latency  time.Duration
	up, down pipe
	target   string
	listener net.Listener
	done     chan struct{}
	running  sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool // that are open
	made  int
}

// NewLink returns a Link to an address, on the same machine, until the test ends. Latency is added
// in each direction, so that an answer takes twice as much, and a new connection as much again, for
// its handshake. Bandwidth, in bytes per second, is that of each direction, which all connections
// share; 0 stands for no limit.
func NewLink(t testing.TB, target string, latency time.Duration, bandwidth float64) *Link {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k := &Link{Addr: l.Addr().String(), latency: latency, target: target, listener: l,
		up: pipe{bandwidth: bandwidth}, down: pipe{bandwidth: bandwidth}, done: make(chan struct{}),
		conns: map[net.Conn]bool{}}
	k.running.Go(k.accept)
	t.Cleanup(k.close)
	return k
}

// Connections returns how many connections were made so far.
func (k *Link) Connections() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.made
}

// Bytes returns how many bytes the server has sent so far.
func (k *Link) Bytes() int64 {
	k.down.mu.Lock()
	defer k.down.mu.Unlock()
	return k.down.sent
}

func (k *Link) close() {
	close(k.done)
	k.listener.Close()
	k.mu.Lock()
	for c := range k.conns {
		c.Close()
	}
	k.mu.Unlock()
	k.running.Wait()
}

func (k *Link) accept() {
	for {
		near, err := k.listener.Accept()
		if err != nil {
			return
		}
		k.running.Go(func() { k.forward(near) })
	}
}

// forward connects one client.
func (k *Link) forward(near net.Conn) {
	start := time.Now().Add(2 * k.latency) // the client's system connects at once
	defer near.Close()
	far, err := net.Dial("tcp", k.target)
	if err != nil {
		return
	}
	defer far.Close()
	if !k.hold(near, far) {
		return
	}
	defer k.release(near, far)
	var both sync.WaitGroup
	both.Go(func() { k.copy(far, near, &k.up, start) })
	both.Go(func() { k.copy(near, far, &k.down, start) })
	both.Wait()
}

// hold has close end connections. It reports whether close was not called yet.
func (k *Link) hold(conns ...net.Conn) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	select {
	case <-k.done:
		return false
	default:
	}
	for _, c := range conns {
		k.conns[c] = true
	}
	k.made++
	return true
}

func (k *Link) release(conns ...net.Conn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range conns {
		delete(k.conns, c)
	}
}

// A packet is what arrives at a time.
type packet struct {
	data []byte
	due  time.Time
	err  error
}

// queue is how long a packet may wait to be sent. It is longer than a process oversleeps.
const queue = 20 * time.Millisecond

// copy forwards what one end sends to the other, from a time on.
func (k *Link) copy(to, from net.Conn, p *pipe, start time.Time) {
	packets := make(chan packet, 1<<12) // those under way: up to 64 MiB
	var writing sync.WaitGroup
	writing.Go(func() {
		failed := false
		for packet := range packets {
			if failed || !k.wait(packet.due) {
				failed = true
				continue
			}
			if packet.err != nil {
				end(to, packet.err)
			} else if _, err := to.Write(packet.data); err != nil {
				from.Close() // whoever sends must learn that nobody listens
				failed = true
			}
		}
	})
	for {
		b := make([]byte, 16<<10)
		n, err := from.Read(b)
		now := time.Now()
		if now.Before(start) {
			now = start
		}
		sent := p.send(now, n)
		if n > 0 {
			packets <- packet{data: b[:n], due: sent.Add(k.latency)}
		}
		if err != nil {
			packets <- packet{due: sent.Add(k.latency), err: err}
			break
		}
		if !k.wait(sent.Add(-queue)) { // one that is slow does not take what it cannot send
			break
		}
	}
	close(packets)
	writing.Wait()
}

// end passes the end of a connection on: in good order, or broken.
func end(to net.Conn, err error) {
	tcp := to.(*net.TCPConn)
	if errors.Is(err, io.EOF) {
		tcp.CloseWrite()
		return
	}
	tcp.SetLinger(0)
	tcp.Close()
}

// wait waits until a time and reports whether the link is still there.
func (k *Link) wait(due time.Time) bool {
	d := time.Until(due)
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-k.done:
		return false
	}
}

// A pipe is one direction of a Link.
type pipe struct {
	bandwidth float64 // bytes per second; 0: no limit
	mu        sync.Mutex
	free      time.Time // when all is sent that has been taken
	sent      int64     // bytes
}

// send takes n bytes and returns the time at which the last one is sent.
func (p *pipe) send(now time.Time, n int) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent += int64(n)
	if p.bandwidth <= 0 {
		return now
	}
	if p.free.Before(now) {
		p.free = now
	}
	p.free = p.free.Add(time.Duration(float64(n) / p.bandwidth * float64(time.Second)))
	return p.free
}
