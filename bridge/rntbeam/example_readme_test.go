package rntbeam_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/go-rntuple/go-rntuple/bridge/rntbeam"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

type Muons struct {
	Pt []float32 `rntuple:"Muon_pt"`
}

func init() { rntbeam.Register[Muons]() }

func pairs(ctx context.Context, runner, in, out string) error {
	p, s := beam.NewPipelineWithRoot()
	events := rntbeam.Read[Muons](s, in, &rntbeam.ReadOptions{Where: "len(Muon_pt) == 2"})
	rntbeam.Write[Muons](s, out, events, &rntbeam.WriteOptions{Shards: 1})
	_, err := beam.Run(ctx, runner, p) // "prism" within the program, "universal" on a cluster
	return err
}

// The pairs of muons in many files become one file.
func ExampleWrite() {
	dir, err := os.MkdirTemp("", "pairs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "pairs.root")
	if err := pairs(context.Background(), "prism", "../../testdata/dimuon.root", out); err != nil {
		log.Fatal(rntbeam.Cause(err))
	}
	r, err := rntuple.Open(out, "Events", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	fmt.Println(r.NumEntries(), "pairs")
	// Output: 67918 pairs
}
