package rntuple_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A new file is begun when one is large enough, and none is ever replaced: after a restart, the
// names go on behind those that are there. Each file is complete once Close has returned nil.
//
// A file gets its name from Close. If two programs write to one folder at a time, and both have
// chosen a name, Close of one fails, and its entries are lost: such programs need names of their
// own, or call Checkpoint after Create, which takes the name or fails at once.
func ExampleFileOptions_noReplace() {
	dir, err := os.MkdirTemp("", "run")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	type event struct{ ID int64 }
	next := 0
	create := func() (w *rntuple.Writer[event], err error) {
		for ; ; next++ {
			path := filepath.Join(dir, fmt.Sprintf("run-%03d.root", next))
			if w, err = rntuple.Create[event](path, "events",
				&rntuple.WriteOptions{File: rntuple.FileOptions{NoReplace: true}}); !errors.Is(err, fs.ErrExist) {
				next++
				return w, err
			}
		}
	}
	for range 2 { // the program, and its restart
		next = 0
		w, err := create()
		for id := int64(0); id < 25 && err == nil; id++ {
			err = w.Write(&event{id})
			if err == nil && w.NumEntries() == 10 { // or w.FileSize() >= 2e9, or after some time
				if err = w.Close(); err == nil {
					w, err = create()
				}
			}
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.root"))
	for _, path := range files {
		r, err := rntuple.Open(path, "events", nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(filepath.Base(path), r.NumEntries())
		r.Close()
	}
	// Output:
	// run-000.root 10
	// run-001.root 10
	// run-002.root 5
	// run-003.root 10
	// run-004.root 10
	// run-005.root 5
}
