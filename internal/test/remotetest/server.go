package remotetest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// Files returns a handler that serves the files of a folder, with ranges and ETags.
func Files(dir string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, err := http.Dir(dir).Open(r.URL.Path)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil || info.IsDir() {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", fmt.Sprintf(`"%x-%x"`, info.ModTime().UnixNano(), info.Size()))
		w.Header().Set("Content-Type", "application/octet-stream")
		http.ServeContent(w, r, "", info.ModTime(), f)
	})
}

// A Counter counts what a handler is asked for, and what it answers.
type Counter struct {
	Requests atomic.Int64
	Ranges   atomic.Int64 // that were asked for, of all requests
	Bytes    atomic.Int64 // of the bodies of responses
}

// Reset sets all counts to 0.
func (c *Counter) Reset() {
	c.Requests.Store(0)
	c.Ranges.Store(0)
	c.Bytes.Store(0)
}

// String returns the counts, for logs.
func (c *Counter) String() string {
	return fmt.Sprintf("%d requests of %d ranges, %d bytes", c.Requests.Load(), c.Ranges.Load(), c.Bytes.Load())
}

// Handler returns a handler that does what h does, and counts it.
func (c *Counter) Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.Requests.Add(1)
		if spec := r.Header.Get("Range"); spec != "" {
			c.Ranges.Add(int64(1 + strings.Count(spec, ",")))
		}
		h.ServeHTTP(countingWriter{w, &c.Bytes}, r)
	})
}

type countingWriter struct {
	http.ResponseWriter
	bytes *atomic.Int64
}

func (w countingWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.bytes.Add(int64(n))
	return n, err
}

// Unwrap is for http.ResponseController.
func (w countingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// A Server serves a folder by HTTP until the test ends, and counts.
type Server struct {
	Counter
	URL  string // without a slash at the end
	Addr string // host and port, as NewLink takes them
}

// Serve starts a Server.
func Serve(t testing.TB, dir string) *Server {
	t.Helper()
	s := new(Server)
	h := httptest.NewServer(s.Handler(Files(dir)))
	t.Cleanup(h.Close)
	s.URL, s.Addr = h.URL, h.Listener.Addr().String()
	return s
}
