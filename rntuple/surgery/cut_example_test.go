package surgery_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

// sample was written by ROOT: 80000 events with up to four muons.
var sample = surgery.Input{Path: "../../testdata/dimuon.root"}

// folder returns a new folder, and what removes it.
func folder() (string, func()) {
	dir, err := os.MkdirTemp("", "surgery")
	if err != nil {
		log.Fatal(err)
	}
	return dir, func() { os.RemoveAll(dir) }
}

// Events with two muons of opposite charge, and of these only the muons.
func ExampleSkim() {
	dir, remove := folder()
	defer remove()
	condition, err := expression.Parse("nMuon == 2 && sum(Muon_charge) == 0 && all(Muon_pt, # > 20)")
	if err != nil {
		log.Fatal(err)
	}
	out := filepath.Join(dir, "pairs.root")
	report, err := surgery.Skim(context.Background(), out, []surgery.Input{sample}, condition.Condition(),
		&surgery.SkimOptions{Keep: []string{"run", "event", "Muon_*"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Entries, "of", report.InputEntries)
	// Output: 10494 of 80000
}

// The same with a function.
func ExampleSkim_func() {
	dir, remove := folder()
	defer remove()
	type event struct {
		Pt     []float32 `rntuple:"Muon_pt"`
		Charge []int32   `rntuple:"Muon_charge"`
	}
	pairs := rntuple.WhereFunc(func(e *event) bool {
		return len(e.Pt) == 2 && e.Charge[0]+e.Charge[1] == 0 && min(e.Pt[0], e.Pt[1]) > 20
	})
	report, err := surgery.Skim(context.Background(), filepath.Join(dir, "pairs.root"),
		[]surgery.Input{sample}, pairs, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Entries, "of", report.InputEntries)
	// Output: 10494 of 80000
}

// Some fields, whose pages are copied.
func ExampleSlim() {
	dir, remove := folder()
	defer remove()
	report, err := surgery.Slim(context.Background(), filepath.Join(dir, "out.root"), sample,
		&surgery.SlimOptions{Keep: []string{"Muon_*"}, Drop: []string{"*_mass"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Entries, "entries,", report.Levels[surgery.Rewrite].Pages, "pages rewritten")
	// Output: 80000 entries, 0 pages rewritten
}

// The last entries, and then the first ones.
func ExampleConcat() {
	dir, remove := folder()
	defer remove()
	report, err := surgery.Concat(context.Background(), filepath.Join(dir, "out.root"), []surgery.Piece{
		{Input: sample, First: 79_990},
		{Input: sample, End: 5},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Entries, "entries")
	// Output: 15 entries
}

func ExampleSplit() {
	dir, remove := folder()
	defer remove()
	parts, err := surgery.Split(context.Background(), filepath.Join(dir, "part-%02d.root"), sample,
		surgery.PartSize{Entries: 30_000}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range parts {
		fmt.Println(filepath.Base(p.Path), p.Entries.First, p.Entries.End)
	}
	// Output:
	// part-00.root 0 30000
	// part-01.root 30000 60000
	// part-02.root 60000 80000
}
