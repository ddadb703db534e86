package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"testing"
)

// TestPool opens files again and again, and counts the requests that this takes.
func TestPool(t *testing.T) {
	pool := NewPool(2)
	var backends [4]*fake
	open := func(i int, o Options) (*File, error) {
		o.Pool = pool
		return Open(t.Context(), fmt.Sprintf("fake://%s-%d/", t.Name(), i), &o)
	}
	use := func(i int, o Options) {
		t.Helper()
		f, err := open(i, o)
		if err != nil {
			t.Fatal(err)
		}
		p := make([]byte, 5)
		if _, err := f.ReadAt(p, 10); err != nil || p[0] != backends[i].data[10] {
			t.Errorf("read %v, %v", p, err)
		}
		for range 2 {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		if _, err := f.ReadAt(p, 700_000); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("read from a closed file: %v", err)
		}
	}
	register()
	for i := range backends {
		backends[i] = &fake{data: noise(1<<20 + i), most: 1}
		fakes.Store(fmt.Sprintf("%s-%d", t.Name(), i), backends[i])
	}

	var first, second Stats
	use(0, Options{Stats: &first, Tail: 10})
	use(0, Options{Stats: &second, Tail: 10})
	if n := backends[0].attempts; n != 2 || first.Count().Files != 1 || second.Count().Requests != 0 {
		t.Errorf("%d requests for a file that is opened twice: %+v, %+v", n, first.Count(), second.Count())
	}
	held, err := open(0, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 { // three of them unused, so that the first of these is closed
		use(i, Options{})
	}
	for i, closed := range []bool{false, true, false, false} {
		if backends[i].closed != closed {
			t.Errorf("file %d: closed is %v", i, !closed)
		}
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	if !backends[2].closed || !backends[3].closed || backends[0].closed {
		t.Error("closing a Pool closes the files that nobody uses")
	}
	if _, err := held.ReadAt(make([]byte, 3), 500_000); err != nil {
		t.Error(err)
	}
	if err := held.Close(); err != nil || !backends[0].closed {
		t.Errorf("the last file is not closed: %v", err)
	}
}

// TestPoolChanged changes a file that is kept open: who opens it later reads what it is now.
func TestPoolChanged(t *testing.T) {
	pool := NewPool(1)
	register()
	old, fresh := &fake{data: noise(1 << 20), most: 1}, &fake{data: noise(1<<20 + 1), most: 1}
	fakes.Store(t.Name(), old)
	open := func() *File {
		f, err := Open(t.Context(), "fake://"+t.Name()+"/", &Options{Pool: pool, Tail: 10, Attempts: 1})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	open().Close()
	old.fail = func(int, []Range) (int, error) { return 0, ErrChanged }
	fakes.Store(t.Name(), fresh)
	f := open()
	if _, err := f.ReadAt(make([]byte, 5), 500_000); !errors.Is(err, ErrChanged) {
		t.Errorf("a file that has changed: %v", err)
	}
	g := open()
	if _, err := g.ReadAt(make([]byte, 5), 500_000); err != nil || g.Len() != 1<<20+1 {
		t.Errorf("%d bytes, %v", g.Len(), err)
	}
	f.Close()
	open().Close() // the one that is kept is the new one
	g.Close()
	pool.Close()
	if !old.closed || !fresh.closed {
		t.Errorf("closed: %v, %v", old.closed, fresh.closed)
	}
}

// TestPoolErrors opens what cannot be opened, cancels one of two users, and opens from many
// goroutines.
func TestPoolErrors(t *testing.T) {
	pool := NewPool(1)
	defer pool.Close()
	register()
	b := &fake{data: noise(1000), most: 1}
	fakes.Store(t.Name(), b)
	url := "fake://" + t.Name() + "/"
	if _, err := Open(t.Context(), url, &Options{Pool: pool, Tail: -1}); err == nil {
		t.Error("negative Tail is taken")
	}
	b.info = &Info{Size: -1}
	if _, err := Open(t.Context(), url, &Options{Pool: pool}); err == nil {
		t.Error("a file of negative size is opened")
	}
	b.info = nil

	ctx, cancel := context.WithCancel(t.Context())
	one, err := Open(ctx, url, &Options{Pool: pool, Tail: 1})
	if err != nil {
		t.Fatal(err)
	}
	other, err := Open(t.Context(), url, &Options{Pool: pool, Tail: 1})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	one.Close()
	if _, err := other.ReadAt(make([]byte, 1), 0); err != nil {
		t.Errorf("the context of another user: %v", err)
	}
	other.Close()

	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			f, err := Open(t.Context(), url, &Options{Pool: pool, Tail: 1, Requests: 1})
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := f.ReadAt(make([]byte, 100), 100); err != nil {
				t.Error(err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
