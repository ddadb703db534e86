package rntuple_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestFailedWriter makes sure that a file stays when a new one fails.
func TestFailedWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.root")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	type bad struct {
		Q float32 `rntuple:"q,quant=8,min=0,max=1"`
	}
	w, err := rntuple.Create[bad](path, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(&bad{2}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); !errors.Is(err, rntuple.ErrRange) {
		t.Errorf("a value out of range: %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "precious" {
		t.Errorf("the old file is %q, %v", b, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestWrongTypes makes sure that everything wrong is named at once.
func TestWrongTypes(t *testing.T) {
	type wrong struct {
		A chan int
		B int `rntuple:"a.b"`
		C int `rntuple:"c,type=std::vector<int"`
		D any
		E float32 `rntuple:"e,trunc=3"`
		F int     `rntuple:"f,frob=1"`
	}
	_, err := rntuple.Create[wrong](filepath.Join(t.TempDir(), "x.root"), "n", nil)
	for _, part := range []string{"A: ", "c: ", "D: ", "F: tag", "a.b", "e: "} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not name %q", err, part)
		}
	}
}

// TestCreateErrors makes sure that errors name the path that was given.
func TestCreateErrors(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "no", "such.root")} {
		_, err := rntuple.Create[Point](path, "n", nil)
		var pathErr *os.PathError
		if !errors.As(err, &pathErr) || pathErr.Path != path {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, name := range []string{"n;1", "d/n;22"} { // which Open would take for cycles
		if _, err := rntuple.Create[Point](filepath.Join(dir, "a.root"), name, nil); err == nil ||
			!strings.Contains(err.Error(), "cycle") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReplacedFile makes sure that a file that takes the place of another has
// its permissions.
func TestReplacedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "private.root")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := rntuple.Create[Point](path, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || info.Size() == 0 {
		t.Errorf("%v, %v", info, err)
	}
}
