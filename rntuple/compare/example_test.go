package compare_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/compare"
)

// Two productions of the same events differ in one of them.
func ExampleValues() {
	dir, err := os.MkdirTemp("", "compare")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	type event struct {
		Run  int32
		Mass float64
	}
	var readers [2]*rntuple.Reader
	for i := range readers {
		path := filepath.Join(dir, fmt.Sprint(i, ".root"))
		w, err := rntuple.Create[event](path, "Events", nil)
		if err != nil {
			log.Fatal(err)
		}
		for n := range int32(100) {
			e := event{n, 90}
			if n == 42 {
				e.Mass += 1.5 * float64(i)
			}
			w.Write(&e)
		}
		if err := w.Close(); err != nil {
			log.Fatal(err)
		}
		if readers[i], err = rntuple.Open(path, "Events", nil); err != nil {
			log.Fatal(err)
		}
		defer readers[i].Close()
	}

	result, err := compare.Values(context.Background(), readers[0], readers[1],
		&compare.Options{Tolerance: compare.Tolerance{Abs: 0, Rel: 1e-6}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Equal())
	for _, f := range result.Fields {
		fmt.Printf("%s: %d entries, the first is %d, by %g at most\n", f.Path, f.Entries, f.First, f.MaxAbs)
	}
	// Output:
	// false
	// Mass: 1 entries, the first is 42, by 1.5 at most
}
