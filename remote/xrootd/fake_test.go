package xrootd

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A fake is a server of one file that can be told to misbehave. It keeps to the protocol otherwise,
// and fails the test if the client does not.
type fake struct {
	t      *testing.T
	addr   string
	tls    *tls.Config
	flags  uint32
	sec    string // ways of authentication
	strict bool   // requests before that end the connection
	data   []byte
	mtime  atomic.Int64
	// answer, if not nil, may answer a request, the nth of its kind; it reports whether it has.
	answer func(c *fakeConn, r *fakeRequest, n int) bool

	mu     sync.Mutex
	log    []string // the kinds of requests, with what they ask for
	counts map[uint16]int
	all    []net.Conn
}

// A fakeRequest is what a client sends.
type fakeRequest struct {
	stream, number uint16
	params         [16]byte
	data           []byte
}

type fakeConn struct {
	net.Conn
	f      *fake
	secure bool
	known  bool       // who the user is
	mu     sync.Mutex // for writing
}

// path is the name of the file that a fake has, and modified its time.
const (
	path     = "/data/file.root"
	modified = 1_700_000_000
)

var theHandle = []byte{7, 0, 0, 9}

func newFake(t *testing.T, data []byte) *fake {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{t: t, addr: l.Addr().String(), flags: flagServer, data: data, counts: map[uint16]int{}}
	f.mtime.Store(modified)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			n, err := l.Accept()
			if err != nil {
				return
			}
			f.mu.Lock()
			f.all = append(f.all, n)
			f.mu.Unlock()
			running.Go(func() {
				defer n.Close()
				c := &fakeConn{Conn: n, f: f}
				c.serve()
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		f.mu.Lock()
		for _, n := range f.all {
			n.Close()
		}
		f.mu.Unlock()
		running.Wait()
	})
	return f
}

// requests returns the requests of all kinds, and what they ask for.
func (f *fake) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.log)
}

// count returns how many requests of a kind there were.
func (f *fake) count(kind string) (n int) {
	for _, r := range f.requests() {
		if k, _, _ := strings.Cut(r, " "); k == kind {
			n++
		}
	}
	return n
}

func (c *fakeConn) serve() {
	var hello [20]byte
	if _, err := io.ReadFull(c, hello[:]); err != nil {
		return
	}
	if !bytes.Equal(hello[:], []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 7, 0xdc}) {
		c.f.t.Errorf("the handshake is %x", hello)
		return
	}
	c.send(0, statusOK, []byte{0, 0, 5, 0x11, 0, 0, 0, 1})
	for {
		r, err := c.next()
		if err != nil {
			return
		}
		f := c.f
		f.mu.Lock()
		n := f.counts[r.number]
		f.counts[r.number]++
		f.log = append(f.log, strings.TrimSpace(kinds[r.number]+" "+r.detail()))
		f.mu.Unlock()
		switch {
		case f.answer != nil && f.answer(c, r, n):
		case f.sec != "" && !c.known && r.number != requestProtocol && r.number != requestLogin && r.number != requestAuth:
			if f.strict {
				return
			}
			c.send(r.stream, statusError, numbered(errInvalid, "the user is not known"))
		default:
			c.known = c.known || r.number == requestAuth
			c.send(r.stream, statusOK, c.body(r))
		}
		if r.number == requestProtocol && f.flags&(flagTLSNow|flagTLSLogin) != 0 || r.number == requestLogin &&
			f.flags&flagTLSLater != 0 && f.sec == "" {
			s := tls.Server(c.Conn, f.tls)
			if s.HandshakeContext(context.Background()) != nil {
				return
			}
			c.Conn, c.secure = s, true
		}
	}
}

func (c *fakeConn) next() (*fakeRequest, error) {
	var b [24]byte
	if _, err := io.ReadFull(c, b[:]); err != nil {
		return nil, err
	}
	r := &fakeRequest{stream: binary.BigEndian.Uint16(b[:]), number: binary.BigEndian.Uint16(b[2:])}
	copy(r.params[:], b[4:])
	size := binary.BigEndian.Uint32(b[20:])
	if size > 1<<20 || kinds[r.number] == "" {
		c.f.t.Errorf("a request %d of %d bytes", r.number, size)
		return nil, io.ErrUnexpectedEOF
	}
	r.data = make([]byte, size)
	_, err := io.ReadFull(c, r.data)
	return r, err
}

// detail tells what a request asks for.
func (r *fakeRequest) detail() string {
	switch r.number {
	case requestOpen, requestQuery:
		return string(r.data)
	case requestRead:
		e := r.elements()[0]
		return fmt.Sprintf("%d+%d", e.offset, e.size)
	case requestReadv:
		return fmt.Sprint(len(r.elements()))
	case requestLogin:
		return strings.TrimRight(string(r.params[4:12]), "\x00") + string(r.data)
	case requestAuth:
		return fmt.Sprintf("%q", r.data)
	}
	return ""
}

// elements returns what a request to read asks for.
func (r *fakeRequest) elements() (all []element) {
	if r.number == requestRead {
		return []element{{int64(binary.BigEndian.Uint64(r.params[4:])), int(binary.BigEndian.Uint32(r.params[12:]))}}
	}
	for b := r.data; len(b) >= 16; b = b[16:] {
		all = append(all, element{int64(binary.BigEndian.Uint64(b[8:])), int(binary.BigEndian.Uint32(b[4:]))})
	}
	return all
}

// body returns the right answer.
func (c *fakeConn) body(r *fakeRequest) []byte {
	f := c.f
	properties := fmt.Sprintf("123456 %d 48 %d", len(f.data), f.mtime.Load())
	switch r.number {
	case requestProtocol:
		return binary.BigEndian.AppendUint32([]byte{0, 0, 5, 0x11}, f.flags)
	case requestLogin:
		return append(make([]byte, 16), f.sec...)
	case requestQuery:
		return []byte("1024\n2097136\n\x00")
	case requestOpen:
		return append(append(slices.Clone(theHandle), make([]byte, 8)...), properties+"\x00"...)
	case requestStat:
		if !bytes.Equal(r.params[12:], theHandle) {
			f.t.Errorf("the properties of file %x are asked for", r.params[12:])
		}
		return []byte(properties + "\x00")
	case requestRead, requestReadv:
		var all []byte
		for _, e := range r.elements() {
			if e.end() > int64(len(f.data)) || e.size > 1<<30 {
				f.t.Errorf("bytes %d to %d of a file of %d are asked for", e.offset, e.end(), len(f.data))
				return nil
			}
			if r.number == requestReadv {
				all = e.append(all, fileHandle(theHandle))
			}
			all = append(all, f.data[e.offset:e.end()]...)
		}
		return all
	}
	return nil
}

// send sends an answer.
func (c *fakeConn) send(stream uint16, status int, body []byte) {
	b := binary.BigEndian.AppendUint16(nil, stream)
	b = binary.BigEndian.AppendUint16(b, uint16(status))
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	c.write(append(b, body...))
}

func (c *fakeConn) write(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.SetWriteDeadline(time.Now().Add(10 * time.Second))
	c.Conn.Write(b)
}

// numbered returns a number and a text, as errors, redirections and times to wait have them.
func numbered(n int, text string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(n)), text...)
}
