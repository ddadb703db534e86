//go:build cgo

package main

import (
	"os"
	"strings"
	"testing"
)

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
