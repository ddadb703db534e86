package rntbeam

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

type row struct{ ID int64 }

func init() { Register[row]() }

// A cluster of workers that fail: what a runner does with the steps of Write.
type failing struct {
	*rand.Rand
	t *testing.T
	w writing
}

// A writer is a DoFn that writes bundles.
type writer interface {
	StartBundle(context.Context, func(Temporary)) error
	write(ctx context.Context, k int64, emit func(Temporary)) error
	FinishBundle(context.Context, func(Temporary)) error
}

type (
	withKeys    struct{ orderedFn[row] }
	withoutKeys struct{ writeFn[row] }
)

func (w *withKeys) write(ctx context.Context, k int64, emit func(Temporary)) error {
	return w.ProcessElement(ctx, k, row{k}, emit)
}

func (w *withoutKeys) write(ctx context.Context, k int64, emit func(Temporary)) error {
	return w.ProcessElement(ctx, row{k}, emit)
}

func (f *failing) writer() writer {
	if f.w.Ordered {
		return &withKeys{orderedFn[row]{writing: f.w}}
	}
	return &withoutKeys{writeFn[row]{writing: f.w}}
}

// bundle writes a bundle, after some attempts that fail: in the middle, with or without another one
// on the same worker, or at its end, when all is written but nobody hears of it.
func (f *failing) bundle(keys []int64) Temporary {
	f.t.Helper()
	ctx := context.Background()
	fn := f.writer()
	for {
		var out []Temporary
		emit := func(t Temporary) { out = append(out, t) }
		if err := fn.StartBundle(ctx, emit); err != nil {
			f.t.Fatal(err)
		}
		fails := f.IntN(2) == 0
		end := len(keys)
		if fails {
			end = f.IntN(len(keys) + 1)
		}
		for _, k := range keys[:end] {
			if err := fn.write(ctx, k, emit); err != nil {
				f.t.Fatal(err)
			}
		}
		if fails && f.IntN(2) == 0 { // the worker is lost, or it gets another bundle
			if f.IntN(2) == 0 {
				fn = f.writer()
			}
			continue
		}
		if err := fn.FinishBundle(ctx, emit); err != nil {
			f.t.Fatal(err)
		}
		if !fails {
			if len(keys) == 0 {
				return Temporary{}
			}
			return out[0]
		}
	}
}

// all returns a function that yields values as Beam does.
func all[T any](values []T) func(*T) bool {
	return func(v *T) bool {
		if len(values) == 0 {
			return false
		}
		*v, values = values[0], values[1:]
		return true
	}
}

// arrange decides on the outputs of bundles.
func (f *failing) arrange(files []Temporary) (outputs []Output) {
	f.t.Helper()
	f.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	if err := (&arrangeFn{f.w}).ProcessElement(context.Background(), 0, all(append(files, Temporary{})),
		func(o Output) { outputs = append(outputs, o) }); err != nil {
		f.t.Fatal(err)
	}
	return outputs
}

// bundles returns random bundles of all keys up to n: some with runs of them, some with keys here
// and there.
func (f *failing) bundles(n int64) (all [][]int64) {
	var loose []int64
	for at := int64(0); at < n; {
		end := min(n, at+1+f.Int64N(60))
		var run []int64
		for k := at; k < end; k++ {
			if f.IntN(20) == 0 {
				loose = append(loose, k)
			} else {
				run = append(run, k)
			}
		}
		if len(all) > 0 && f.IntN(3) == 0 { // a bundle of several runs, also backwards
			last := &all[f.IntN(len(all))]
			*last = append(*last, run...)
		} else {
			all = append(all, run)
		}
		at = end
	}
	f.Shuffle(len(loose), func(i, j int) { loose[i], loose[j] = loose[j], loose[i] })
	return append(all, loose)
}

// TestRetries has workers fail at every step, and the pipeline begin anew. The outputs have each
// entry once, in order if asked, and nothing else is left.
func TestRetries(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	ctx := context.Background()
	for round := range 18 {
		const n = 400
		dir := t.TempDir()
		path := filepath.Join(dir, "out.root")
		ordered, shards := round%2 == 0, []int{0, 1, 4}[round%3]
		w := newWriting[row](path, WriteOptions{Shards: shards}, ordered)
		if ordered {
			w.Options.Shards = max(1, shards)
		}
		f := &failing{random, t, w}
		write := func() (outputs []Output) {
			var files []Temporary
			for _, keys := range f.bundles(n) {
				if b := f.bundle(keys); b.Path != "" {
					files = append(files, b)
				}
			}
			outputs = f.arrange(files)
			if again := f.arrange(files); fmt.Sprint(again) != fmt.Sprint(outputs) {
				t.Fatalf("other outputs when tried again:\n%v\n%v", outputs, again)
			}
			return outputs
		}
		publish := func(o Output) {
			fn := &publishFn[row]{writing: w}
			for range 1 + random.IntN(2) {
				if err := fn.ProcessElement(ctx, o, func(string) {}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if random.IntN(3) == 0 { // an attempt of the whole pipeline that ends after some outputs
			for _, o := range write() {
				if random.IntN(2) == 0 {
					publish(o)
				}
			}
		}
		var paths []string
		for _, o := range write() {
			publish(o)
			paths = append(paths, o.Path)
		}
		for range 2 {
			var got []string
			if err := (&cleanFn{w}).ProcessElement(ctx, 0, all(slices.Clone(paths)),
				func(path string) { got = append(got, path) }); err != nil || !slices.Equal(got, paths) {
				t.Fatalf("%v, %v", got, err)
			}
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != len(paths) {
			t.Fatalf("%v are left, %v, want %v", left, err, paths)
		}
		var keys []int64
		for _, path := range paths {
			r, err := rntuple.Open(path, "Events", nil)
			if err != nil {
				t.Fatal(err)
			}
			for e, err := range rntuple.Entries[row](r) {
				if err != nil {
					t.Fatal(err)
				}
				keys = append(keys, e.ID)
			}
			r.Close()
		}
		if !ordered {
			slices.Sort(keys)
		}
		for i, k := range keys {
			if k != int64(i) {
				t.Fatalf("round %d: entry %d is %d", round, i, k)
			}
		}
		if len(keys) != n {
			t.Fatalf("round %d: %d entries", round, len(keys))
		}
	}
}
