//go:build !race

// The race detector reads the memory of a slice itself, and crashes where it cannot.

package rntuple_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestWritePanics makes calls of writers panic, in the middle of an entry, and recovers. Close must
// not make a file of what was written.
func TestWritePanics(t *testing.T) {
	type entry struct {
		X int32
		V []int32
	}
	header := struct {
		data *int32
		n, c int
	}{nil, 9, 9}
	faulty := *(*[]int32)(unsafe.Pointer(&header)) // a slice whose memory cannot be read
	path := filepath.Join(t.TempDir(), "a.root")
	for name, begin := range map[string]func() (write, end func() error){
		"Write": func() (write, end func() error) {
			w, err := rntuple.Create[entry](path, "n", nil)
			if err != nil {
				t.Fatal(err)
			}
			w.Write(&entry{})
			return func() error { return w.Write(&entry{1, faulty}) }, w.Close
		},
		"Filler": func() (write, end func() error) {
			w, err := rntuple.Create[entry](path, "n", nil)
			if err != nil {
				t.Fatal(err)
			}
			f := w.Filler()
			return func() error { return f.Write(&entry{1, faulty}) }, func() error { f.Close(); return w.Close() }
		},
		"Put": func() (write, end func() error) {
			w, err := rntuple.CreateColumns(path, "n", oneField(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return func() error { return rntuple.Put(w, "x", faulty) }, w.Close
		},
	} {
		write, end := begin()
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			write()
		}()
		if err := end(); err == nil || !strings.Contains(err.Error(), "a call panicked") {
			t.Errorf("%s: Close returned %v", name, err)
		}
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: there is a file: %v", name, err)
		}
	}
}
