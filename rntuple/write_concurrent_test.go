package rntuple_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestConcurrentWriters uses writers from many goroutines without a lock. Either there is an error
// that says so and no file, or all went one after the other, and the file has each entry whose
// Write returned nil.
func TestConcurrentWriters(t *testing.T) {
	type entry struct {
		X int32
		V []int32
	}
	type writer struct {
		write, checkpoint, close func() error
	}
	for name, create := range map[string]func(path string) (writer, error){
		"rows": func(path string) (writer, error) {
			w, err := rntuple.Create[entry](path, "n",
				&rntuple.WriteOptions{ClusterSize: 1000, File: rntuple.FileOptions{NoSync: true}})
			return writer{func() error { return w.Write(&entry{1, []int32{2, 3}}) }, w.Checkpoint, w.Close}, err
		},
		"attributes": func(path string) (writer, error) {
			w, err := rntuple.Create[entry](path, "n",
				&rntuple.WriteOptions{ClusterSize: 1000, File: rntuple.FileOptions{NoSync: true}})
			if err != nil {
				return writer{}, err
			}
			a, err := rntuple.NewAttributes[entry](w, "set", nil)
			return writer{func() error {
				return errors.Join(w.Write(&entry{1, []int32{2, 3}}), a.Write(rntuple.EntryRange{First: 0, End: 1}, entry{}))
			}, w.CommitCluster, w.Close}, err
		},
		"filler": func(path string) (writer, error) {
			w, err := rntuple.Create[entry](path, "n",
				&rntuple.WriteOptions{ClusterSize: 1000, File: rntuple.FileOptions{NoSync: true}})
			if err != nil {
				return writer{}, err
			}
			f := w.Filler()
			return writer{func() error { return f.Write(&entry{1, []int32{2, 3}}) }, f.CommitCluster,
				func() error { return errors.Join(f.Close(), w.Close()) }}, nil
		},
		"append": func(path string) (writer, error) {
			w, err := rntuple.Create[entry](path, "n", nil)
			if err != nil {
				return writer{}, err
			}
			if err := w.Close(); err != nil {
				return writer{}, err
			}
			a, err := rntuple.Append[entry](path, "n",
				&rntuple.WriteOptions{ClusterSize: 1000, File: rntuple.FileOptions{NoSync: true}})
			return writer{func() error { return a.Write(&entry{1, []int32{2, 3}}) }, a.CommitClusterGroup, a.Close}, err
		},
	} {
		path := filepath.Join(t.TempDir(), "a.root")
		w, err := create(path)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		var written atomic.Int64
		begin := make(chan struct{})
		for i := range 8 {
			all.Go(func() {
				<-begin
				for j := range 500 {
					if w.write() == nil {
						written.Add(1)
					}
					if j%100 == i {
						w.checkpoint()
					}
				}
			})
		}
		close(begin)
		all.Wait()
		err = w.close()
		if err != nil && !errors.Is(err, rntuple.ErrConcurrent) {
			t.Errorf("%s: %v", name, err)
		}
		r, openErr := rntuple.Open(path, "n", nil)
		switch {
		case errors.Is(openErr, fs.ErrNotExist) && err != nil:
			continue
		case openErr != nil:
			t.Errorf("%s: Close returned %v, but %v", name, err, openErr)
			continue
		}
		n := int64(0)
		for e, readErr := range rntuple.Entries[entry](r) {
			if readErr != nil || e.X != 1 || len(e.V) != 2 || e.V[0] != 2 || e.V[1] != 3 {
				t.Fatalf("%s: entry %d is %v, %v", name, n, e, readErr)
			}
			n++
		}
		if err == nil && n != written.Load() {
			t.Errorf("%s: %d entries, %d were written", name, n, written.Load())
		}
		r.Close()
		os.Remove(path)
	}
}

// TestFillerClosedDuringWrite closes a Filler while another goroutine writes to it. Either there is
// an error, or the file can be read.
func TestFillerClosedDuringWrite(t *testing.T) {
	type entry struct {
		X int32
		V []int32
		Y int64
	}
	path := filepath.Join(t.TempDir(), "a.root")
	for range 50 {
		w, err := rntuple.Create[entry](path, "n", &rntuple.WriteOptions{File: rntuple.FileOptions{NoSync: true}})
		if err != nil {
			t.Fatal(err)
		}
		f := w.Filler()
		begun, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			f.Write(&entry{})
			close(begun)
			for f.Write(&entry{1, make([]int32, 50), 1}) == nil {
			}
		}()
		<-begun
		fillerErr := f.Close()
		<-done
		err = w.Close()
		if again := f.Close(); fillerErr == nil && again == nil {
			t.Error("a filler was closed twice")
		}
		if err != nil {
			if !errors.Is(err, rntuple.ErrConcurrent) {
				t.Error(err)
			}
			continue
		}
		r, err := rntuple.Open(path, "n", nil)
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range rntuple.Entries[entry](r) {
			if err != nil || len(e.V) != 50*int(e.X) || e.Y != int64(e.X) {
				t.Fatal(e, err)
			}
		}
		r.Close()
	}
}
