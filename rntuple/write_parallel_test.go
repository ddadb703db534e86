package rntuple_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// parts are the numbers of entries of the parts of a file: less than a cluster, some
// clusters, none.
var parts = []int{100, 1, 0, 700, 3000, 0, 2, 1500, 50, 0, 900}

// partsStart returns the number of the first entry of part i, and of the one after the last.
func partsStart(i int) (n int) {
	for _, p := range parts[:i] {
		n += p
	}
	return n
}

type numbered struct {
	N int64
	X float64
	V []float32
	S string
}

func newNumbered(n int) numbered {
	return numbered{int64(n), 1 / float64(n+1), make([]float32, n%5), fmt.Sprint("entry ", n*n)}
}

// numbers returns the entries of a file, which must be those of newNumbered in any order.
func numbers(t *testing.T, path string) (all []int64) {
	t.Helper()
	r, err := rntuple.Open(path, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for e, err := range rntuple.Entries[numbered](r) {
		if err != nil {
			t.Fatal(err)
		}
		if want := newNumbered(int(e.N)); fmt.Sprint(*e) != fmt.Sprint(want) {
			t.Fatalf("entry %d is %v, want %v", e.N, *e, want)
		}
		all = append(all, e.N)
	}
	return all
}

func upTo(n int) (all []int64) {
	for i := range n {
		all = append(all, int64(i))
	}
	return all
}

// smallClusters are options with which the entries of numbered make many clusters and pages.
func smallClusters(c compress.Settings, workers int) *rntuple.WriteOptions {
	return &rntuple.WriteOptions{File: *fixed, Compression: c, Workers: workers, ClusterSize: 6000,
		MaxUnzippedPageSize: 1000}
}

// TestFill makes sure that a file is the same, byte for byte, whatever the number of
// goroutines that write its parts and the order in which these end, that it has the entries
// in the order of the parts, and that a part does not depend on those before.
func TestFill(t *testing.T) {
	total := partsStart(len(parts))
	doc := &schema.Document{Name: "n"}
	for _, f := range [][2]string{{"N", "std::int64_t"}, {"X", "double"}, {"V", "std::vector<float>"},
		{"S", "std::string"}} {
		doc.Fields = append(doc.Fields, &schema.FieldDocument{Name: f[0], Type: f[1]})
	}
	record := func(e numbered) value.Record {
		var v []any
		for _, x := range e.V {
			v = append(v, x)
		}
		return value.Record{Names: []string{"N", "X", "V", "S"}, Values: []any{e.N, e.X, v, e.S}}
	}
	// Each way writes the parts to a file.
	ways := map[string]func(path string, opts *rntuple.WriteOptions) error{
		"Fill": func(path string, opts *rntuple.WriteOptions) error {
			w, err := rntuple.Create[numbered](path, "n", opts)
			if err != nil {
				return err
			}
			return errors.Join(w.Fill(len(parts), fillPart), w.Close())
		},
		"records": func(path string, opts *rntuple.WriteOptions) error {
			w, err := rntuple.CreateRecords(path, "n", doc, opts)
			if err != nil {
				return err
			}
			return errors.Join(w.Fill(len(parts), func(i int, f *rntuple.Filler[value.Record]) error {
				for n := range parts[i] {
					r := record(newNumbered(partsStart(i) + n))
					f.Write(&r)
				}
				return nil
			}), w.Close())
		},
		"Append": func(path string, opts *rntuple.WriteOptions) error {
			const half = 4
			w, err := rntuple.Create[numbered](path, "n", opts)
			if err != nil {
				return err
			}
			if err := errors.Join(w.Fill(2, fillPart),
				w.Fill(half-2, func(i int, f *rntuple.Filler[numbered]) error { return fillPart(i+2, f) }), w.Close()); err != nil {
				return err
			}
			if w, err = rntuple.Append[numbered](path, "n", opts); err != nil {
				return err
			}
			return errors.Join(w.Fill(len(parts)-half,
				func(i int, f *rntuple.Filler[numbered]) error { return fillPart(i+half, f) }), w.Close())
		},
		"goroutines": func(path string, opts *rntuple.WriteOptions) error {
			w, err := rntuple.Create[numbered](path, "n", opts)
			if err != nil {
				return err
			}
			var wg sync.WaitGroup
			for i := range parts {
				f := w.OrderedFiller(int64(i))
				wg.Go(func() {
					time.Sleep(time.Duration(rand.IntN(500)) * time.Microsecond)
					fillPart(i, f)
					f.Close()
				})
			}
			wg.Wait()
			return w.Close()
		},
		"backwards": func(path string, opts *rntuple.WriteOptions) error {
			w, err := rntuple.Create[numbered](path, "n", opts)
			if err != nil {
				return err
			}
			for i := range slices.Backward(parts) {
				f := w.OrderedFiller(int64(i))
				fillPart(i, f)
				f.Close()
			}
			return w.Close()
		},
		"columns": func(path string, opts *rntuple.WriteOptions) error {
			w, err := rntuple.CreateColumns(path, "n", doc, opts)
			if err != nil {
				return err
			}
			var wg sync.WaitGroup
			next := make(chan int)
			for range 3 {
				wg.Go(func() {
					for i := range next {
						f := w.OrderedFiller(int64(i))
						for n := range parts[i] {
							e := newNumbered(partsStart(i) + n)
							rntuple.Put(f, "N", []int64{e.N})
							rntuple.Put(f, "X", []float64{e.X})
							rntuple.PutJagged(f, "V", []int64{0, int64(len(e.V))}, e.V)
							rntuple.Put(f, "S", []string{e.S})
							f.End(1)
						}
						f.Close()
					}
				})
			}
			for i := range parts {
				next <- i
			}
			close(next)
			wg.Wait()
			return w.Close()
		},
	}
	for _, setting := range []compress.Settings{compress.None, 404, 505} {
		files := map[string][]byte{}
		for name, write := range ways {
			for _, workers := range []int{1, 2, 5} {
				path := filepath.Join(t.TempDir(), "n.root")
				if err := write(path, smallClusters(setting, workers)); err != nil {
					t.Fatalf("%s, %d workers: %v", name, workers, err)
				}
				got, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				like := "all"
				// these write other metadata, or fill pages in another order
				if name == "Append" || name == "columns" || name == "records" {
					like = name
				}
				if files[like] == nil {
					files[like] = got
					if !slices.Equal(numbers(t, path), upTo(total)) {
						t.Errorf("%s: other entries", name)
					}
				} else if !bytes.Equal(files[like], got) {
					t.Errorf("compression %d, %s, %d workers: other bytes", setting, name, workers)
				}
			}
		}
	}
}

// fillPart writes a part.
func fillPart(i int, f *rntuple.Filler[numbered]) error {
	for n := range parts[i] {
		e := newNumbered(partsStart(i) + n)
		f.Write(&e)
	}
	return nil
}

// TestFiller has goroutines write clusters as they come, beside the Writer, checkpoints and
// another RNTuple in the file. The file may have the clusters in any order; entries that were
// written to one filler keep theirs.
func TestFiller(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.root")
	opts := smallClusters(505, 2)
	opts.File = rntuple.FileOptions{}
	file, err := rntuple.CreateFile(path, fixed)
	if err != nil {
		t.Fatal(err)
	}
	w, err := rntuple.NewWriter[numbered](file, "n", opts)
	if err != nil {
		t.Fatal(err)
	}
	other, err := rntuple.NewWriter[numbered](file, "other", opts)
	if err != nil {
		t.Fatal(err)
	}
	const fillers, entries = 4, 2000
	var wg sync.WaitGroup
	for i := range fillers {
		wg.Go(func() {
			f := w.Filler()
			for n := range entries {
				e := newNumbered(i*entries + n)
				f.Write(&e)
				if n == 7 {
					f.CommitCluster()
				}
			}
			if n := f.NumEntries(); n != entries {
				t.Errorf("%d entries in a filler", n)
			}
			f.Close()
		})
	}
	for n := range entries {
		e := newNumbered(fillers*entries + n)
		w.Write(&e)
		other.Write(&e)
		if n%300 == 0 {
			w.Checkpoint()
			r, err := rntuple.Open(path, "n", nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	wg.Wait()
	if err := errors.Join(w.Close(), other.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	all := numbers(t, path)
	last := map[int64]int64{}
	for _, n := range all {
		if i := n / entries; last[i] > n {
			t.Fatalf("entry %d comes after %d", n, last[i])
		}
		last[n/entries] = n
	}
	slices.Sort(all)
	if want := upTo((fillers + 1) * entries); !slices.Equal(all, want) {
		t.Errorf("%d entries, want %d", len(all), len(want))
	}
	if w.NumEntries() != int64(len(all)) {
		t.Errorf("%d entries, says the writer", w.NumEntries())
	}
}

// TestFillerErrors makes sure that every error is sticky, and that nobody waits for what
// cannot come any more.
func TestFillerErrors(t *testing.T) {
	failure := errors.New("failure")
	put := func(f *rntuple.Filler[numbered], n int) {
		for i := range n {
			e := newNumbered(i)
			f.Write(&e)
		}
	}
	for _, c := range []struct {
		name, want string
		do         func(w *rntuple.Writer[numbered]) error
	}{
		{"taken twice", "ticket 3 was taken before", func(w *rntuple.Writer[numbered]) error {
			w.OrderedFiller(3)
			return w.OrderedFiller(3).Close()
		}},
		{"ended", "ticket 0 was taken before", func(w *rntuple.Writer[numbered]) error {
			w.OrderedFiller(0).Close()
			return w.OrderedFiller(0).Close()
		}},
		{"negative", "ticket -7; the number must not be negative",
			func(w *rntuple.Writer[numbered]) error { return w.OrderedFiller(-7).Close() }},
		{"missing", "ticket 1 is missing, but 2 higher ones were taken", func(w *rntuple.Writer[numbered]) error {
			for _, i := range []int64{0, 3, 2} {
				f := w.OrderedFiller(i)
				put(f, 500)
				f.Close()
			}
			return w.Close()
		}},
		{"open", "2 fillers are not closed", func(w *rntuple.Writer[numbered]) error {
			w.OrderedFiller(0)
			w.Filler()
			return w.Close()
		}},
		{"nil", "entry 2 of ticket 4: nil is not an entry", func(w *rntuple.Writer[numbered]) error {
			f := w.OrderedFiller(4)
			put(f, 2)
			return f.Write(nil)
		}},
		{"nil", "entry 1000 of a filler: nil is not an entry", func(w *rntuple.Writer[numbered]) error {
			f := w.Filler()
			put(f, 1000)
			return f.WriteAll(nil)
		}},
		{"of a part", "failure", func(w *rntuple.Writer[numbered]) error {
			return w.Fill(40, func(i int, f *rntuple.Filler[numbered]) error {
				if i == 5 {
					return failure
				}
				put(f, 2000)
				return nil
			})
		}},
		{"goexit", "the goroutine has ended", func(w *rntuple.Writer[numbered]) error {
			var err error
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { err = w.Close() }()
				w.Fill(40, func(i int, f *rntuple.Filler[numbered]) error {
					if i == 5 {
						runtime.Goexit()
					}
					put(f, 2000)
					return nil
				})
			}()
			<-done
			return err
		}},
		{"panic", "oh dear", func(w *rntuple.Writer[numbered]) (err error) {
			defer func() { err = errors.Join(recover().(error), w.Close()) }()
			return w.Fill(40, func(i int, f *rntuple.Filler[numbered]) error {
				if i == 5 {
					panic("oh dear")
				}
				put(f, 2000)
				return nil
			})
		}},
	} {
		path := filepath.Join(t.TempDir(), "n.root")
		w, err := rntuple.Create[numbered](path, "n", smallClusters(compress.None, 3))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.do(w); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		w.Close()
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: there is a file", c.name)
		}
		if err := w.Filler().Write(nil); err == nil {
			t.Errorf("%s: a filler of a closed writer takes entries", c.name)
		}
	}
}

// TestFillerCancelled cancels the context while a filler waits for a lower ticket.
func TestFillerCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	path := filepath.Join(t.TempDir(), "n.root")
	opts := smallClusters(505, 2)
	opts.File.Context = ctx
	w, err := rntuple.Create[numbered](path, "n", opts)
	if err != nil {
		t.Fatal(err)
	}
	first, second := w.OrderedFiller(0), w.OrderedFiller(1)
	time.AfterFunc(20*time.Millisecond, cancel)
	for err = error(nil); err == nil; { // it does not end before
		e := newNumbered(1)
		err = second.Write(&e)
	}
	if !errors.Is(err, context.Canceled) || !errors.Is(first.Close(), context.Canceled) ||
		!errors.Is(second.Close(), context.Canceled) || !errors.Is(w.Close(), context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestFillerDisk has the file fail at any of its writes.
func TestFillerDisk(t *testing.T) {
	for calls := 0; ; calls++ {
		d := &dying{calls: calls}
		err := func() error {
			f, err := rntuple.NewFile(d, "n.root", fixed)
			if err != nil {
				return err
			}
			opts := smallClusters(404, 3)
			opts.File = rntuple.FileOptions{}
			w, err := rntuple.NewWriter[numbered](f, "n", opts)
			if err != nil {
				return err
			}
			if err := w.Fill(len(parts), fillPart); err != nil {
				f.Abort()
				return err
			}
			return errors.Join(w.Close(), f.Close())
		}()
		if err == nil {
			if calls < 3 {
				t.Errorf("done after %d calls", calls)
			}
			return
		}
		if !errors.Is(err, errDead) {
			t.Fatalf("stopped at call %d: %v", calls, err)
		}
	}
}

// TestFillerAlone makes sure that the schema does not change under fillers, and that those
// that follow have the new one.
func TestFillerAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.root")
	doc := &schema.Document{Name: "n", Fields: []*schema.FieldDocument{{Name: "a", Type: "std::int32_t"}}}
	w, err := rntuple.CreateRecords(path, "n", doc, &rntuple.WriteOptions{File: *fixed})
	if err != nil {
		t.Fatal(err)
	}
	write := func(f *rntuple.Filler[value.Record], names []string, values ...any) {
		t.Helper()
		if err := errors.Join(f.Write(&value.Record{Names: names, Values: values}), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	f := w.Filler()
	late := &schema.FieldDocument{Name: "b", Type: "std::int64_t"}
	if err := w.Extend(late); err == nil || !strings.Contains(err.Error(), "1 fillers are not closed") {
		t.Errorf("Extend beside a filler: %v", err)
	}
	if err := w.Fill(1, nil); err == nil {
		t.Error("Fill beside a filler")
	}
	write(f, []string{"a"}, int32(1))
	if err := f.Write(nil); err == nil || err.Error() != "the writer is closed" {
		t.Errorf("a closed filler: %v", err)
	}
	if err := w.Extend(late); err != nil {
		t.Fatal(err)
	}
	write(w.Filler(), []string{"a", "b"}, int32(2), int64(3))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, got := recordsOf(t, path, "n"); strings.Join(got, " ") != `{"a":1,"b":0} {"a":2,"b":3}` {
		t.Errorf("read %s", got)
	}
}
