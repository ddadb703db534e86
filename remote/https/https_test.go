package https_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	"github.com/go-rntuple/go-rntuple/remote"
	_ "github.com/go-rntuple/go-rntuple/remote/https"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestValues reads with so short a tail that most bytes need requests of their own.
func TestValues(t *testing.T) {
	remotetest.CheckGoroutines(t)
	s := remotetest.Serve(t, remotetest.Good(t))
	for _, tail := range []int64{1, 1 << 20} {
		s.Reset()
		remotetest.CheckValues(t, s.URL, &rntuple.ReadOptions{Remote: remote.Options{Tail: tail}})
		t.Logf("%d bytes at the end: %v", tail, s)
	}
}

// TestCached reads values from the cache, until the files change.
func TestCached(t *testing.T) {
	remotetest.CheckGoroutines(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(remotetest.Good(t))); err != nil {
		t.Fatal(err)
	}
	s := remotetest.Serve(t, dir)
	cache, err := remote.NewCache(filepath.Join(t.TempDir(), "cache"), 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	pass := func() remote.Count {
		stats := new(remote.Stats)
		remotetest.CheckValues(t, s.URL, &rntuple.ReadOptions{Remote: remote.Options{Tail: 500, Cache: cache, Stats: stats}})
		return stats.Count()
	}
	first := pass()
	second := pass()
	ends := 500 * first.Files // bytes that opening reads
	if first.Read < 1<<20/2 || second.Read > ends || second.Cached < first.Read-ends || second.Requests != second.Files {
		t.Errorf("first %+v, then %+v", first, second)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.root"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if err := os.Chtimes(path, modified, modified); err != nil {
			t.Fatal(err)
		}
	}
	if third := pass(); third.Read < first.Read/10*9 {
		t.Errorf("first %+v, and after a change %+v", first, third)
	}
}

// TestConnections makes sure that a connection is used again after each kind of response. On a
// machine that is busy, net/http may find that a request was not written in time and give its
// connection up, so the test tries three times.
func TestConnections(t *testing.T) {
	remotetest.CheckGoroutines(t)
	var requests, connections int64
	for range 3 {
		if requests, connections = countConnections(t); connections == 1 {
			break
		}
	}
	if requests != 4+2+1 || connections != 1 {
		t.Errorf("%d requests on %d connections, want 7 on 1", requests, connections)
	}
}

// countConnections reads noise from a server that fails and redirects, and makes sure that nothing
// stays open.
func countConnections(t *testing.T) (requests, connections int64) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "noise"), noise, 0o600); err != nil {
		t.Fatal(err)
	}
	var n atomic.Int64
	files := remotetest.Files(dir)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n.Add(1) {
		case 2, 4:
			http.Error(w, "try again", http.StatusBadGateway)
		case 6:
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		default:
			files.ServeHTTP(w, r)
		}
	}))
	defer s.Close()
	closed := make(chan bool, 8)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- true
		}
	}
	s.Start()
	link := remotetest.NewLink(t, s.Listener.Addr().String(), 0, 0)
	if err := readNoise("http://"+link.Addr+"/noise", remote.Options{Backoff: time.Millisecond}); err != nil {
		t.Error(err)
	}
	select {
	case <-closed:
	case <-time.After(time.Minute):
		t.Error("the connection stays open with no file open")
	}
	return n.Load(), int64(link.Connections())
}

// TestRefresh makes sure that a file at a URL, of which one version is read, is not taken for one
// to which nothing is added.
func TestRefresh(t *testing.T) {
	s := remotetest.Serve(t, remotetest.Good(t))
	r, err := rntuple.Open(s.URL+"/special_multirep.root", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Refresh(); !errors.Is(err, rntuple.ErrUnsupported) {
		t.Errorf("refreshed: %v", err)
	}
}
