package rescue_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/rescue"
)

// The end of a file is missing; the rest is saved.
func ExampleFile() {
	dir, err := os.MkdirTemp("", "rescue")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	in, out := filepath.Join(dir, "data.root"), filepath.Join(dir, "saved.root")

	type event struct{ N int32 }
	w, err := rntuple.Create[event](in, "events", nil)
	if err != nil {
		log.Fatal(err)
	}
	for n := range int32(30) {
		w.Write(&event{n})
		if n%10 == 9 {
			w.CommitClusterGroup()
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	info, err := os.Stat(in)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.Truncate(in, info.Size()-1000); err != nil {
		log.Fatal(err)
	}

	report, err := rescue.File(context.Background(), out, in, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range report.NTuples {
		fmt.Printf("%s: %d entries saved\n", n.Path, n.Saved)
		for _, l := range n.Lost {
			fmt.Printf("lost from entry %d on: %s\n", l.First, l.Why)
		}
	}
	// Output:
	// events: 20 entries saved
	// lost from entry 20 on: what came after the last page list, if anything, is lost
}
