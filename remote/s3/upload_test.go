package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/remote/s3/internal/limits"
)

// small makes parts so small that tests have many of them.
func small(t *testing.T) {
	put, part, parts := limits.Put, limits.Part, limits.Parts
	limits.Put, limits.Part, limits.Parts = 1000, 300, 10
	t.Cleanup(func() { limits.Put, limits.Part, limits.Parts = put, part, parts })
}

// noise returns n bytes.
func noise(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{}).Read(b)
	return b
}

var options = remote.Options{Attempts: 3, Backoff: 1}

func TestUpload(t *testing.T) {
	remotetest.CheckGoroutines(t)
	small(t)
	s := newStore(t)
	for _, test := range []struct{ size, requests int }{
		{0, 1}, {1, 1}, {999, 1}, {1000, 1}, {1001, 6}, {1200, 6}, {1201, 7}, {3000, 12}, {30001, 12}, // at most ten parts
	} {
		name := fmt.Sprint("bucket/", strange, test.size)
		b := noise(test.size)
		o := remote.UploadOptions{Options: options}
		o.Stats = new(remote.Stats)
		upload := func(replace bool) error {
			o.Replace = replace
			s.requests()
			return remote.Upload(t.Context(), "s3://"+name, bytes.NewReader(b), int64(len(b)), &o)
		}
		check := func(what string, err error, requests int) {
			t.Helper()
			if got, ok := s.get(name); err != nil || !ok || !bytes.Equal(got, b) || len(s.uploads) > 0 {
				t.Errorf("%d bytes, %s: %v, %d bytes arrived, %d uploads are left", test.size, what, err, len(got), len(s.uploads))
			}
			if got := s.requests(); len(got) != requests {
				t.Errorf("%d bytes, %s: %q, want %d requests", test.size, what, got, requests)
			}
		}
		check("new", upload(false), 1+test.requests) // one to ask whether it is there
		if n := o.Stats.Count().Written; n < int64(test.size) {
			t.Errorf("%d of %d bytes are counted", n, test.size)
		}
		old := b
		b = noise(test.size + 1)[1:]
		if err := upload(false); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%d bytes, not to be replaced: %v", test.size, err)
		}
		if got, _ := s.get(name); !bytes.Equal(got, old) {
			t.Errorf("%d bytes were replaced", test.size)
		}
		check("replaced", upload(true), test.requests)
	}
}

// TestRace has somebody else make the object while it is uploaded.
func TestRace(t *testing.T) {
	small(t)
	for _, size := range []int{10, 2000} {
		s := newStore(t)
		s.fault = func(w http.ResponseWriter, r *http.Request, n int) bool {
			if r.Method == http.MethodPut {
				s.put("bucket/key", []byte("theirs"))
			}
			return false
		}
		b := noise(size)
		err := remote.Upload(t.Context(), "s3://bucket/key", bytes.NewReader(b), int64(len(b)),
			&remote.UploadOptions{Options: options})
		if got, _ := s.get("bucket/key"); !errors.Is(err, fs.ErrExist) || string(got) != "theirs" || len(s.uploads) > 0 {
			t.Errorf("%d bytes: %v, %d bytes are there, %d uploads are left", size, err, len(got), len(s.uploads))
		}
	}
}

// TestUploadFaults has each request meet each fault, once and for ever. The object is then as it
// was, or complete; after a success it is complete.
func TestUploadFaults(t *testing.T) {
	remotetest.CheckGoroutines(t)
	small(t)
	status := func(code int, name string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) { refuse(w, r, code, name, "no") }
	}
	for _, f := range []struct {
		name   string
		serve  func(http.ResponseWriter, *http.Request) // nil: the request is carried out, but not answered
		passes bool                                     // if it happens once
	}{
		{"500", status(500, "InternalError"), true},
		{"503", status(503, "SlowDown"), true},
		{"409", status(409, "ConditionalRequestConflict"), true},
		{"403", status(403, "AccessDenied"), false},
		{"404", status(404, "NoSuchBucket"), false},
		{"412", status(412, "PreconditionFailed"), false},
		{"301", status(301, "PermanentRedirect"), false},
		{"200 and an error", status(200, "InternalError"), false}, // a request for parts; others do not look
		{"cut", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true},
		{"stalled", stall, true},
		{"lost", nil, true},
	} {
		s := newStore(t)
		for _, size := range []int{500, 1500} {
			for _, replace := range []bool{false, true} {
				for n := 1; n <= 10; n++ {
					if testing.Short() && n%3 == 0 {
						continue
					}
					for _, always := range []bool{false, true} {
						o := options
						if f.name == "stalled" {
							// it takes a while
							if o.Timeout = 200 * time.Millisecond; replace || size < 1000 || (always || testing.Short()) && n != 5 {
								continue
							}
							if o.Attempts = 100; always { // on a busy machine other requests may meet the timeout, too
								o.Attempts = 10
							}
						}
						what := fmt.Sprintf("%s, %d bytes, request %d, replace %v, always %v", f.name, size, n, replace, always)
						s.reset()
						if replace {
							s.put("bucket/key", []byte("old"))
						}
						var met bool
						hit := func(r *http.Request, i int) bool {
							s.mu.Lock()
							defer s.mu.Unlock()
							mine := i == n || always && i > n
							mine = mine && (f.name != "200 and an error" || r.Method == http.MethodPost)
							met = met || mine
							return mine
						}
						if f.serve == nil {
							s.lose = hit
						} else {
							s.fault = func(w http.ResponseWriter, r *http.Request, i int) bool {
								if hit(r, i) {
									f.serve(w, r)
									return true
								}
								return false
							}
						}
						b := noise(size)
						err := remote.Upload(t.Context(), "s3://bucket/key", bytes.NewReader(b), int64(size),
							&remote.UploadOptions{Options: o, Replace: replace})
						s.mu.Lock()
						left := len(s.uploads)
						s.mu.Unlock()
						got, there := s.get("bucket/key")
						complete, before := bytes.Equal(got, b), !replace && !there || string(got) == "old"
						switch {
						case err == nil && !complete, err != nil && !complete && !before, err != nil && complete && f.serve != nil:
							t.Errorf("%s: %v, %d bytes are there", what, err, len(got))
						case err != nil && !always && f.passes, err != nil && !met:
							t.Errorf("%s: %v", what, err)
						case err == nil && met && always && f.name != "403" && f.name != "404": // which are no answer to whether there is a file
							t.Errorf("%s: no error", what)
						case left > 0 && !always && f.serve != nil && f.name != "stalled": // an answer that is late is one that is lost
							t.Errorf("%s: %v, %d uploads are left", what, err, left)
						}
					}
				}
			}
		}
	}
}

// stall waits until the client gives up, which the server notices only when there is nothing to
// read.
func stall(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// TestCancelled cancels an upload at each of its requests.
func TestCancelled(t *testing.T) {
	remotetest.CheckGoroutines(t)
	small(t)
	for n := 1; n <= 8; n++ {
		s := newStore(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		s.fault = func(w http.ResponseWriter, r *http.Request, i int) bool {
			if i == n {
				cancel(errors.New("enough"))
				stall(w, r)
				return true
			}
			return false
		}
		b := noise(1500)
		err := remote.Upload(ctx, "s3://bucket/key", bytes.NewReader(b), int64(len(b)),
			&remote.UploadOptions{Options: options})
		cancel(nil)
		if err == nil || !strings.Contains(err.Error(), "enough") {
			t.Errorf("request %d: %v", n, err)
		}
		if _, there := s.get("bucket/key"); there || len(s.uploads) > 0 && n > 2 {
			t.Errorf("request %d: %v, %d uploads are left", n, there, len(s.uploads))
		}
	}
}
