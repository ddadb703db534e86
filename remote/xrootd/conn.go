package xrootd

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-rntuple/go-rntuple/remote"
)

var errShort = &remote.Temporary{Err: fmt.Errorf("the answer is too short: %w", io.ErrUnexpectedEOF)}

// A conn is a connection on which requests are made. Each has a number, the stream, which comes
// back with its answers. It is safe for concurrent use.
type conn struct {
	net     net.Conn
	plain   io.Closer // net without TLS, whose end would be told to the server, and wait for that
	server  bool      // rather than one that only knows where files are
	limits  atomic.Pointer[limits]
	asked   sync.Once // for the limits
	running sync.WaitGroup
	wake    chan struct{} // something is to be written
	dead    chan struct{}
	arrival atomic.Int64 // when enough bytes had arrived, or an answer, in nanoseconds

	mu    sync.Mutex
	calls map[uint16]*call // without their last answer
	last  uint16           // stream
	out   []byte           // to be written
	err   error            // why it is dead
}

// newConn returns a connection on which the user has logged in, and the call of the request
// firstStream if that has been made.
func newConn(n net.Conn, plain io.Closer, server, first bool, p *progress) (*conn, *call) {
	c := &conn{net: n, plain: plain, server: server, wake: make(chan struct{}, 1), dead: make(chan struct{}),
		calls: map[uint16]*call{}}
	c.limits.Store(&limits{defaultElements, defaultBytes})
	c.arrival.Store(time.Now().UnixNano())
	var k *call
	if c.last = stream; first {
		c.last = firstStream
		k = &call{conn: c, sink: new(message), progress: p, answers: make(chan answer, 2)}
		c.calls[firstStream] = k
	}
	c.running.Go(c.write)
	c.running.Go(func() { c.fail(c.read(bufio.NewReaderSize(c.net, 256<<10))) })
	return c, k
}

// fail makes the connection unusable. Another one may do better.
func (c *conn) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failLocked(err)
}

func (c *conn) failLocked(err error) {
	if c.err == nil {
		c.err = &remote.Temporary{Err: err}
		close(c.dead)
		c.plain.Close()
	}
}

// close closes the connection, and waits until nothing of it runs.
func (c *conn) close() {
	c.fail(net.ErrClosed)
	c.running.Wait()
}

func (c *conn) alive() bool {
	select {
	case <-c.dead:
		return false
	default:
		return true
	}
}

// maxCalls limits how many requests may be without an answer.
const maxCalls = 1 << 14

// start makes a request. The bytes of its answer go to the sink.
func (c *conn) start(r *request, to sink, p *progress) (*call, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.calls) == maxCalls {
		c.failLocked(violation("%d requests have no answer", maxCalls))
	}
	if c.err != nil {
		return nil, c.err
	}
	for c.last++; c.calls[c.last] != nil; {
		c.last++
	}
	k := &call{conn: c, sink: to, progress: p, answers: make(chan answer, 2)}
	c.calls[c.last] = k
	c.out = r.append(c.out, c.last)
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return k, nil
}

// write writes requests.
func (c *conn) write() {
	for {
		select {
		case <-c.wake:
		case <-c.dead:
			return
		}
		c.mu.Lock()
		b := c.out
		c.out = nil
		c.mu.Unlock()
		if _, err := c.net.Write(b); err != nil {
			c.fail(err)
			return
		}
	}
}

// read reads answers until there is an error.
func (c *conn) read(in *bufio.Reader) error {
	for {
		h, err := readHeader(in)
		if err == nil {
			err = c.readAnswer(in, h)
		}
		if err != nil {
			return err
		}
	}
}

// readHeader reads the header of the next answer, and passes over what the server says without
// being asked.
func readHeader(in io.Reader) (answerHeader, error) {
	for range maxAttns {
		var b [headerSize]byte
		if _, err := io.ReadFull(in, b[:]); err != nil {
			return answerHeader{}, noEOF(err)
		}
		h, err := parseHeader(b[:])
		if err == nil && h.status == statusAttn {
			h, err = readAttn(in, h)
		}
		if err != nil || h.status != statusAttn {
			return h, err
		}
	}
	return answerHeader{}, violation("%d messages without an answer between them: %w", maxAttns, io.ErrNoProgress)
}

// readAttn reads what a server says without being asked. If that is the answer to a request, it
// returns the header of that one.
func readAttn(in io.Reader, h answerHeader) (answerHeader, error) {
	const preface = 8
	var b [preface + headerSize]byte
	n := min(len(b), h.size)
	if _, err := io.ReadFull(in, b[:n]); err != nil {
		return answerHeader{}, noEOF(err)
	}
	if n < len(b) || binary.BigEndian.Uint32(b[:]) != asyncResponse {
		if h.size > maxMessage {
			return answerHeader{}, violation("%d bytes that nobody has asked for", h.size)
		}
		_, err := io.CopyN(io.Discard, in, int64(h.size-n))
		return h, noEOF(err)
	}
	inner, err := parseHeader(b[preface:])
	if err == nil && (inner.size != h.size-n || inner.status == statusAttn) {
		return answerHeader{}, violation("an answer of %d bytes in one of %d", inner.size, h.size)
	}
	return inner, err
}

// readAnswer reads the body of an answer.
func (c *conn) readAnswer(in *bufio.Reader, h answerHeader) error {
	c.mu.Lock()
	k := c.calls[h.stream]
	c.mu.Unlock()
	if k == nil {
		return violation("an answer to no request, %d", h.stream)
	}
	defer func() { c.arrival.Store(time.Now().UnixNano()) }()
	switch h.status {
	case statusOK, statusOKSoFar:
		if err := c.readData(in, k, h.size); err != nil {
			return err
		}
		if h.status == statusOKSoFar {
			return nil
		}
		c.forget(h.stream)
		return k.deliver(answer{status: statusOK})
	case statusError, statusRedirect, statusWait, statusWaitResp, statusAuthMore:
	default:
		return violation("an answer with the status %d", h.status)
	}
	if h.size > maxMessage {
		return violation("an answer without bytes of the file has %d", h.size)
	}
	body := make([]byte, h.size)
	if _, err := io.ReadFull(in, body); err != nil {
		return noEOF(err)
	}
	if h.status != statusWaitResp {
		c.forget(h.stream)
	}
	return k.deliver(answer{status: h.status, body: body})
}

func (c *conn) forget(stream uint16) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, stream)
}

// enough is how many bytes must arrive for a connection to be of use.
const enough = 1 << 10

// readData reads n bytes for the sink of a call.
func (c *conn) readData(in *bufio.Reader, k *call, n int) error {
	lately := 0 // bytes since the last time that it was enough
	for n > 0 {
		if _, err := in.Peek(1); err != nil {
			return noEOF(err)
		}
		b, err := in.Peek(min(n, in.Buffered()))
		if err != nil {
			return err
		}
		awaited, err := k.take(b)
		if err != nil {
			return err
		}
		n, lately = n-len(b), lately+len(b)
		in.Discard(len(b))
		if lately < enough {
			continue
		}
		lately = 0
		now := time.Now()
		before := c.arrival.Swap(now.UnixNano())
		if awaited && now.UnixNano()>>26 != before>>26 { // some 15 times a second
			c.others(now)
		}
	}
	return nil
}

// others makes it known to the other requests that their answers wait for this one.
func (c *conn) others(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.calls {
		k.alive(now)
	}
}

// A call is a request whose answer is awaited.
type call struct {
	conn     *conn
	progress *progress
	answers  chan answer

	mu      sync.Mutex
	sink    sink
	over    bool // nobody waits any more
	waiting bool // the answer comes later
}

// take hands bytes of the answer to the sink. It reports whether anybody waits for them.
func (k *call) take(b []byte) (awaited bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.over {
		n := len(b)
		if _, ok := k.sink.(*message); ok { // only bytes of the file count
			n = 0
		}
		k.progress.arrived(n)
	}
	return !k.over, k.sink.take(b)
}

func (k *call) alive(now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.over {
		k.progress.alive(now)
	}
}

// deliver hands an answer over.
func (k *call) deliver(a answer) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if a.status == statusWaitResp {
		if k.waiting {
			return violation("two answers say that one comes later")
		}
		k.waiting = true
	}
	if !k.over {
		k.progress.arrived(0)
	}
	if a.status == statusOK {
		a.short = k.sink.complete()
	}
	k.answers <- a
	return nil
}

// giveUp makes that the answer goes nowhere.
func (k *call) giveUp() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.over {
		k.over = true
		k.sink.drop()
	}
}

// wait waits for the answer. If the server asks for time, it gets it.
func (k *call) wait(ctx context.Context) (answer, error) {
	defer k.giveUp()
	var until time.Time
	var tick <-chan time.Time
	for {
		select {
		case a := <-k.answers:
			if a.status != statusWaitResp {
				return a, nil
			}
			d, err := parseWait(a.body)
			if err != nil {
				return a, err
			}
			until = time.Now().Add(d)
			t := time.NewTicker(k.progress.quiet)
			defer t.Stop()
			tick = t.C
		case now := <-tick:
			if now.Before(until) {
				k.progress.alive(now)
			}
		case <-k.conn.dead:
			select {
			case a := <-k.answers:
				if a.status != statusWaitResp {
					return a, nil
				}
			default:
			}
			return answer{}, k.conn.err
		case <-ctx.Done():
			err := context.Cause(ctx)
			if errors.Is(err, remote.ErrTimeout) && time.Since(time.Unix(0, k.conn.arrival.Load())) >= k.progress.quiet {
				k.conn.fail(err) // next to nothing arrives there any more
			}
			return answer{}, err
		}
	}
}

// A progress reports the bytes of an attempt as they arrive.
type progress struct {
	quiet   time.Duration // after which it is worth saying that there is some
	maxWait time.Duration // of remote.Options
	server  string        // that is waited for
	what    string        // it is to do

	mu     sync.Mutex
	report func(n int)
	last   time.Time
}

func newProgress(timeout time.Duration, report func(int)) *progress {
	return &progress{quiet: max(timeout/4, time.Millisecond), report: report, last: time.Now()}
}

func (p *progress) arrived(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = time.Now()
	p.report(n)
}

// waiting returns an error that may pass with what was waited for, and others as they are.
func (p *progress) waiting(err error) error {
	if errors.Is(err, remote.ErrTimeout) || errors.As(err, new(*remote.Temporary)) {
		return fmt.Errorf("waiting for %s to %s: %w", p.server, p.what, err)
	}
	return err
}

// alive reports that the answer will come, if there was no report lately.
func (p *progress) alive(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.last) >= p.quiet {
		p.last = now
		p.report(0)
	}
}

// sleep waits for as long as a server asks.
func (p *progress) sleep(ctx context.Context, d time.Duration) error {
	for until := time.Now().Add(d); ; {
		left := time.Until(until)
		if left <= 0 {
			return nil
		}
		t := time.NewTimer(min(left, p.quiet))
		select {
		case <-t.C:
			p.arrived(0)
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		}
	}
}

// noEOF returns err, or that the end is unexpected.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
