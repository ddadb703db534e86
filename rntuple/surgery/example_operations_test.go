package surgery_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/schema"
)

// makeFile makes a file with one RNTuple.
func makeFile[T any](path, name string, entry func(i int) T) {
	w, err := rntuple.Create[T](path, name, nil)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 1000 {
		e := entry(i)
		w.Write(&e)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
}

// fieldsOf prints the fields of a file's RNTuple, and how they are encoded.
func fieldsOf(path string) {
	r, err := rntuple.Open(path, "", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for _, f := range r.Schema().Fields {
		fmt.Println(r.Name(), f.Name, f.Columns[0][0].Type)
	}
}

type event struct {
	Run int32
	Pt  float32
}

// Weights that were computed later get beside the events that they are for.
func ExampleHMerge() {
	dir, err := os.MkdirTemp("", "surgery")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	events, weights, out := filepath.Join(dir, "events.root"), filepath.Join(dir, "weights.root"),
		filepath.Join(dir, "out.root")
	makeFile(events, "Events", func(i int) event { return event{1, float32(i)} })
	makeFile(weights, "Weights",
		func(i int) struct{ Weight float64 } { return struct{ Weight float64 }{1 / float64(i+1)} })

	report, err := surgery.HMerge(context.Background(), out, []surgery.Input{{Path: events}, {Path: weights}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Entries, "entries,", report.Levels[surgery.Copy].Pages, "pages copied")
	fieldsOf(out)
	// Output:
	// 1000 entries, 3 pages copied
	// Events Run SplitInt32
	// Events Pt SplitReal32
	// Events Weight SplitReal64
}

// A field gets along with fewer bits, and everything is compressed harder.
func ExampleRepack() {
	dir, err := os.MkdirTemp("", "surgery")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	in, out := filepath.Join(dir, "in.root"), filepath.Join(dir, "out.root")
	makeFile(in, "Events", func(i int) event { return event{1, float32(i)} })

	_, err = surgery.Repack(context.Background(), out, surgery.Input{Path: in},
		&surgery.RepackOptions{Options: surgery.Options{Write: rntuple.WriteOptions{Compression: 207}},
			Encode: []surgery.FieldEncoding{{Path: "Pt", Column: schema.ColumnDocument{Type: "Real16"}}}})
	if err != nil {
		log.Fatal(err)
	}
	fieldsOf(out)
	// Output:
	// Events Run SplitInt32
	// Events Pt Real16
}

// Names are changed in the file, whatever its size: pages stay where they are.
func ExampleRenameInPlace() {
	dir, err := os.MkdirTemp("", "surgery")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "in.root")
	makeFile(path, "ntuple", func(i int) event { return event{1, float32(i)} })

	err = surgery.RenameInPlace(context.Background(), surgery.Input{Path: path},
		surgery.Renaming{Name: "Events", Fields: map[string]string{"Pt": "Muon_pt"}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fieldsOf(path)
	// Output:
	// Events Run SplitInt32
	// Events Muon_pt SplitReal32
}
