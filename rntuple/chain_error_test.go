package rntuple_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestInputError makes sure that an input is named by its number or its path, without secrets.
func TestInputError(t *testing.T) {
	in := &rntuple.InputError{Index: 3, Err: io.EOF}
	if got, want := in.Error(), "input 3 of the chain: EOF"; got != want || !errors.Is(in, io.EOF) {
		t.Errorf("%q, want %q", got, want)
	}
	in.Path = "https://user:secret@host/f.root"
	if got := in.Error(); strings.Contains(got, "secret") || !strings.HasSuffix(got, "host/f.root: EOF") {
		t.Errorf("%q", got)
	}
}
