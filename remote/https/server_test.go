package https_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestChanged lets a file change between requests.
func TestChanged(t *testing.T) {
	remotetest.CheckGoroutines(t)
	type version struct {
		etag     string
		modified time.Time
		size     int
	}
	first := version{etag, modified, len(noise)}
	for name, c := range map[string]struct {
		first, then version
		want        error
	}{
		"nothing":  {first, first, nil},
		"the ETag": {first, version{`"second"`, modified, len(noise)}, remote.ErrChanged},
		"the time": {first, version{etag, modified.Add(time.Second), len(noise)}, remote.ErrChanged},
		"the size": {first, version{etag, modified, len(noise) - 1000}, remote.ErrChanged},
		"a weak ETag": {version{`W/"a"`, time.Time{}, len(noise)},
			version{`W/"b"`, time.Time{}, len(noise)}, remote.ErrChanged},
		"no ETag any more":    {first, version{"", modified, len(noise)}, remote.ErrChanged},
		"an ETag from now on": {version{"", modified, len(noise)}, first, remote.ErrChanged},
		"the time, no ETag": {version{"", modified, len(noise)}, version{"", modified.Add(time.Second), len(noise)},
			remote.ErrChanged},
		"the size, no version": {version{"", time.Time{}, len(noise)},
			version{"", time.Time{}, len(noise) - 1000}, remote.ErrChanged},
		"nothing, no version":   {version{"", time.Time{}, len(noise)}, version{"", time.Time{}, len(noise)}, nil},
		"nothing, weak version": {version{`W/"a"`, modified, len(noise)}, version{`W/"a"`, modified, len(noise)}, nil},
	} {
		for _, careful := range []bool{false, true} { // whether the server heeds If-Match
			t.Run(fmt.Sprint(name, careful), func(t *testing.T) {
				now := c.first
				s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if !careful {
						r.Header.Del("If-Match")
					}
					if now.etag != "" {
						w.Header().Set("ETag", now.etag)
					}
					w.Header().Set("Content-Type", "application/octet-stream")
					http.ServeContent(w, r, "", now.modified, bytes.NewReader(noise[:now.size]))
				}))
				defer s.Close()
				f, err := remote.Open(t.Context(), s.URL, &remote.Options{Tail: 100})
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				now = c.then
				for _, ranges := range [][]remote.Range{
					{{Offset: 5, Data: make([]byte, 100)}},
					{{Offset: 5, Data: make([]byte, 100)}, {Offset: 50_000, Data: make([]byte, 100)}},
					{{Offset: f.Len() - 500, Data: make([]byte, 10)}}, // is not there if the file is shorter
				} {
					if err := f.ReadRanges(t.Context(), ranges); !errors.Is(err, c.want) {
						t.Errorf("%d ranges from %d on: %v, want %v", len(ranges), ranges[0].Offset, err, c.want)
					}
				}
			})
		}
	}
}

// TestLies opens a file that has more bytes than there are anywhere, as a server says without
// sending them.
func TestLies(t *testing.T) {
	remotetest.CheckGoroutines(t)
	for _, span := range []string{"0-4611686018427387902/4611686018427387903",
		"2305843009213693951-4611686018427387902/4611686018427387903"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", "bytes "+span)
			w.WriteHeader(http.StatusPartialContent)
			http.NewResponseController(w).Flush() // so that there is no Content-Length
		}))
		r, err := rntuple.Open(s.URL, "Data", &rntuple.ReadOptions{Remote: remote.Options{Attempts: 2,
			Backoff: time.Millisecond}})
		if err == nil {
			r.Close()
			t.Error("opened what is not there")
		}
		s.Close()
	}
}

// TestNoRangesAnyMore lets a server that has sent ranges send none.
func TestNoRangesAnyMore(t *testing.T) {
	remotetest.CheckGoroutines(t)
	for _, tag := range []string{etag, `"other"`} {
		ranges := true
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if ranges {
				serveBytes(w, r, noise)
				return
			}
			w.Header().Set("ETag", tag)
			w.Header().Set("Last-Modified", modified.Format(http.TimeFormat))
			w.Write(noise)
		}))
		f, err := remote.Open(t.Context(), s.URL, &remote.Options{Tail: 100})
		if err != nil {
			t.Fatal(err)
		}
		ranges = false
		want := remote.ErrNoRanges
		if tag != etag {
			want = remote.ErrChanged
		}
		for n := range 2 {
			all := []remote.Range{{Offset: 0, Data: make([]byte, 10)}, {Offset: 500_000, Data: make([]byte, 10)}}
			if err := f.ReadRanges(t.Context(), all[:n+1]); !errors.Is(err, want) {
				t.Errorf("%d ranges: %v, want %v", n+1, err, want)
			}
		}
		f.Close()
		s.Close()
	}
}

// TestRetryAfter waits as long as the server asks, if that is not too long.
func TestRetryAfter(t *testing.T) {
	remotetest.CheckGoroutines(t)
	for value, c := range map[string]struct {
		atLeast time.Duration
		fails   bool
	}{
		"1":    {time.Second, false},
		"0":    {0, false},
		"-1":   {0, false},
		"soon": {0, false},
		"":     {0, false},
		time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat): {0, false},
		time.Now().Add(time.Hour).UTC().Format(http.TimeFormat):  {0, true},
		"3600":                 {0, true},
		"4294967295":           {0, true},
		"99999999999999999999": {0, false},
	} {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			s := &script{first: 2, last: 2, fault: func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Retry-After", value)
				w.WriteHeader(http.StatusServiceUnavailable)
			}}
			server := httptest.NewServer(s)
			defer server.Close()
			start := time.Now()
			err := readNoise(server.URL, remote.Options{Backoff: time.Millisecond, Attempts: 2})
			if d := time.Since(start); d < c.atLeast || (err != nil) != c.fails {
				t.Errorf("%v after %v, want at least %v", err, d, c.atLeast)
			}
			if c.fails && (!strings.Contains(err.Error(), "503 Service Unavailable, and asks to wait for ") || s.n.Load() != 2) {
				t.Errorf("%v after %d requests", err, s.n.Load())
			}
		})
	}
}

// TestWhole reads from servers that send no ranges, and from those that cannot count from the end.
func TestWhole(t *testing.T) {
	remotetest.CheckGoroutines(t)
	for name, c := range map[string]struct {
		serve    http.HandlerFunc
		whole    int64
		want     error
		requests int
	}{
		"whole": {func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Range")
			serveBytes(w, r, noise)
		}, 0, nil, 2},
		"whole, in chunks": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", etag)
			w.(http.Flusher).Flush()
			w.Write(noise)
		}, 0, nil, 2},
		"too large": {func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Range")
			serveBytes(w, r, noise)
		}, int64(len(noise)) - 1, remote.ErrNoRanges, 2},
		"just small enough": {func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Range")
			serveBytes(w, r, noise)
		}, int64(len(noise)), nil, 2},
		"too large, in chunks": {func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			w.Write(noise)
		}, int64(len(noise)) - 1, remote.ErrNoRanges, 2},
		"without end": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				w.Write(noise)
			}
		}, int64(len(noise)) * 3, remote.ErrNoRanges, 2},
		"gzip": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(noise)
		}, 0, errAny, 2},
		"not from the end": {func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.Header.Get("Range"), "bytes=-") {
				r.Header.Del("Range")
			}
			serveBytes(w, r, noise)
		}, 0, nil, 6},
		"416 from the end": {func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.Header.Get("Range"), "bytes=-") {
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
				return
			}
			serveBytes(w, r, noise)
		}, 0, nil, 6},
		"the first bytes instead": {func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.Header.Get("Range"), "bytes=-") {
				r.Header.Set("Range", "bytes=0-999")
			}
			serveBytes(w, r, noise)
		}, 0, nil, 5},
		"more than the end": {func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.Header.Get("Range"), "bytes=-") {
				r.Header.Set("Range", "bytes=0-")
			}
			serveBytes(w, r, noise)
		}, 0, nil, 3}, // is not that much more
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { n++; c.serve(w, r) }))
			defer s.Close()
			err := readNoise(s.URL, remote.Options{Whole: c.whole})
			if err != nil && strings.Contains(err.Error(), "wrong") || c.want != errAny &&
				!errors.Is(err, c.want) || n > c.requests {
				t.Errorf("%v, want %v; %d requests, want %d", err, c.want, n, c.requests)
			}
		})
	}
}

// TestSmall reads files of a few bytes.
func TestSmall(t *testing.T) {
	remotetest.CheckGoroutines(t)
	for _, size := range []int{0, 1, 99, 100, 101} {
		for _, ranges := range []bool{false, true} {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !ranges {
					r.Header.Del("Range")
				}
				serveBytes(w, r, noise[:size])
			}))
			f, err := remote.Open(t.Context(), s.URL, &remote.Options{Tail: 100})
			if err != nil || f.Len() != int64(size) {
				t.Fatalf("%d bytes: %v", size, err)
			}
			b := make([]byte, 200)
			if n, err := f.ReadAt(b, 0); n != size || err != io.EOF || !bytes.Equal(b[:n], noise[:size]) {
				t.Errorf("%d bytes: read %d, %v", size, n, err)
			}
			if n, err := f.ReadAt(b, 1000); n != 0 || err != io.EOF {
				t.Errorf("%d bytes: read %d behind the end, %v", size, n, err)
			}
			if _, err := f.ReadAt(b, -1); err == nil || err == io.EOF {
				t.Errorf("%d bytes: read before the start: %v", size, err)
			}
			f.Close()
			s.Close()
		}
	}
}

// TestEnds closes a file, and cancels contexts, while requests are under way, wait for others, or
// wait to be made again.
func TestEnds(t *testing.T) {
	remotetest.CheckGoroutines(t)
	for _, c := range []struct {
		name  string
		fault http.HandlerFunc
	}{
		{"stall", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
		{"failure", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(http.StatusServiceUnavailable)
		}},
	} {
		for _, closed := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, " closed ", closed), func(t *testing.T) {
				s := &script{first: 2, last: 1 << 62, fault: c.fault}
				server := httptest.NewServer(s)
				defer server.Close()
				f, err := remote.Open(t.Context(), server.URL, &remote.Options{Tail: 100, Requests: 2, Timeout: time.Minute})
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				cause := errors.New("enough")
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				errs := make(chan error, 5)
				for i := range cap(errs) {
					go func() {
						errs <- f.ReadRanges(ctx, []remote.Range{{Offset: int64(i), Data: make([]byte, 10)}})
					}()
				}
				for s.n.Load() < 3 {
					time.Sleep(time.Millisecond)
				}
				want := cause
				if closed {
					f.Close()
					want = fs.ErrClosed
				} else {
					cancel(cause)
				}
				for range cap(errs) {
					select {
					case err := <-errs:
						if !errors.Is(err, want) {
							t.Errorf("%v, want %v", err, want)
						}
					case <-time.After(time.Minute):
						t.Fatal("a request goes on")
					}
				}
				if closed {
					_, err = f.ReadAt(make([]byte, 10), 1000)
					if !errors.Is(err, want) || !strings.HasPrefix(err.Error(), f.Name()+": read: ") {
						t.Errorf("%v after closing, want %v", err, want)
					}
				}
			})
		}
	}
}

// TestRequests limits how many requests are under way, for all files of a host.
func TestRequests(t *testing.T) {
	remotetest.CheckGoroutines(t)
	var mu sync.Mutex
	now, most := 0, 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		now++
		most = max(most, now)
		for wait := 0; wait < 5 || wait < 100 && most < 3; wait++ { // for others
			mu.Unlock()
			time.Sleep(time.Millisecond)
			mu.Lock()
		}
		now--
		mu.Unlock()
		serveBytes(w, r, noise)
	}))
	defer s.Close()
	var all sync.WaitGroup
	for range 3 {
		f, err := remote.Open(t.Context(), s.URL, &remote.Options{Requests: 3, Tail: 100})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for i := range 10 {
			all.Go(func() {
				b := make([]byte, 10)
				if err := f.ReadRanges(t.Context(), []remote.Range{{Offset: int64(i), Data: b}}); err != nil ||
					!bytes.Equal(b, noise[i:i+10]) {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	if most != 3 {
		t.Errorf("%d requests at a time, want 3", most)
	}
}

// TestNames makes sure that what is no file far away is an error that says why.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"http:///a":              "http:///a: open: the URL names no host",
		"https://user:se%cret@h": "https://h: open: not a URL",
		"gopher://h/a":           `gopher://h/a: open: unknown scheme "gopher"; known are ["dav" "davs" "http" "https"]`,
		"s3://b/k":               `s3://b/k: open: unknown scheme "s3"; import github.com/go-rntuple/go-rntuple/remote/s3`,
	} {
		f, err := remote.Open(t.Context(), name, nil)
		if err == nil {
			f.Close()
		}
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, o := range []remote.Options{{Timeout: -1}, {Attempts: -1}, {Backoff: -1}, {Requests: -1},
		{Whole: -1}, {Tail: -1}} {
		if _, err := remote.Open(t.Context(), "http://127.0.0.1:1/a", &o); err == nil ||
			!strings.HasSuffix(err.Error(), " is -1; it must not be negative") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if got, want := remote.Schemes(), []string{"dav", "davs", "http", "https"}; !slices.Equal(got, want) {
		t.Errorf("schemes %q, want %q", got, want)
	}
}
