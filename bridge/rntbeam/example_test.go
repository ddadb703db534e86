package rntbeam_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/transforms/stats"

	"github.com/go-rntuple/go-rntuple/bridge/rntbeam"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/workunits"
)

// A Point is an entry.
type Point struct {
	Run  int32
	X, Y float64
}

// runOf returns the run of a point.
func runOf(p Point) int { return int(p.Run) }

// show prints how many points a run has.
func show(run, n int) { fmt.Println("run", run, "has", n, "points") }

func init() {
	rntbeam.Register[Point]() // in an init function, so that workers know the type
	beam.RegisterFunction(runOf)
	beam.RegisterFunction(show)
}

// writePoints writes a few files.
func writePoints(dir string) error {
	for run := range int32(3) {
		w, err := rntuple.Create[Point](filepath.Join(dir, fmt.Sprintf("run%d.root", run)), "Points", nil)
		if err != nil {
			return err
		}
		for i := range 100 * (run + 1) {
			w.Write(&Point{run, float64(i), 1})
		}
		if err := w.Close(); err != nil {
			return err
		}
	}
	return nil
}

// The points of each run of which X is large are counted.
func Example() {
	dir, err := os.MkdirTemp("", "points")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := writePoints(dir); err != nil {
		log.Fatal(err)
	}

	p, s := beam.NewPipelineWithRoot()
	points := rntbeam.Read[Point](s, filepath.Join(dir, "run*.root"), &rntbeam.ReadOptions{Where: "X >= 90"})
	beam.ParDo0(s, show, stats.Count(s, beam.ParDo(s, runOf, points)))
	if _, err := beam.Run(context.Background(), "prism", p); err != nil {
		log.Fatal(rntbeam.Cause(err))
	}
	// Unordered output:
	// run 0 has 10 points
	// run 1 has 110 points
	// run 2 has 210 points
}

// Entries that are numbered are written in their order, whichever worker has read them.
func ExampleWriteOrdered() {
	dir, err := os.MkdirTemp("", "points")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := writePoints(dir); err != nil {
		log.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "run*.root"))
	if err != nil {
		log.Fatal(err)
	}
	plan, err := workunits.Make(context.Background(), paths, nil)
	if err != nil {
		log.Fatal(err)
	}

	p, s := beam.NewPipelineWithRoot()
	points := rntbeam.ReadPlan[Point](s, plan, &rntbeam.ReadOptions{Where: "X > 98", Numbered: true})
	out := filepath.Join(dir, "out", "points.root")
	rntbeam.WriteOrdered[Point](s, out, points, &rntbeam.WriteOptions{Name: "Points"})
	if _, err := beam.Run(context.Background(), "prism", p); err != nil {
		log.Fatal(rntbeam.Cause(err))
	}

	r, err := rntuple.Open(out, "Points", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for e, err := range rntuple.EntriesIn[Point](r, rntuple.EntryRange{End: 4}, nil) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Run, e.X)
	}
	// Output:
	// 0 99
	// 1 99
	// 1 100
	// 1 101
}
