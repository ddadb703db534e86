package surgery_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

// Two files become one. Their pages are copied as they are.
func ExampleMerge() {
	dir, err := os.MkdirTemp("", "surgery")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	type event struct{ Run, Event int32 }
	var inputs []surgery.Input
	for run := range int32(2) {
		path := filepath.Join(dir, fmt.Sprintf("run%d.root", run))
		w, err := rntuple.Create[event](path, "Events", nil)
		if err != nil {
			log.Fatal(err)
		}
		for i := range int32(1000) {
			w.Write(&event{run, i})
		}
		if err := w.Close(); err != nil {
			log.Fatal(err)
		}
		inputs = append(inputs, surgery.Input{Path: path})
	}

	report, err := surgery.Merge(context.Background(), filepath.Join(dir, "all.root"), inputs, nil)
	var differ *surgery.IncompatibleError
	if errors.As(err, &differ) {
		for _, p := range differ.Problems {
			fmt.Println(p.Input, p.Field, p.What)
		}
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Entries, "entries,", report.Levels[surgery.Copy].Pages, "pages copied")
	// Output: 2000 entries, 4 pages copied
}

// Many small clusters become few larger ones.
func ExampleOptions() {
	dir, err := os.MkdirTemp("", "surgery")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	type event struct{ Run, Event int32 }
	in, out := filepath.Join(dir, "in.root"), filepath.Join(dir, "out.root")
	w, err := rntuple.Create[event](in, "Events", nil)
	if err != nil {
		log.Fatal(err)
	}
	for i := range int32(1000) {
		w.Write(&event{1, i})
		if i%10 == 9 {
			w.CommitCluster()
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	if _, err := surgery.Merge(context.Background(), out, []surgery.Input{{Path: in}},
		&surgery.MergeOptions{Options: surgery.Options{AtLeast: surgery.Rewrite}}); err != nil {
		log.Fatal(err)
	}
	for _, path := range []string{in, out} {
		r, err := rntuple.Open(path, "", nil)
		if err != nil {
			log.Fatal(err)
		}
		defer r.Close()
		clusters, err := r.Clusters()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(r.NumEntries(), "entries in", len(clusters))
	}
	// Output:
	// 1000 entries in 100
	// 1000 entries in 1
}
