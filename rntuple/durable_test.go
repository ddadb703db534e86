package rntuple_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/disk/diskfile"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

type counted struct {
	N  int64     `rntuple:"n"`
	Xs []float64 `rntuple:"xs"`
}

// write writes the entries from first to end, with a checkpoint after every step of them.
func writeCounted(w *rntuple.Writer[counted], first, end, step int64) error {
	for n := first; n < end; n++ {
		w.Write(&counted{n, make([]float64, n%7)})
		if step > 0 && (n+1)%step == 0 {
			if err := w.Checkpoint(); err != nil {
				w.Abort()
				return err
			}
		}
	}
	return w.Close()
}

// countedFile makes a file with entries 0 to n.
func countedFile(t *testing.T, n int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "events.root")
	w, err := rntuple.Create[counted](path, "t", &rntuple.WriteOptions{File: rntuple.FileOptions{NoSync: true}})
	if err == nil {
		err = writeCounted(w, 0, n, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// entriesOf reads all entries, which count from 0.
func entriesOf(path string) (n int64, err error) {
	r, err := rntuple.Open(path, "t", nil)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	v, err := rntuple.ViewOf[int64](r, "n")
	if err != nil {
		return 0, err
	}
	for i, got := range v.All() {
		if got != i {
			return 0, fmt.Errorf("entry %d is %d", i, got)
		}
		n++
	}
	return n, v.Err()
}

func wantEntries(t *testing.T, what, path string, want ...int64) {
	t.Helper()
	got, err := entriesOf(path)
	for _, n := range want {
		if got == n && err == nil {
			return
		}
	}
	t.Errorf("%s: %d entries, %v; want one of %d", what, got, err, want)
}

// operations calls do and returns what it does to files on disk. Each operation is first
// passed to fail.
func operations(do func(), fail func(op diskfile.Op) error) (ops []string) {
	names := []string{"create", "write", "sync", "truncate", "rename", "sync folder", "remove"}
	var mu sync.Mutex
	diskfile.Hook = func(op diskfile.Op) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		name := names[op.Kind]
		if op.Kind == diskfile.WriteOp && op.Off == 0 {
			name = "head"
		}
		ops = append(ops, name)
		if fail == nil {
			return 0, nil
		}
		return len(op.Data) / 2, fail(op)
	}
	defer func() { diskfile.Hook = nil }()
	do()
	return ops
}

// TestSyncs writes, and makes sure that what a head refers to is on the disk before the head,
// and all before the end.
func TestSyncs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.root")
	create := func(opts *rntuple.WriteOptions) func() {
		return func() {
			w, err := rntuple.Create[counted](path, "t", opts)
			if err == nil {
				err = writeCounted(w, 0, 100, 0)
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
	add := func(opts *rntuple.WriteOptions) func() {
		return func() {
			w, err := rntuple.Append[counted](path, "t", opts)
			if err == nil {
				err = writeCounted(w, 100, 200, 50)
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
	for _, c := range []struct {
		what string
		do   func()
		want string // runs of writes are one, and those after a commit are left out
	}{
		{"create", create(nil), "create write head sync rename folder"},
		{"append", add(nil), "write sync head sync write sync head sync"},
		{"create, NoSync", create(&rntuple.WriteOptions{File: rntuple.FileOptions{NoSync: true}}),
			"create write head rename"},
		{"append, NoSync", add(&rntuple.WriteOptions{File: rntuple.FileOptions{NoSync: true}}), "write head write head"},
	} {
		var runs []string
		for _, op := range operations(c.do, nil) {
			op = strings.TrimPrefix(op, "sync ")
			if len(runs) == 0 || runs[len(runs)-1] != op {
				runs = append(runs, op)
			}
		}
		if got := strings.Join(runs, " "); !strings.HasPrefix(got, c.want) ||
			strings.Contains(c.want, "sync") != strings.Contains(got, "sync") {
			t.Errorf("%s: %s; want %s", c.what, got, c.want)
		}
	}
	// What is committed already is not synced again.
	f, err := rntuple.UpdateFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if ops := operations(func() { err = f.Close() }, nil); len(ops) > 0 || err != nil {
		t.Errorf("an update of nothing: %v, %v", ops, err)
	}
}

// TestFailingUpdates makes each operation of an update fail: the file must have the old
// content and length, or, if its head was to be written, the old or the new content.
func TestFailingUpdates(t *testing.T) {
	const old, checkpoint, all = 50, 80, 100
	path := countedFile(t, old)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	update := func() error {
		// Clusters are small, so that there are writes before the commit.
		w, err := rntuple.Append[counted](path, "t", &rntuple.WriteOptions{ClusterSize: 100, Workers: 1})
		if err != nil {
			return err
		}
		return writeCounted(w, old, all, checkpoint)
	}
	for n, done := 0, false; !done; n++ {
		if err := os.WriteFile(path, before, 0o666); err != nil {
			t.Fatal(err)
		}
		calls, head := 0, false
		var err error
		ops := operations(func() { err = update() }, func(op diskfile.Op) error {
			if calls++; calls-1 == n {
				return syscall.ENOSPC
			}
			if calls <= n {
				head = head || op.Kind == diskfile.WriteOp && op.Off == 0
			}
			return nil
		})
		if done = calls <= n; done {
			if err != nil || n < 10 {
				t.Errorf("%v after %d operations", err, n)
			}
			wantEntries(t, "no failure", path, all)
			break
		}
		what := fmt.Sprintf("operation %d, %s", n, ops[n])
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: error %v", what, err)
		}
		if head || ops[n] == "head" {
			if ops[n] != "head" { // half of which is there
				wantEntries(t, what, path, old, checkpoint, all)
			}
			continue
		}
		wantEntries(t, what, path, old)
		after, err := os.ReadFile(path)
		if err != nil || len(after) != len(before) || !bytes.Equal(after[:512], before[:512]) {
			t.Errorf("%s: %d bytes, %v; there were %d", what, len(after), err, len(before))
		}
	}
}

// TestAbortedUpdate gives up after a checkpoint.
func TestAbortedUpdate(t *testing.T) {
	path := countedFile(t, 10)
	for _, trailing := range []int{0, 1 << 20} { // bytes beyond the end that the header gives
		size := int64(0)
		if info, err := os.Stat(path); err != nil {
			t.Fatal(err)
		} else if size = info.Size() + int64(trailing); os.Truncate(path, size) != nil {
			t.Fatal("the file cannot be made longer")
		}
		f, err := rntuple.UpdateFile(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		w, err := rntuple.NewWriter[counted](f, "other", &rntuple.WriteOptions{ClusterSize: 1000, Compression: compress.None})
		if err != nil {
			t.Fatal(err)
		}
		for range 1000 {
			w.Write(&counted{})
		}
		if grown := f.Size(); grown <= size-int64(trailing) || w.FileSize() != grown {
			t.Errorf("Size %d, FileSize %d; the file had %d bytes", grown, w.FileSize(), size)
		}
		if err := f.Abort(); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() != size {
			t.Errorf("%d bytes, %v; there were %d", info.Size(), err, size)
		}
		wantEntries(t, "aborted", path, 10)
	}
}

// TestSize compares Size with the file.
func TestSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.root")
	w, err := rntuple.Create[counted](path, "t", &rntuple.WriteOptions{ClusterSize: 10_000, Compression: compress.None})
	if err != nil {
		t.Fatal(err)
	}
	last := w.FileSize()
	for n := range int64(20_000) {
		w.Write(&counted{N: n})
		if size := w.FileSize(); size < last {
			t.Fatalf("entry %d: %d bytes after %d", n, size, last)
		} else {
			last = size
		}
	}
	// An entry has 8 bytes for n and for the end of xs. At most two clusters are not written.
	if last < 20_000*16-2*10_000 || last > 20_000*16*5/4 {
		t.Errorf("%d bytes", last)
	}
	if err := w.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != w.FileSize() {
		t.Errorf("the file has %d bytes, FileSize is %d, %v", info.Size(), w.FileSize(), err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// TestLocked has several writers of one file.
func TestLocked(t *testing.T) {
	path := countedFile(t, 10)
	first, err := rntuple.Append[counted](path, "t", nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := rntuple.Append[counted](path, "t", nil)
	switch {
	case err == nil:
		w.Abort()
		first.Abort()
		t.Skip("there are no locks here")
	case !errors.Is(err, rntuple.ErrLocked) || err.Error() != path+": another process is updating the file":
		t.Error(err)
	}
	if w, err = rntuple.Create[counted](path, "t", nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); !errors.Is(err, rntuple.ErrLocked) {
		t.Errorf("replaced during an update: %v", err)
	}
	if err := writeCounted(first, 10, 20, 0); err != nil {
		t.Error(err)
	}
	wantEntries(t, "locked", path, 20)
	if entries, err := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Error(entries, err)
	}
}

// TestWaiting appends to one file from many goroutines at once: each must continue what
// the others wrote.
func TestWaiting(t *testing.T) {
	path := countedFile(t, 0)
	var all sync.WaitGroup
	const writers = 20
	for range writers {
		all.Go(func() {
			w, err := rntuple.Append[counted](path, "t",
				&rntuple.WriteOptions{File: rntuple.FileOptions{LockWait: time.Hour, NoSync: true}})
			if err == nil {
				err = writeCounted(w, w.NumEntries(), w.NumEntries()+10, 0)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	wantEntries(t, "waiting", path, writers*10)
}
