package tempfile

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestRemoveAll(t *testing.T) {
	dir := t.TempDir()
	create := func() (*os.File, error) { return os.CreateTemp(dir, "") }
	var files []*os.File
	for range 4 {
		f, err := Create(create)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files = append(files, f)
	}
	final := filepath.Join(dir, "final")
	if err := os.Rename(files[0].Name(), final); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0].Name(), nil, 0o600); err != nil { // another one, by somebody else
		t.Fatal(err)
	}
	Forget(files[0].Name())
	if err := Remove(files[1].Name()); err != nil {
		t.Error(err)
	}
	for _, f := range files {
		f.Close() // Windows removes closed files only
	}
	RemoveAll()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("left: %v, %v", left, err)
	}
	late := make(chan struct{})
	go func() {
		Create(create)
		close(late)
	}()
	select {
	case <-late:
		t.Error("a file is made after RemoveAll")
	case <-time.After(50 * time.Millisecond):
	}
}
