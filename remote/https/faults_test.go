package https_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	"github.com/go-rntuple/go-rntuple/remote"
)

// noise is a file of which no part is like another, but there are what looks like boundaries of
// parts.
var noise = func() []byte {
	b := make([]byte, 1<<20)
	c := rand.NewChaCha8([32]byte{})
	c.Read(b)
	for at := 1000; at < len(b)-1000; at += 100_000 {
		copy(b[at+200:], "\r\n--"+boundary+"\r\nContent-Range: bytes 0-9/1048576\r\n\r\n")
		copy(b[at+900-4-len(boundary):], "\r\n--"+boundary) // the last bytes of a range
		copy(b[at:], "--"+boundary+"--\r\n")                // and the first ones
	}
	return b
}()

const boundary = "limit"

const etag = `"first"`

var modified = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// serveBytes answers a request for a file as it should be.
func serveBytes(w http.ResponseWriter, r *http.Request, data []byte) {
	w.Header().Set("ETag", etag)
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", modified, bytes.NewReader(data))
}

// A fault is what a server does wrong. The errors are what reading then ends with: nil if the
// values are right, errAny if they are or there is an error.
type fault struct {
	name   string
	once   error // if one request meets it
	always error // if all from one on do
	serve  http.HandlerFunc
	slow   bool // until the client gives up
}

var errAny = errors.New("any error, or the right bytes")

// faults are those that do not depend on which request meets them.
func faults() (all []fault) {
	status := func(once, always error, codes ...int) {
		for _, code := range codes {
			all = append(all, fault{fmt.Sprint("status ", code), once, always, func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(code)
				io.WriteString(w, "no")
			}, false})
		}
	}
	status(nil, errAny, 408, 425, 429, 500, 502, 503, 504)
	status(fs.ErrNotExist, fs.ErrNotExist, 404, 410)
	status(fs.ErrPermission, fs.ErrPermission, 401, 403, 407)
	status(remote.ErrChanged, remote.ErrChanged, 412)
	status(errAny, errAny, 201, 202, 204, 206, 300, 301, 304, 307, 400, 402, 405, 406, 411, 413, 414, 416, 418, 431,
		451, 501, 505, 599, 999)

	add := func(name string, once, always error, serve http.HandlerFunc) {
		all = append(all, fault{name, once, always, serve, false})
	}
	slow := func(name string, once, always error, serve http.HandlerFunc) {
		all = append(all, fault{name, once, always, serve, true})
	}
	slow("no answer", nil, remote.ErrTimeout, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	slow("a header without a body", nil, remote.ErrTimeout, func(w http.ResponseWriter, r *http.Request) {
		serveBytes(&limited{ResponseWriter: w, left: 0, then: func() { <-r.Context().Done() }}, r, noise)
	})
	slow("half a body", nil, errAny, func(w http.ResponseWriter, r *http.Request) {
		serveBytes(&limited{ResponseWriter: w, left: 1500, then: func() { <-r.Context().Done() }}, r, noise)
	})
	slow("a body that trickles", nil, errAny, func(w http.ResponseWriter, r *http.Request) {
		serveBytes(trickle{w, r.Context()}, r, noise)
	})
	for _, n := range []int{0, 1, 100, 1000, 10_000} {
		add(fmt.Sprint("a line that is cut after ", n), nil, errAny, func(w http.ResponseWriter, r *http.Request) {
			serveBytes(&limited{ResponseWriter: w, left: n, then: func() { panic(http.ErrAbortHandler) }}, r, noise)
		})
	}
	add("no header", nil, errAny, func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) })
	add("no HTTP", nil, errAny, raw("SSH-2.0-OpenSSH\r\n"))
	add("half a header", nil, errAny, raw("HTTP/1.1 206 Partial Content\r\nContent-Le"))
	add("broken chunks", nil, errAny,
		raw("HTTP/1.1 206 Partial Content\r\nETag: "+etag+"\r\nLast-Modified: "+modified.Format(http.TimeFormat)+
			"\r\nContent-Range: bytes 0-9/1048576\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\n"))
	slow("an endless header", errAny, errAny, func(w http.ResponseWriter, r *http.Request) {
		raw("HTTP/1.1 206 Partial Content\r\n"+strings.Repeat("A: "+strings.Repeat("a", 1000)+"\r\n", 3000))(w, r)
	})

	// The body is that which was asked for; the header says something else.
	header := func(once error, change func(h http.Header), name string) {
		add(name, once, errAny, func(w http.ResponseWriter, r *http.Request) {
			serveBytes(&changed{w, change}, r, noise)
		})
	}
	for _, v := range []string{"", "bytes", "bytes 0-9", "bytes 0-/1048576", "bytes -5/1048576", "bytes 9-0/1048576",
		"bytes 0-1048576/1048576", "bytes 0-9/*",
		"bytes */1048576", "lines 0-9/1048576", "bytes 0-9/1048577", "bytes 0-0/1",
		"bytes 0-99999999999999999999/999999999999999999999",
		"bytes 0-4611686018427387902/4611686018427387903",
		"bytes 2305843009213693951-4611686018427387902/4611686018427387903"} {
		header(errAny, func(h http.Header) {
			if h.Get("Content-Range") != "" {
				h.Set("Content-Range", v)
			}
		}, fmt.Sprintf("Content-Range %q", v))
	}
	header(errAny, func(h http.Header) { h.Set("Content-Encoding", "gzip") }, "gzip")
	header(errAny, func(h http.Header) { h.Set("Content-Type", "multipart/byteranges") }, "parts without a boundary")
	header(errAny, func(h http.Header) { h.Set("Content-Type", "multipart/byteranges; boundary=b") }, "another boundary")
	for _, v := range []string{"HTTP://secret@:1:1/", "/\x01secret", "ftp://h/secret", "file:///etc/passwd", "//", "?",
		"#", "", "http://h:99999/secret"} {
		add(fmt.Sprintf("redirected to %q", v), errAny, errAny, func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Location"] = []string{v}
			w.WriteHeader(http.StatusFound)
		})
	}
	add("a redirect to itself", errAny, errAny, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.String(), http.StatusFound)
	})
	return all
}

// A limited writer takes some bytes of the body only.
type limited struct {
	http.ResponseWriter
	left int
	then func()
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(l.left, len(p))
	l.left -= n
	l.ResponseWriter.Write(p[:n])
	if n < len(p) {
		http.NewResponseController(l.ResponseWriter).Flush()
		l.then()
	}
	return len(p), nil
}

// A trickle writes a byte now and then.
type trickle struct {
	http.ResponseWriter
	ctx context.Context
}

func (t trickle) Write(p []byte) (int, error) {
	for i := range p {
		t.ResponseWriter.Write(p[i : i+1])
		http.NewResponseController(t.ResponseWriter).Flush()
		select {
		case <-time.After(5 * time.Millisecond):
		case <-t.ctx.Done():
			return i, t.ctx.Err()
		}
	}
	return len(p), nil
}

// A changed writer changes headers before they are sent.
type changed struct {
	http.ResponseWriter
	change func(http.Header)
}

func (c *changed) WriteHeader(code int) {
	c.change(c.Header())
	c.ResponseWriter.WriteHeader(code)
}

// raw returns a handler that writes bytes and closes the connection.
func raw(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		io.WriteString(conn, text)
		conn.Close()
	}
}

// A script meets requests: those from the one of number first on, as many as times, with a fault.
type script struct {
	fault       http.HandlerFunc
	first, last int64
	n           atomic.Int64
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if n := s.n.Add(1); n >= s.first && n <= s.last {
		s.fault(w, r)
		return
	}
	serveBytes(w, r, noise)
}

// readNoise reads some of noise in every way, with four requests if none fails.
func readNoise(url string, o remote.Options) error {
	o.Tail = 1000
	f, err := remote.Open(context.Background(), url, &o)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Len() != int64(len(noise)) {
		return fmt.Errorf("wrong: %d bytes, want %d", f.Len(), len(noise))
	}
	same := func(offset int64, got []byte, err error) error {
		if err == nil && !bytes.Equal(got, noise[offset:][:len(got)]) {
			return fmt.Errorf("wrong: other bytes from %d on", offset)
		}
		return err
	}
	for _, piece := range []struct{ n, size, step int64 }{{7, 900, 100_000}, {1, 300_000, 1}} {
		var ranges []remote.Range
		for i := range piece.n {
			ranges = append(ranges, remote.Range{Offset: 1000 + i*piece.step, Data: make([]byte, piece.size)})
		}
		err := f.ReadRanges(context.Background(), ranges)
		for _, r := range ranges {
			err = same(r.Offset, r.Data, err)
		}
		if err != nil {
			return err
		}
	}
	b := make([]byte, 500)
	_, err = f.ReadAt(b, 777_777)
	if err = same(777_777, b, err); err != nil {
		return err
	}
	_, err = f.ReadAt(b, f.Len()-500)
	return same(f.Len()-500, b, err)
}

// TestFaults lets each request in turn meet each fault, once and again and again.
func TestFaults(t *testing.T) {
	remotetest.CheckGoroutines(t)
	const requests = 4
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			o := remote.Options{Timeout: time.Minute, Attempts: 3, Backoff: time.Millisecond}
			if f.slow {
				t.Parallel()
				// On a busy machine other requests may meet the timeout, too.
				o.Timeout, o.Attempts = 250*time.Millisecond, 100
			}
			for _, always := range []bool{false, true} {
				for i := range int64(requests) {
					s := &script{fault: f.serve, first: i + 1, last: i + 1}
					want := f.once
					if always {
						s.last, want = 1<<62, f.always
						if f.slow {
							o.Attempts = 1
						}
					}
					server := httptest.NewServer(s)
					err := readNoise(strings.Replace(server.URL, "//", "//user:secret@", 1)+"/a?secret", o)
					server.Close()
					switch {
					case err != nil && strings.Contains(err.Error(), "wrong: "), want != errAny && !errors.Is(err, want):
						t.Errorf("request %d, always %t: %v, want %v", i+1, always, err, want)
					case err != nil && strings.Contains(err.Error(), "secret"):
						t.Errorf("request %d, always %t: shows the secret: %v", i+1, always, err)
					case err == nil && s.n.Load() < requests && i > 0:
						t.Errorf("request %d, always %t: only %d requests", i+1, always, s.n.Load())
					case always && i < 2:
						t.Logf("request %d: %v", i+1, err)
					}
				}
			}
		})
	}
}
