package https_test

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/remote/https"
)

// A recorder serves noise, and keeps the headers of requests.
type recorder struct {
	mu    sync.Mutex
	seen  []http.Header
	serve http.HandlerFunc // nil: noise
}

func (s *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	h := r.Header.Clone()
	h.Set("Path", r.URL.String())
	s.seen = append(s.seen, h)
	serve := s.serve
	s.mu.Unlock()
	if serve != nil {
		serve(w, r)
		return
	}
	serveBytes(w, r, noise)
}

func (s *recorder) set(serve http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serve = serve
}

// all returns the headers of all requests so far, and forgets them.
func (s *recorder) all() []http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.seen
	s.seen = nil
	return seen
}

// take returns a header of all requests so far, and forgets them.
func (s *recorder) take(header string) (values []string) {
	for _, h := range s.all() {
		values = append(values, h.Get(header))
	}
	return values
}

// TestRedirects follows redirects to the same host and to another one, which gets no credentials.
func TestRedirects(t *testing.T) {
	remotetest.CheckGoroutines(t)
	t.Setenv("BEARER_TOKEN", "token-secret")
	for _, code := range []int{301, 302, 303, 307, 308} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			var first, other recorder
			o := httptest.NewServer(&other)
			defer o.Close()
			s := httptest.NewServer(&first)
			defer s.Close()
			_, port, _ := strings.Cut(strings.TrimPrefix(o.URL, "http://"), ":")
			target := "http://localhost:" + port + "/there?signature=secret" // another host than 127.0.0.1
			first.set(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/a":
					http.Redirect(w, r, "/b", code)
				case "/b":
					http.Redirect(w, r, target, code)
				default:
					serveBytes(w, r, noise)
				}
			})
			if err := readNoise(strings.Replace(s.URL, "//", "//user:password@", 1)+"/a", remote.Options{}); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(first.take("Authorization")); got != "[Basic dXNlcjpwYXNzd29yZA== Basic dXNlcjpwYXNzd29yZA==]" {
				t.Errorf("the first host got %s", got)
			}
			if got := fmt.Sprint(other.take("Authorization")); got != "[   ]" {
				t.Errorf("the other host got %s", got)
			}
			first.set(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/a" {
					http.Redirect(w, r, "c", code)
					return
				}
				serveBytes(w, r, noise)
			})
			if err := readNoise(s.URL+"/a", remote.Options{}); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(first.take("Authorization")); got != "[Bearer token-secret Bearer token-secret Bearer token-secret Bearer token-secret Bearer token-secret]" {
				t.Errorf("the host got %s", got)
			}
		})
	}
}

// TestSignedRedirect makes sure that nothing that a Signer adds goes to another host, nor the
// Referer.
func TestSignedRedirect(t *testing.T) {
	remotetest.CheckGoroutines(t)
	var other recorder
	o := httptest.NewServer(&other)
	defer o.Close()
	s := httptest.NewServer(http.RedirectHandler(strings.Replace(o.URL, "127.0.0.1", "localhost", 1)+"/there",
		http.StatusFound))
	defer s.Close()
	u, err := url.Parse(s.URL + "/a?secret")
	if err != nil {
		t.Fatal(err)
	}
	b, err := https.New(u, https.Config{Sign: func(r *http.Request) error {
		r.Header.Set("Authorization", "secret")
		r.Header.Set("X-Amz-Security-Token", "secret")
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	info, err := b.Open(t.Context(), 100, func(int) {})
	if err != nil || info.Size != int64(len(noise)) || len(info.Tail) != 100 {
		t.Errorf("%d bytes, %d at the end: %v", info.Size, len(info.Tail), err)
	}
	seen := other.all()
	for _, h := range seen {
		if text := fmt.Sprint(h); strings.Contains(text, "secret") {
			t.Errorf("the other host got %s", text)
		}
	}
	if len(seen) != 1 {
		t.Errorf("%d requests to the other host, want 1", len(seen))
	}
}

// TestMoved goes on where it was redirected to, until it is not there any more.
func TestMoved(t *testing.T) {
	remotetest.CheckGoroutines(t)
	var first, other recorder
	o := httptest.NewServer(&other)
	defer o.Close()
	s := httptest.NewServer(&first)
	defer s.Close()
	first.set(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, o.URL+"/there1", http.StatusTemporaryRedirect)
	})
	f, err := remote.Open(t.Context(), s.URL+"/a", &remote.Options{Backoff: time.Millisecond, Tail: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	read := func(offset int64) error {
		return f.ReadRanges(t.Context(), []remote.Range{{Offset: offset, Data: make([]byte, 100)}})
	}
	check := func(err error, want error, firsts, others string) {
		t.Helper()
		if got := fmt.Sprint(first.take("Path")); !errors.Is(err, want) || got != firsts {
			t.Errorf("%v, want %v; asked for %s, want %s", err, want, got, firsts)
		}
		// A request that is lost on a connection that was used before is repeated by net/http.
		if got := fmt.Sprint(slices.Compact(other.take("Path"))); got != others {
			t.Errorf("asked the other host for %s, want %s", got, others)
		}
	}
	check(errors.Join(read(0), read(1000)), nil, "[/a]", "[/there1]")
	other.set(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/there1" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		serveBytes(w, r, noise)
	})
	first.set(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, o.URL+"/there2", http.StatusFound) })
	check(errors.Join(read(0), read(1000)), nil, "[/a]", "[/there1 /there2]")
	for _, left := range []int{-1, 50} { // it breaks before the header, or in the middle
		other.set(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/there3" {
				serveBytes(w, r, noise)
				return
			}
			breakAfter(left, w, r, func() { panic(http.ErrAbortHandler) })
		})
		first.set(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, o.URL+"/there3", http.StatusFound) })
		check(read(0), nil, "[/a]", "[/there2 /there3]")
		other.set(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/there3" {
				w.WriteHeader(http.StatusGone)
				return
			}
			serveBytes(w, r, noise)
		})
		first.set(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, o.URL+"/there2", http.StatusFound) })
		check(read(0), nil, "[/a]", "[/there3 /there2]")
	}
	first.set(nil)
	o.CloseClientConnections()
	o.Close()
	check(errors.Join(read(0), read(1000)), nil, "[/a /a]", "[]")
	first.set(http.NotFound)
	check(read(0), fs.ErrNotExist, "[/a]", "[]")
}

// TestMovedStalled goes on elsewhere when the place that it was redirected to stalls.
func TestMovedStalled(t *testing.T) {
	remotetest.CheckGoroutines(t)
	for _, left := range []int{-1, 50} { // before the header, or in the middle
		var moved atomic.Bool
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/a" && !moved.Load():
				http.Redirect(w, r, "/there1", http.StatusFound)
			case r.URL.Path == "/a":
				http.Redirect(w, r, "/there2", http.StatusFound)
			case r.URL.Path == "/there1" && moved.Load():
				breakAfter(left, w, r, func() { <-r.Context().Done() })
			default:
				serveBytes(w, r, noise)
			}
		}))
		// On a busy machine other requests may meet the timeout, too.
		f, err := remote.Open(t.Context(), s.URL+"/a",
			&remote.Options{Backoff: time.Millisecond, Tail: 100, Timeout: 300 * time.Millisecond, Attempts: 100})
		if err != nil {
			t.Fatal(err)
		}
		moved.Store(true)
		b := make([]byte, 100)
		if err := f.ReadRanges(t.Context(), []remote.Range{{Offset: 1000, Data: b}}); err != nil ||
			!bytes.Equal(b, noise[1000:1100]) {
			t.Errorf("after %d bytes: %v", left, err)
		}
		f.Close()
		s.Close()
	}
}

// breakAfter sends a header and some bytes of the body, or nothing if left is negative, and then
// breaks.
func breakAfter(left int, w http.ResponseWriter, r *http.Request, then func()) {
	if left < 0 {
		then()
		return
	}
	serveBytes(&limited{ResponseWriter: w, left: left, then: then}, r, noise)
}

// TestDowngrade makes sure that nobody is redirected from https to http.
func TestDowngrade(t *testing.T) {
	remotetest.CheckGoroutines(t)
	var other recorder
	o := httptest.NewServer(&other)
	defer o.Close()
	s := httptest.NewTLSServer(http.RedirectHandler(o.URL, http.StatusFound))
	defer s.Close()
	trust(t, s)
	err := readNoise(s.URL+"/a", remote.Options{})
	if seen := other.all(); err == nil || !strings.HasSuffix(err.Error(), ": open: redirected from https to http") ||
		len(seen) > 0 {
		t.Errorf("%v; %d requests", err, len(seen))
	}
}

// trust makes the certificate of a server one of the authorities.
func trust(t *testing.T, s *httptest.Server) {
	t.Helper()
	dir := t.TempDir()
	b := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(dir, "0a1b2c3d.0"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "0a1b2c3d.signing_policy"), []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("X509_CERT_DIR", dir)
}
