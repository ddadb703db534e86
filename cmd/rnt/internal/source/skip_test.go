package source

import (
	"context"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestIsBad checks which errors are those of a bad file.
func TestIsBad(t *testing.T) {
	at := func(path string, err error) error { return &fs.PathError{Op: "read", Path: path, Err: err} }
	for _, c := range []struct {
		err error
		bad bool
	}{
		{at("in", syscall.EIO), true},
		{at("in", fs.ErrNotExist), true},
		{at("in", fs.ErrPermission), true},
		{at("in", syscall.EMFILE), false},
		{at("out", syscall.EIO), false},
		{at("out", syscall.ENOSPC), false},
		{syscall.EIO, false},
		{&remote.Error{Err: fs.ErrNotExist}, true},
		{&remote.Error{Err: syscall.ENOSPC}, false}, // of the folder for temporary files
		{rntuple.ErrChecksum, true},
		{rntuple.ErrNotFound, true},
		{rntuple.ErrRange, false},
		{rntuple.ErrNoField, false},
		{&frame.LimitError{}, false},
		{context.Canceled, false},
	} {
		if got := isBad(&rntuple.InputError{Path: "in", Err: fmt.Errorf("cluster 1: %w", c.err)}); got != c.bad {
			t.Errorf("%v: %v", c.err, got)
		}
	}
	err := (&BadFiles{Skip: true, Out: "https://localhost/out.root?signed"}).Without(t.Context(),
		cli.New(nil, nil, nil), []string{"in"}, nil)
	if _, ok := err.(cli.UsageError); !ok {
		t.Errorf("a list at a URL with a query: %v", err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := new(BadFiles).leaveOut(stopped, []string{"in"},
		&rntuple.InputError{Path: "in", Err: rntuple.ErrCorrupt}); err == nil {
		t.Error("a file was left out after an interrupt")
	}
}
