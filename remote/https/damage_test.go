package https_test

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A damaged writer changes a body.
type damaged struct {
	http.ResponseWriter
	change func(p []byte)
}

func (d damaged) Write(p []byte) (int, error) {
	p = append([]byte(nil), p...)
	d.change(p)
	return d.ResponseWriter.Write(p)
}

// TestOtherBytes lets a server send other bytes in answer to each request in turn: the values are
// right, or a checksum or a structure is wrong.
func TestOtherBytes(t *testing.T) {
	remotetest.CheckGoroutines(t)
	dir := remotetest.Good(t)
	random := rand.New(rand.NewPCG(1, 2))
	changes := map[string]func(p []byte){
		"one bit":        func(p []byte) { p[random.IntN(len(p))] ^= 1 << random.IntN(8) },
		"one byte":       func(p []byte) { p[random.IntN(len(p))] += byte(1 + random.IntN(255)) },
		"the first byte": func(p []byte) { p[0]++ },
		"the last byte":  func(p []byte) { p[len(p)-1]++ },
		"zeros":          func(p []byte) { clear(p) },
		"moved":          func(p []byte) { copy(p, p[1:]) },
	}
	for _, name := range []string{"types_zstd_many.root", "special_late.root"} {
		infos, err := rntuple.ListFile(context.Background(), filepath.Join(dir, name), nil)
		if err != nil {
			t.Fatal(err)
		}
		ntuple := infos[0].Path
		want, err := remotetest.Values(filepath.Join(dir, name), ntuple, nil)
		if err != nil || want == "" {
			t.Fatal(err)
		}
		files := remotetest.Files(dir)
		n, damage, change := 0, 0, func(p []byte) {}
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n++; n == damage {
				w = damaged{w, change}
			}
			files.ServeHTTP(w, r)
		}))
		defer s.Close()
		read := func() (string, error) {
			n = 0
			return remotetest.Values(s.URL+"/"+name, ntuple,
				&rntuple.ReadOptions{Workers: 1, Remote: remote.Options{Tail: 1000, Requests: 1, Attempts: 2,
					Backoff: time.Millisecond}})
		}
		if got, err := read(); err != nil || got != want {
			t.Fatalf("%s: other values, %v", name, err)
		}
		noticed, requests := 0, n
		for damage = 1; damage <= requests; damage++ {
			for what, c := range changes {
				change = c
				got, err := read()
				if err != nil {
					noticed++
				} else if got != want {
					t.Errorf("%s: request %d: %s: other values", name, damage, what)
				}
			}
		}
		if noticed < requests {
			t.Errorf("%s: only %d of %d damages were noticed", name, noticed, requests*len(changes))
		}
		t.Logf("%s: %d of %d damages, of %d requests, were noticed", name, noticed, requests*len(changes), requests)
	}
}
