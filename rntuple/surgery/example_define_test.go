package surgery_test

import (
	"context"
	"fmt"
	"log"
	"path/filepath"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

// A field gets beside all others, whose pages are copied. It is computed by a function.
func ExampleDefine() {
	dir, remove := folder()
	defer remove()
	out := filepath.Join(dir, "out.root")

	type event struct {
		Pt []float32 `rntuple:"Muon_pt"`
	}
	sum := func(e *event) (sum float64) {
		for _, pt := range e.Pt {
			sum += float64(pt)
		}
		return sum
	}
	report, err := surgery.Slim(context.Background(), out, sample,
		&surgery.SlimOptions{Define: []surgery.Definition{surgery.Define("sum_pt,type=float,desc=in GeV", sum)}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Levels[surgery.Copy].Pages, "pages are copied")

	r, err := rntuple.Open(out, "", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	f := r.Schema().Fields[len(r.Schema().Fields)-1]
	fmt.Println(f, f.Description)
	// Output:
	// 120 pages are copied
	// sum_pt: float in GeV
}

// Expressions define two fields, the second by the first, and the fields that they use are dropped.
func ExampleDefineColumns() {
	dir, remove := folder()
	defer remove()
	ctx, out := context.Background(), filepath.Join(dir, "out.root")

	fields, err := expression.ParseFields("lead:float = max(Muon_pt) ?? 0.0", "hard = lead > 50")
	if err != nil {
		log.Fatal(err)
	}
	report, err := surgery.Slim(ctx, out, sample, &surgery.SlimOptions{
		Drop:   []string{"Muon_*"},
		Define: []surgery.Definition{surgery.DefineColumns(fields)},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Entries, "entries")

	r, err := rntuple.Open(out, "", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	top := r.Schema().TopLevel()
	for _, f := range top[len(top)-2:] {
		fmt.Println(f)
	}
	// Output:
	// 80000 entries
	// lead: float
	// hard: bool
}
