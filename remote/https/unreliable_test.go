package https_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestUnreliable reads all values from a server that fails every third time, in many ways.
func TestUnreliable(t *testing.T) {
	remotetest.CheckGoroutines(t)
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(1, 2))
	files, failed := remotetest.Files(remotetest.Good(t)), 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		fault, n := random.IntN(18), random.IntN(2000)
		if fault < 6 {
			failed++
		}
		mu.Unlock()
		switch fault {
		case 0:
			w.WriteHeader(http.StatusInternalServerError)
		case 1:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
		case 2:
			panic(http.ErrAbortHandler)
		case 3, 4:
			files.ServeHTTP(&limited{ResponseWriter: w, left: n, then: func() { panic(http.ErrAbortHandler) }}, r)
		case 5:
			raw("HTTP/1.1 206 Partial Con")(w, r)
		default:
			files.ServeHTTP(w, r)
		}
	}))
	defer s.Close()
	s.Config.ErrorLog = nil
	o := remote.Options{Tail: 1000, Attempts: 30, Backoff: time.Millisecond}
	remotetest.CheckValues(t, s.URL, &rntuple.ReadOptions{Remote: o, Workers: 4})
	if failed < 50 {
		t.Errorf("only %d requests failed", failed)
	}
}

// TestBreaks lets a server fail for good after some requests: reading ends with an error that says
// so.
func TestBreaks(t *testing.T) {
	remotetest.CheckGoroutines(t)
	dir := remotetest.Good(t)
	const name = "types_zstd_many.root"
	infos, err := rntuple.ListFile(context.Background(), filepath.Join(dir, name), nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := remotetest.Values(filepath.Join(dir, name), infos[0].Path, nil)
	if err != nil {
		t.Fatal(err)
	}
	files := remotetest.Files(dir)
	var n, last atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) > last.Load() {
			http.NotFound(w, r)
			return
		}
		files.ServeHTTP(w, r)
	}))
	defer s.Close()
	for ; last.Load() < 1000; last.Add(1) {
		n.Store(0)
		got, err := remotetest.Values(s.URL+"/"+name, infos[0].Path,
			&rntuple.ReadOptions{Workers: 4, Remote: remote.Options{Tail: 1000}})
		switch {
		case err == nil && got != want, !strings.HasPrefix(want, got):
			t.Fatalf("after %d requests: other values", last.Load())
		case err == nil && last.Load() > 3:
			return
		case err == nil, !strings.Contains(err.Error(), fmt.Sprint(s.URL, "/", name)),
			!strings.Contains(err.Error(), "404 Not Found"):
			t.Errorf("after %d requests: %v", last.Load(), err)
		}
	}
	t.Error("it takes more than 1000 requests")
}

// TestSilent connects to a server that never says anything.
func TestSilent(t *testing.T) {
	remotetest.CheckGoroutines(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns []net.Conn
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns = append(conns, c)
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
		for _, c := range conns {
			c.Close()
		}
	})
	for _, scheme := range []string{"http", "https"} {
		err := readNoise(scheme+"://"+l.Addr().String()+"/a", remote.Options{Timeout: 50 * time.Millisecond, Attempts: 2})
		if !errors.Is(err, remote.ErrTimeout) || !strings.HasSuffix(err.Error(), "no data arrived in time (2 attempts)") {
			t.Errorf("%s: %v", scheme, err)
		}
	}
	l.Close()
	err = readNoise("http://"+remotetest.FreeAddress(t)+"/a", remote.Options{Attempts: 2, Backoff: time.Millisecond})
	if err == nil || !strings.HasSuffix(err.Error(), "connection refused (2 attempts)") {
		t.Errorf("nobody listens: %v", err)
	}
}
