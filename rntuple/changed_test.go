package rntuple_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// What another program commits to a file that is being updated is not written over,
// although records of the update have been written before.
func TestChangedMeanwhile(t *testing.T) {
	type entry struct{ X int64 }
	path := filepath.Join(t.TempDir(), "n.root")
	write := func(w *rntuple.Writer[entry], err error) *rntuple.Writer[entry] {
		for x := range 1000 {
			if err == nil {
				err = w.Write(&entry{int64(x)})
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	if err := write(rntuple.Create[entry](path, "n", nil)).Close(); err != nil {
		t.Fatal(err)
	}
	w := write(rntuple.Append[entry](path, "n", &rntuple.WriteOptions{ClusterSize: 1000}))
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[200] ^= 1 // in the top directory
	b = append(b, "records of another program"...)
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "changed by another program") {
		t.Error(err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, b) {
		t.Errorf("the file was written to: %v", err)
	}
}

// What is appended to a file that has lost its name is not lost without an error.
func TestReplacedMeanwhile(t *testing.T) {
	type entry struct{ X int64 }
	path := filepath.Join(t.TempDir(), "n.root")
	w, err := rntuple.Create[entry](path, "n", nil)
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		w, err = rntuple.Append[entry](path, "n", nil)
	}
	if err == nil {
		err = os.Rename(path, path+".old")
	}
	if err != nil {
		t.Skip("skipped: files that are open cannot be renamed here: ", err)
	}
	if err := w.Write(&entry{1}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "moved, removed or replaced") {
		t.Error(err)
	}
}
