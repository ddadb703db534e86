//go:build cgo

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestAbsent looks for an RNTuple by the spellings that name it.
func TestAbsent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.root")
	w, err := rntuple.Create[struct{ X int32 }](path, "dir/a", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dir/a", "/dir/a", "dir//a", "//dir/a/"} {
		if err := absent(t.Context(), path, name); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for _, name := range []string{"a", "dir", "dir/b", "dir/a/b"} {
		if err := absent(t.Context(), path, name); err != nil {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestVersion compares the version of the library with that of the module that go.mod requires.
func TestVersion(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(mod), "github.com/go-rntuple/go-rntuple v")
	want, _, _ := strings.Cut(after, "\n")
	header, err := os.ReadFile("bridge.h")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(header), `#define RNTUPLE_VERSION "`+want+`"`) {
		t.Errorf("bridge.h has another version than go.mod, %s", want)
	}
}
