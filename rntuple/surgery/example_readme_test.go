package surgery_test

import (
	"context"
	"fmt"
	"log"
	"path/filepath"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

// Two files become one, and of that the events with two muons another one.
func Example() {
	dir, remove := folder()
	defer remove()
	ctx := context.Background()
	inputs := []surgery.Input{sample, sample}
	all, pairs := surgery.Input{Path: filepath.Join(dir, "all.root")}, filepath.Join(dir, "pairs.root")

	report, err := surgery.Merge(ctx, all.Path, inputs, nil)
	if err != nil {
		log.Fatal(err) // lists all fields in which the inputs differ
	}
	fmt.Println(report.Entries, "entries")

	type event struct {
		Muons uint32 `rntuple:"nMuon"`
	}
	two := rntuple.WhereFunc(func(e *event) bool { return e.Muons == 2 })
	report, err = surgery.Skim(ctx, pairs, []surgery.Input{all}, two,
		&surgery.SkimOptions{Keep: []string{"run", "event", "Muon_*"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Entries, "with two muons")
	// Output:
	// 160000 entries
	// 135836 with two muons
}
