package rntuple_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"slices"
	"sync"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/value"
)

// The sample was written by ROOT: events with up to four muons.
const sample = "../testdata/dimuon.root"

func ExampleOpen() {
	r, err := rntuple.Open(sample, "Events", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	fmt.Println(r.Name(), r.NumEntries(), "entries, format", r.FormatVersion())
	for _, f := range r.Schema().Fields[:3] {
		fmt.Println(f.Name, f.CppType())
	}
	// Output:
	// Events 80000 entries, format 1.0.2.0
	// run std::uint32_t
	// luminosityBlock std::uint32_t
	// event std::uint64_t
}

// A file of an fs.FS, here of a directory.
func ExampleNewReader_fs() {
	file, err := os.DirFS("../testdata").Open("dimuon.root")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		log.Fatal(err)
	}
	ra, ok := file.(io.ReaderAt)
	if !ok {
		log.Fatal("a stream, such as a compressed file of an archive: read it whole, with fs.ReadFile")
	}
	r, err := rntuple.NewReader(ra, info.Size(), "Events", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.NumEntries())
	// Output: 80000
}

func ExampleNewReader() {
	file, err := os.ReadFile(sample) // or anything else with ReadAt
	if err != nil {
		log.Fatal(err)
	}
	r, err := rntuple.NewReader(bytes.NewReader(file), int64(len(file)), "Events",
		&rntuple.ReadOptions{SkipChecksums: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.NumEntries())
	// Output: 80000
}

func ExampleListFile() {
	infos, err := rntuple.ListFile(context.Background(), "../testdata/good/special_dirs.root", nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, i := range infos {
		fmt.Println(i.Path)
	}
	// Unordered output:
	// top
	// top;1
	// dir/top
	// dir/other
	// dir/sub/ntuple
}

func ExampleViewOf() {
	r, err := rntuple.Open(sample, "Events", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	vertices, err := rntuple.ViewOf[int32](r, "PV_npvs")
	if err != nil {
		log.Fatal(err)
	}
	most := int32(0)
	for _, n := range vertices.All() {
		most = max(most, n)
	}
	if err := vertices.Err(); err != nil {
		log.Fatal(err)
	}

	buf := make([]int32, 1000) // or many at once, into memory of your own
	n, err := vertices.Read(buf, 79_500)
	fmt.Println(most, n, err)
	// Output: 36 500 <nil>
}

func ExampleJaggedOf() {
	r, err := rntuple.Open(sample, "Events", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	pt, err := rntuple.JaggedOf[float32](r, "Muon_pt")
	if err != nil {
		log.Fatal(err)
	}
	offsets := make([]int64, 4) // three entries
	items, _, err := pt.Read(offsets, nil, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(offsets)
	fmt.Println(items)
	// Output:
	// [0 2 4 6]
	// [7.1396484 3.3745117 6.098633 5.236328 30.347656 7.120117]
}

func ExampleBatches() {
	r, err := rntuple.Open(sample, "Events", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	var highest float32
	pairs := 0
	for b, err := range rntuple.Batches(r, &rntuple.BatchOptions{Fields: []string{"run", "Muon_pt"}}) {
		if err != nil {
			log.Fatal(err)
		}
		muons := b.Column("Muon_pt") // entry i has the items from muons.Offsets[i] to muons.Offsets[i+1]
		for i := range b.Len {
			if muons.Offsets[i+1]-muons.Offsets[i] == 2 {
				pairs++
			}
		}
		pt, err := columnar.Values[float32](muons.Children[0])
		if err != nil {
			log.Fatal(err)
		}
		highest = max(highest, slices.Max(pt))
	}
	fmt.Println(pairs, highest)
	// Output: 67918 326.5625
}

func ExampleEntries() {
	r, err := rntuple.Open(sample, "Events", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	type Event struct {
		Run   uint32    `rntuple:"run"`
		Pt    []float32 `rntuple:"Muon_pt"`
		Muons []struct {
			Charge int32 `rntuple:"Muon_charge"`
		} `rntuple:"_collection0"`
	}
	var highest float32
	charge := int32(0)
	for ev, err := range rntuple.Entries[Event](r) {
		if err != nil {
			log.Fatal(err)
		}
		for i, muon := range ev.Muons {
			charge += muon.Charge
			highest = max(highest, ev.Pt[i])
		}
	}
	fmt.Println(charge, highest)
	// Output: -89 326.5625
}

// A loop that keeps nothing of an entry but numbers and strings is faster with Reuse.
func ExampleEntriesOptions_reuse() {
	type Event struct {
		Pt []float32 `rntuple:"Muon_pt"`
	}
	r, err := rntuple.Open(sample, "Events", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	var hardest []float32
	for ev, err := range rntuple.EntriesIn[Event](r, rntuple.EntryRange{End: r.NumEntries()},
		&rntuple.EntriesOptions{Reuse: true}) {
		if err != nil {
			log.Fatal(err)
		}
		if len(ev.Pt) > 0 && (hardest == nil || ev.Pt[0] > hardest[0]) {
			hardest = append(hardest[:0], ev.Pt...) // a copy: ev.Pt is overwritten later
		}
	}
	fmt.Println(hardest)
	// Output: [326.5625 42.90625]
}

// The spectrum of pairs of muons, computed by all cores.
func ExampleFold() {
	type Event struct {
		Pt     []float32 `rntuple:"Muon_pt"`
		Eta    []float32 `rntuple:"Muon_eta"`
		Phi    []float32 `rntuple:"Muon_phi"`
		Charge []int32   `rntuple:"Muon_charge"`
	}
	type Spectrum [12]int // bins of 10 GeV
	r, err := rntuple.Open(sample, "Events", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	spectrum, err := rntuple.Fold(r, func(s rntuple.Source, entries rntuple.EntryRange) (h Spectrum, err error) {
		for ev, err := range rntuple.EntriesIn[Event](s, entries, &rntuple.EntriesOptions{Reuse: true}) {
			if err != nil {
				return h, err
			}
			if len(ev.Pt) == 2 && ev.Charge[0] != ev.Charge[1] {
				eta, phi := float64(ev.Eta[0]-ev.Eta[1]), float64(ev.Phi[0]-ev.Phi[1])
				mass := math.Sqrt(2 * float64(ev.Pt[0]*ev.Pt[1]) * (math.Cosh(eta) - math.Cos(phi)))
				h[min(int(mass/10), len(h)-1)]++
			}
		}
		return h, nil
	}, func(a, b Spectrum) Spectrum {
		for i, n := range b {
			a[i] += n
		}
		return a
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(spectrum)
	// Output: [40397 6486 1907 905 472 328 280 309 2828 7168 320 241]
}

func ExampleRecordsOf() {
	r, err := rntuple.Open(sample, "Events", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	records, err := rntuple.RecordsOf(r, "event", "Muon_charge", "HLT_IsoMu24")
	if err != nil {
		log.Fatal(err)
	}
	for _, record := range records.Range(rntuple.EntryRange{End: 2}) {
		fmt.Println(string(value.AppendJSON(nil, record)))
	}
	// Output:
	// {"event":1112,"Muon_charge":[1,-1],"HLT_IsoMu24":false}
	// {"event":1496,"Muon_charge":[1,-1],"HLT_IsoMu24":false}
}

// Work is best split at clusters. Each goroutine has a view of its own; all share the
// Reader.
func ExampleReader_Clusters() {
	r, err := rntuple.Open(sample, "Events", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	clusters, err := r.Clusters()
	if err != nil {
		log.Fatal(err)
	}
	muons := make([]uint64, len(clusters))
	var wg sync.WaitGroup
	for i, c := range clusters {
		wg.Go(func() {
			sizes, err := rntuple.ViewOf[uint64](r, "nMuon")
			if err != nil {
				log.Fatal(err)
			}
			for _, n := range sizes.Range(c) {
				muons[i] += n
			}
			if err := sizes.Err(); err != nil {
				log.Fatal(err)
			}
		})
	}
	wg.Wait()
	total := uint64(0)
	for _, n := range muons {
		total += n
	}
	fmt.Println(len(clusters), "clusters,", total, "muons")
	// Output: 10 clusters, 159025 muons
}
