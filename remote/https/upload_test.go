package https_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	"github.com/go-rntuple/go-rntuple/remote"
)

// A place is a server that takes files.
type place struct {
	mu     sync.Mutex
	files  map[string][]byte
	n      int                                      // requests so far
	parts  bool                                     // readers find what has arrived of a file
	blind  bool                                     // to conditions
	fault  func(http.ResponseWriter, *http.Request) // for the requests that hit chooses; nil: it is not answered
	hit    func(n int) bool
	log    []string
	header http.Header // of the last request
}

func newPlace(t *testing.T) (*place, string) {
	p := &place{files: map[string][]byte{}, hit: func(int) bool { return false }}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return p, s.URL
}

func (p *place) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.n++
	p.log, p.header = append(p.log, r.Method), r.Header
	hit := p.hit(p.n)
	p.mu.Unlock()
	if hit && p.fault != nil {
		p.fault(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	p.mu.Lock()
	defer p.mu.Unlock()
	if hit {
		p.answer(httptest.NewRecorder(), r, body, err)
		panic(http.ErrAbortHandler)
	}
	p.answer(w, r, body, err)
}

func (p *place) answer(w http.ResponseWriter, r *http.Request, body []byte, broken error) {
	name := r.URL.Path
	old, exists := p.files[name]
	switch {
	case r.Method == http.MethodPut && exists && !p.blind && r.Header.Get("If-None-Match") == "*":
		w.WriteHeader(http.StatusPreconditionFailed)
	case r.Method == http.MethodPut && strings.HasPrefix(name, "/none/"):
		w.WriteHeader(http.StatusConflict)
	case r.Method == http.MethodPut:
		if broken == nil || p.parts {
			p.files[name] = body
		}
		w.WriteHeader(http.StatusCreated)
	case !exists:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == "MOVE":
		to, err := url.Parse(r.Header.Get("Destination"))
		if _, there := p.files[to.Path]; err != nil || there && r.Header.Get("Overwrite") == "F" {
			w.WriteHeader(http.StatusPreconditionFailed)
			return
		}
		p.files[to.Path] = old
		delete(p.files, name)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodDelete:
		delete(p.files, name)
	default:
		w.Header().Set("ETag", fmt.Sprintf(`"%d-%x"`, len(old), old[:min(4, len(old))]))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(old))
	}
}

var quick = remote.Options{Attempts: 3, Backoff: 1}

// dav returns a URL with the scheme dav.
func dav(url string) string { return strings.Replace(url, "http", "dav", 1) }

func put(t *testing.T, url string, b []byte, replace bool) error {
	return remote.Upload(t.Context(), url, bytes.NewReader(b), int64(len(b)),
		&remote.UploadOptions{Options: quick, Replace: replace})
}

func TestUpload(t *testing.T) {
	remotetest.CheckGoroutines(t)
	for _, scheme := range []func(string) string{func(url string) string { return url }, dav} {
		for _, blind := range []bool{false, true} {
			p, url := newPlace(t)
			p.blind = blind
			to := scheme(url) + "/dir/a%20b+ü.root"
			for _, size := range []int{0, 1, 1 << 20, 3 << 20} {
				b := noise[:min(size, len(noise))]
				b = append(b[:len(b):len(b)], make([]byte, size-len(b))...)
				delete(p.files, "/dir/a b+ü.root")
				if err := put(t, to, b, false); err != nil {
					t.Errorf("%s, %d bytes: %v", to, size, err)
				}
				if got := p.files["/dir/a b+ü.root"]; !bytes.Equal(got, b) || len(p.files) != 1 {
					t.Errorf("%s, %d bytes: %d bytes and %d files are there", to, size, len(got), len(p.files))
				}
				if err := put(t, to, []byte("other"), false); !errors.Is(err, fs.ErrExist) || len(p.files) != 1 {
					t.Errorf("%s, %d bytes: %v, %d files", to, size, err, len(p.files))
				}
				if err := put(t, to, []byte("other"), true); err != nil || string(p.files["/dir/a b+ü.root"]) != "other" ||
					len(p.files) != 1 {
					t.Errorf("%s, %d bytes, replaced: %v, %d files", to, size, err, len(p.files))
				}
			}
			if err := put(t, scheme(url)+"/none/file", []byte("b"), false); !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
		}
	}
}

// TestUploadFaults has each request meet each fault, once and for ever, on servers that show what
// has arrived of a file and on others. What is there is then the old file or all of the new one,
// but where a file is replaced on a server that does not wait for all of it.
func TestUploadFaults(t *testing.T) {
	remotetest.CheckGoroutines(t)
	status := func(code int) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(code) }
	}
	for _, f := range []struct {
		name   string
		fault  func(http.ResponseWriter, *http.Request)
		passes bool // if it happens once
	}{
		{"500", status(500), true}, {"503", status(503), true}, {"403", status(403), false}, {"404", status(404), false},
		{"202", status(202), false},
		{"301", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/other", http.StatusMovedPermanently)
		}, false},
		{"cut", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true},
		{"lost", nil, true},
	} {
		for _, scheme := range []func(string) string{func(url string) string { return url }, dav} {
			for _, replace := range []bool{false, true} {
				for n := 1; n <= 5; n++ {
					for _, always := range []bool{false, true} {
						p, url := newPlace(t)
						if p.fault = f.fault; replace {
							p.files["/file"] = []byte("old")
						}
						met := false
						p.hit = func(i int) bool {
							mine := i == n || always && i > n
							met = met || mine
							return mine
						}
						b := noise[:5000]
						err := put(t, scheme(url)+"/file", b, replace)
						p.mu.Lock()
						what := fmt.Sprintf("%s of %q, replace %v, always %v", f.name, p.log, replace, always)
						got, there := p.files["/file"]
						complete, before := bytes.Equal(got, b), !replace && !there || string(got) == "old"
						switch {
						case err == nil && !complete, err != nil && !complete && !before:
							t.Errorf("%s: %v, %d bytes are there", what, err, len(got))
						case err != nil && (f.passes && !always || !met):
							t.Errorf("%s: %v", what, err)
						case len(p.files) > 1 && !always && f.fault != nil:
							t.Errorf("%s: %v, %d files are there", what, err, len(p.files))
						}
						p.mu.Unlock()
					}
				}
			}
		}
	}
}

// TestUploadCut breaks the connection in the middle of a file.
func TestUploadCut(t *testing.T) {
	for _, parts := range []bool{false, true} {
		for _, replace := range []bool{false, true} {
			p, url := newPlace(t)
			if p.parts = parts; replace {
				p.files["/file"] = []byte("old")
			}
			b := noise[:500_000]
			from := &brittle{bytes.NewReader(b), 300_000}
			err := remote.Upload(t.Context(), url+"/file", from, int64(len(b)),
				&remote.UploadOptions{Options: quick, Replace: replace})
			if err == nil || !strings.Contains(err.Error(), "the disk is broken") {
				t.Errorf("%v", err)
			}
			time.Sleep(50 * time.Millisecond) // until the server has noticed
			p.mu.Lock()
			got, there := p.files["/file"]
			p.mu.Unlock()
			switch {
			case !replace && there && !parts, replace && string(got) != "old" && !parts:
				t.Errorf("replace %v: %d bytes are there", replace, len(got))
			}
		}
	}
}

// brittle is a file of which all bytes from an offset on cannot be read.
type brittle struct {
	io.ReaderAt
	end int64
}

func (b *brittle) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > b.end {
		return 0, errors.New("the disk is broken")
	}
	return b.ReaderAt.ReadAt(p, off)
}

// TestUploadRedirect uploads to a server that redirects to another one, as storage of many disks
// does.
func TestUploadRedirect(t *testing.T) {
	t.Setenv("BEARER_TOKEN", "token")
	pool, to := newPlace(t)
	for _, status := range []int{http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect} {
		tokens := 0
		door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") == "Bearer token" {
				tokens++
			}
			http.Redirect(w, r, to+r.URL.Path, status)
		}))
		defer door.Close()
		err := put(t, door.URL+fmt.Sprint("/", status), noise, true)
		got := pool.files[fmt.Sprint("/", status)]
		if keeps := status >= 307; keeps != (err == nil) || keeps != bytes.Equal(got, noise) {
			t.Errorf("%d: %v, %d bytes are there", status, err, len(got))
		}
		if tokens == 0 || pool.header.Get("Authorization") != "" {
			t.Errorf("%d: %d tokens, and the other host got %q", status, tokens, pool.header.Get("Authorization"))
		}
	}
}

// TestNotUploaded lists what cannot be written.
func TestNotUploaded(t *testing.T) {
	for url, want := range map[string]string{
		"gopher://host/file":         "unknown scheme",
		"https:///file?token=secret": "names no host",
		"http://user:secret@[/x":     "not a URL",
		"s3://bucket/key?secret":     "remote/s3",
		"nothing":                    "unknown scheme",
	} {
		err := put(t, url, nil, true)
		var e *remote.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
}

// TestNginxUpload writes files to nginx, which knows DELETE and MOVE, but no conditions.
func TestNginxUpload(t *testing.T) {
	url, _, log := nginx(t, t.TempDir())
	dir := filepath.Dir(log)
	for _, base := range []string{url + "/dav/", dav(url) + "/dav/"} {
		for _, size := range []int{0, 1, 100_000, len(noise)} {
			name := fmt.Sprintf("a b+ü%d", size)
			to := base + name
			check := func(want []byte) {
				t.Helper()
				if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s: %d bytes of %d, %v", to, len(got), len(want), err)
				}
			}
			if err := put(t, to, noise[:size], false); err != nil {
				t.Error(err)
			}
			check(noise[:size])
			if err := put(t, to, []byte("other"), false); !errors.Is(err, fs.ErrExist) {
				t.Errorf("%s: %v", to, err)
			}
			check(noise[:size])
			if err := put(t, to, []byte("other"), true); err != nil {
				t.Error(err)
			}
			check([]byte("other"))
			// The file ends early, so that the connection is closed in the middle of it.
			from := &brittle{bytes.NewReader(noise), int64(len(noise) / 2)}
			if err := remote.Upload(t.Context(), to, from, int64(len(noise)),
				&remote.UploadOptions{Options: quick, Replace: true}); err == nil || !strings.Contains(err.Error(), "broken") {
				t.Error(err)
			}
			check([]byte("other"))
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".rntuple*")); err != nil || len(left) > 0 {
		t.Errorf("%v are left", left)
	}
	if err := put(t, url+"/plain/new", noise, false); err == nil || !strings.Contains(err.Error(), "405") {
		t.Error(err)
	}
}
