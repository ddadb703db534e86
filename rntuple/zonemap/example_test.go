package zonemap_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
)

// A file with a zone map: which entries can belong to run 12?
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "runs.root")
	type event struct{ Run int32 }
	w, err := rntuple.Create[event](path, "events", &rntuple.WriteOptions{ZoneMap: []string{"Run"}})
	if err != nil {
		log.Fatal(err)
	}
	for i := range int32(400) {
		if i%100 == 0 {
			w.CommitCluster()
		}
		w.Write(&event{10 + i/150})
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	r, err := rntuple.Open(path, "events", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	m, err := r.ZoneMap()
	if err != nil {
		log.Fatal(err)
	}
	clusters, err := r.Clusters()
	if err != nil {
		log.Fatal(err)
	}
	for i := range clusters {
		zone, _ := m.Zone("Run", i)
		fmt.Println(clusters[i], zone)
	}
	all := rntuple.EntryRange{End: r.NumEntries()}
	for entries, err := range rntuple.Possible(r, all, nil, func(zone func(path string) (zonemap.Zone, bool)) bool {
		run, ok := zone("Run")
		if !ok {
			return true
		}
		least, greatest := run.IntBounds()
		return least <= 12 && 12 <= greatest
	}) {
		fmt.Println("run 12:", entries, err)
	}
	// Output:
	// [0, 100) int [10, 10]
	// [100, 200) int [10, 11]
	// [200, 300) int [11, 11]
	// [300, 400) int [12, 12]
	// run 12: [300, 400) <nil>
}
