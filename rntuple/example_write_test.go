package rntuple_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"path/filepath"
	"sync"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/cpp"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// inTemp returns a path of a new file, and a function that removes it.
func inTemp(name string) (path string, remove func()) {
	dir, err := os.MkdirTemp("", "rntuple")
	if err != nil {
		log.Fatal(err)
	}
	return filepath.Join(dir, name), func() { os.RemoveAll(dir) }
}

func ExampleCreate() {
	path, remove := inTemp("events.root")
	defer remove()

	type Muon struct {
		Pt     float32 `rntuple:"pt,trunc=16,desc=transverse momentum in GeV"`
		Charge int8    `rntuple:"charge"`
	}
	type Event struct {
		Run   uint32              `rntuple:"run"`
		Muons []Muon              `rntuple:"muons"`
		Tags  cpp.Set[string]     `rntuple:"tags"`
		Scale map[string]float64  `rntuple:"scale"`
		Best  *float32            `rntuple:"best"`
		Range cpp.Pair[int, int8] `rntuple:"range"`
	}
	w, err := rntuple.Create[Event](path, "Events", nil)
	if err != nil {
		log.Fatal(err)
	}
	for run := range uint32(3) {
		ev := Event{Run: run, Muons: []Muon{{30.5, 1}, {20, -1}}, Tags: cpp.Set[string]{"good"}}
		if err := w.Write(&ev); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	r, err := rntuple.Open(path, "Events", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for _, f := range r.Schema().Fields {
		fmt.Println(f.Name, f.CppType())
	}
	pt, err := rntuple.ViewOf[[]float32](r, "muons.pt")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pt.At(2))
	// Output:
	// run std::uint32_t
	// muons untyped collection
	// tags std::set<std::string>
	// scale std::map<std::string,double>
	// best std::optional<float>
	// range std::pair<std::int64_t,std::int8_t>
	// [30.5 20] <nil>
}

// Without a Go type, a document defines the fields. It can also be parsed from JSON, see
// schema.ParseDocument.
func ExampleCreateRecords() {
	path, remove := inTemp("records.root")
	defer remove()
	doc := &schema.Document{Fields: []*schema.FieldDocument{
		{Name: "name", Type: "std::string"},
		{Name: "hits", Type: "std::vector<float>"},
	}}
	w, err := rntuple.CreateRecords(path, "Tracks", doc, nil)
	if err != nil {
		log.Fatal(err)
	}
	names := []string{"name", "hits"}
	w.Write(&value.Record{Names: names, Values: []any{"first", []any{float32(1.5), float32(2)}}})
	w.Write(&value.Record{Names: names, Values: []any{"second", []any{}}})
	if err := w.Close(); err != nil { // has the first error of all
		log.Fatal(err)
	}

	r, err := rntuple.Open(path, "Tracks", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	records, err := rntuple.RecordsOf(r)
	if err != nil {
		log.Fatal(err)
	}
	for _, record := range records.All() {
		fmt.Println(string(value.AppendJSON(nil, record)))
	}
	// Output:
	// {"name":"first","hits":[1.5,2]}
	// {"name":"second","hits":[]}
}

// Columns are written many entries at a time, with no work per entry.
func ExampleCreateColumns() {
	path, remove := inTemp("columns.root")
	defer remove()
	doc := &schema.Document{Fields: []*schema.FieldDocument{
		{Name: "energy", Type: "double"},
		{Name: "hits", Type: "std::vector<float>"},
	}}
	w, err := rntuple.CreateColumns(path, "Data", doc, nil)
	if err != nil {
		log.Fatal(err)
	}
	rntuple.Put(w, "energy", []float64{10, 20, 30})
	rntuple.PutJagged(w, "hits", []int64{0, 2, 2, 3}, []float32{1, 2, 3})
	w.End(3)
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	r, err := rntuple.Open(path, "Data", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	hits, err := rntuple.ViewOf[[]float32](r, "hits")
	if err != nil {
		log.Fatal(err)
	}
	for i, h := range hits.All() {
		fmt.Println(i, h)
	}
	// Output:
	// 0 [1 2]
	// 1 []
	// 2 [3]
}

// A file for a stream, such as a pipe or the body of a response, is written to a temporary file
// first.
func ExampleNewFile() {
	var stream bytes.Buffer

	tmp, err := os.CreateTemp("", "*.root")
	if err != nil {
		log.Fatal(err)
	}
	defer os.Remove(tmp.Name())
	defer tmp.Close()
	f, err := rntuple.NewFile(tmp, "squares.root", &rntuple.FileOptions{NoSync: true})
	if err != nil {
		log.Fatal(err)
	}
	type square struct{ X, Square int64 }
	w, err := rntuple.NewWriter[square](f, "Squares", nil)
	if err != nil {
		log.Fatal(err)
	}
	for x := range int64(10) {
		w.Write(&square{x, x * x}) // the first error is returned by Close, too
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
	if _, err := io.Copy(&stream, io.NewSectionReader(tmp, 0, f.Size())); err != nil {
		log.Fatal(err)
	}

	r, err := rntuple.NewReader(bytes.NewReader(stream.Bytes()), int64(stream.Len()), "Squares", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.NumEntries())
	// Output: 10
}

// An existing file gets another RNTuple, and keeps everything that it holds.
func ExampleUpdateFile() {
	path, remove := inTemp("several.root")
	defer remove()
	type Run struct{ Number, Events int32 }
	w, err := rntuple.Create[Run](path, "Runs", nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	f, err := rntuple.UpdateFile(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	more, err := rntuple.NewWriter[Run](f, "more/Runs", nil)
	if err != nil {
		log.Fatal(err)
	}
	more.Write(&Run{1, 100})
	if err := more.Close(); err != nil {
		log.Fatal(err)
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
	infos, err := rntuple.ListFile(context.Background(), path, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, i := range infos {
		fmt.Println(i.Path)
	}
	// Unordered output:
	// Runs
	// more/Runs
}

// An attribute set describes ranges of entries.
func ExampleNewAttributes() {
	path, remove := inTemp("attributes.root")
	defer remove()
	type Hit struct{ X, Y float32 }
	type Quality struct{ Good bool }
	w, err := rntuple.Create[Hit](path, "Hits", nil)
	if err != nil {
		log.Fatal(err)
	}
	quality, err := rntuple.NewAttributes[Quality](w, "quality", nil)
	if err != nil {
		log.Fatal(err)
	}
	w.WriteBatch(make([]Hit, 100))
	quality.Write(rntuple.EntryRange{End: 100}, Quality{true})
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	r, err := rntuple.Open(path, "Hits", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for _, s := range r.AttributeSets() {
		fmt.Println(s.Name)
	}
	// Output: quality
}

// A step is an entry of the files that the examples of fillers write.
type step struct {
	Run  int32   `rntuple:"run"`
	Root float64 `rntuple:"root"`
}

// simulate makes the entries of a run.
func simulate(run int, f *rntuple.Filler[step]) error {
	for i := range 1000 {
		if err := f.Write(&step{int32(run), math.Sqrt(float64(i))}); err != nil {
			return err
		}
	}
	return nil
}

// Ten runs are simulated in several goroutines. The file is the same as if it had been one.
func ExampleWriter_Fill() {
	path, remove := inTemp("runs.root")
	defer remove()
	w, err := rntuple.Create[step](path, "Steps", nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := cmp.Or(w.Fill(10, simulate), w.Close()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(w.NumEntries(), "entries")
	// Output:
	// 10000 entries
}

// The order of clusters does not matter here, so that none has to wait for others.
func ExampleWriter_Filler() {
	path, remove := inTemp("steps.root")
	defer remove()
	w, err := rntuple.Create[step](path, "Steps", nil)
	if err != nil {
		log.Fatal(err)
	}
	var workers sync.WaitGroup
	for i := range 4 {
		f := w.Filler()
		workers.Go(func() {
			defer f.Close()
			for run := i; run < 10; run += 4 {
				simulate(run, f) // Close of the Writer returns its error
			}
		})
	}
	workers.Wait()
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(w.NumEntries(), "entries")
	// Output:
	// 10000 entries
}

// Work is dealt out with tickets, which decide the order in the file.
func ExampleWriter_OrderedFiller() {
	path, remove := inTemp("ordered.root")
	defer remove()
	w, err := rntuple.Create[step](path, "Steps", nil)
	if err != nil {
		log.Fatal(err)
	}
	runs := make(chan int)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for run := range runs {
				f := w.OrderedFiller(int64(run))
				simulate(run, f)
				f.Close()
			}
		})
	}
	for run := range 10 {
		runs <- run
	}
	close(runs)
	workers.Wait()
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	r, err := rntuple.Open(path, "Steps", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	view, err := rntuple.ViewOf[int32](r, "run")
	if err != nil {
		log.Fatal(err)
	}
	for _, entry := range []int64{0, 999, 1000, 9999} {
		run, err := view.At(entry)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("entry", entry, "of run", run)
	}
	// Output:
	// entry 0 of run 0
	// entry 999 of run 0
	// entry 1000 of run 1
	// entry 9999 of run 9
}
