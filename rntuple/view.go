package rntuple

import (
	"fmt"
	"io"
	"iter"
	"reflect"
	"slices"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// A View reads one field, or whole entries, as values of type T. It keeps what
// it decoded last, so reading forward is cheap. A View serves one goroutine at
// a time; views are cheap to make, and those of one Reader can be used side by
// side.
type View[T any] struct {
	r    *Reader
	plan *field.Plan
	err  error
}

// ViewOf returns a view of the field at path as values of type T, one value an
// entry. The package comment says which types fit which fields.
//
// A path is the name of a top-level field, or the names from there to a
// subfield, joined by dots: "event.vertex.x". Every collection on the way adds
// a slice to T, every optional a pointer: with jets of type std::vector<Jet>,
// "jets.pt" is a []float32. The empty path means whole entries; T is then a
// struct, see Entries.
//
// The error is a *MismatchError if T does not fit, and wraps ErrNoField if there
// is no such field; if the field is there but cannot be read, it says why.
func ViewOf[T any](r *Reader, path string) (*View[T], error) {
	var chain []*schema.Field
	if path != "" {
		var err error
		if chain, err = r.Schema().Lookup(path); err != nil {
			return nil, err
		}
	}
	plan, err := field.Compile(r.src, chain, reflect.TypeFor[T](), r.config.maxEntry)
	if err != nil {
		return nil, err
	}
	return &View[T]{r: r, plan: plan}, nil
}

// RecordsOf returns a view of the fields at the given paths, as ViewOf takes
// them, as dynamic values; without paths, of all top-level fields. The members
// of the records are named by the paths.
func RecordsOf(r *Reader, paths ...string) (*View[value.Record], error) {
	if len(paths) == 0 {
		return ViewOf[value.Record](r, "")
	}
	chains := make([][]*schema.Field, len(paths))
	for i, path := range paths {
		var err error
		if chains[i], err = r.Schema().Lookup(path); err != nil {
			return nil, err
		}
	}
	plan, err := field.CompileRecords(r.src, slices.Clone(paths), chains, r.config.maxEntry)
	if err != nil {
		return nil, err
	}
	return &View[value.Record]{r: r, plan: plan}, nil
}

// Read fills dst with the values of the entries from first on and returns how
// many there were. It is fewer than len(dst) only where the entries end; if
// there are none left, the error is io.EOF. Memory that the values point to
// (slices, strings, pointers) is fresh with every call. After another error,
// what dst holds is undefined.
func (v *View[T]) Read(dst []T, first int64) (int, error) {
	n, err := v.r.clip(first, int64(len(dst)))
	if err != nil || n == 0 {
		return 0, err
	}
	if err := v.plan.Read(v.r.ctx, first, n, unsafe.Pointer(unsafe.SliceData(dst))); err != nil {
		return 0, err
	}
	return int(n), nil
}

// clip returns how many of the n entries from first on exist.
func (r *Reader) clip(first, n int64) (int64, error) {
	switch {
	case first < 0:
		return 0, fmt.Errorf("entry %d", first)
	case n > 0 && first >= r.NumEntries():
		return 0, io.EOF
	}
	return min(n, r.NumEntries()-first), nil
}

// At returns the value of one entry.
func (v *View[T]) At(entry int64) (T, error) {
	var one [1]T
	_, err := v.Read(one[:], entry)
	return one[0], err
}

// All yields the number and the value of every entry. It ends early after an
// error, which Err returns.
func (v *View[T]) All() iter.Seq2[int64, T] { return v.Range(0, v.r.NumEntries()) }

// Range yields the number and the value of the entries from first to end, end
// excluded, as far as they exist. It ends early after an error, which Err
// returns.
func (v *View[T]) Range(first, end int64) iter.Seq2[int64, T] {
	return func(yield func(int64, T) bool) {
		var batch []T
		v.err = nil
		v.plan.InOrder(first, end)
		defer v.plan.Stop()
		for at := first; at < min(end, v.r.NumEntries()); {
			if batch == nil {
				batch = make([]T, min(batchLen[T](), end-at))
			}
			n, err := v.Read(batch[:min(int64(len(batch)), end-at)], at)
			if err != nil {
				v.err = err
				return
			}
			for i, value := range batch[:n] {
				if !yield(at+int64(i), value) {
					return
				}
			}
			at += int64(n)
		}
	}
}

// Err returns the error that ended the last loop over All or Range early, nil
// if there was none.
func (v *View[T]) Err() error { return v.err }

// batchLen returns how many values loops read at once: enough to make the cost
// of a call small, and few enough to stay in the cache.
func batchLen[T any]() int64 {
	const bytes = 256 << 10
	return max(16, bytes/int64(max(1, reflect.TypeFor[T]().Size())))
}

// Entries yields all entries as structs of type T, whose exported fields name
// the fields of the RNTuple, by a tag or by their own name:
//
//	type Event struct {
//		Pt     []float32 `rntuple:"Muon_pt"`
//		Vertex struct{ X, Y, Z float64 }
//		Weight float32 `rntuple:"gen.weight"` // a path, as ViewOf takes it
//		Cached int     `rntuple:"-"`          // not in the file
//	}
//
// Only the fields that T names are read. Structs embedded without a tag count
// as if their fields were T's.
//
// The first error ends the loop; it comes with a nil pointer, in the place of
// an entry. The entries and all that they point to are fresh memory, never used
// again; but some hundred entries, and the items of their collections, share
// arrays, so to keep few of many for long, copy them. With several workers, see
// ReadWorkers, the next entries are being filled while the loop's body runs.
func Entries[T any](r *Reader) iter.Seq2[*T, error] { return EntriesIn[T](r, 0, r.NumEntries()) }

// EntriesIn is Entries for those from first to end, end excluded, as far as
// they exist.
func EntriesIn[T any](r *Reader, first, end int64) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		v, err := ViewOf[T](r, "")
		if err != nil {
			yield(nil, err)
			return
		}
		v.plan.InOrder(first, end)
		defer v.plan.Stop()
		for batch, err := range v.batches(first, min(end, r.NumEntries())) {
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range batch {
				if !yield(&batch[i], nil) {
					return
				}
			}
		}
	}
}

// batches yields the values of the entries from first to end, a slice of some at
// a time, in fresh memory. With several workers, the next slice is being filled
// meanwhile.
func (v *View[T]) batches(first, end int64) iter.Seq2[[]T, error] {
	type result struct {
		values []T
		err    error
	}
	fill := func() result {
		values := make([]T, min(batchLen[T](), end-first))
		n, err := v.Read(values, first)
		first += int64(n)
		return result{values[:n], err}
	}
	return func(yield func([]T, error) bool) {
		if v.r.src.Workers < 2 {
			for first < end {
				if b := fill(); !yield(b.values, b.err) || b.err != nil {
					return
				}
			}
			return
		}
		filled, pending := make(chan result, 1), false
		defer func() {
			if pending {
				<-filled // the plan is not free before
			}
		}()
		for pending || first < end {
			if !pending {
				filled <- fill()
			}
			b := <-filled
			if pending = b.err == nil && first < end; pending {
				go func() { filled <- fill() }()
			}
			if !yield(b.values, b.err) || b.err != nil {
				return
			}
		}
	}
}

// A JaggedView reads a collection field in columnar form: the items of many
// entries as one slice, and where each entry's items end. It serves one
// goroutine at a time.
type JaggedView[T any] struct {
	r    *Reader
	plan *field.Jagged
}

// JaggedOf returns a columnar view of the field at path, a collection or a
// subfield below one, with items of type T. See ViewOf for paths; more
// collections below the first one add slices to T.
func JaggedOf[T any](r *Reader, path string) (*JaggedView[T], error) {
	chain, err := r.Schema().Lookup(path)
	if err != nil {
		return nil, err
	}
	plan, err := field.CompileJagged(r.src, chain, reflect.TypeFor[T](), r.config.maxEntry)
	if err != nil {
		return nil, err
	}
	return &JaggedView[T]{r, plan}, nil
}

// Read reads the items of the entries from first on, as many entries as
// offsets has elements less one. Entry first+i has the items
//
//	items[offsets[i]:offsets[i+1]]
//
// offsets[0] is 0. The items are appended to buf[:0], which may be nil. Read
// returns them and the number n of entries, which is less than asked for only
// where the entries end; offsets beyond offsets[n] are not set. If there are no
// entries left, the error is io.EOF.
func (v *JaggedView[T]) Read(offsets []int64, buf []T, first int64) (items []T, n int, err error) {
	items = buf[:0]
	if len(offsets) == 0 {
		return items, 0, nil
	}
	offsets[0] = 0
	entries, err := v.r.clip(first, int64(len(offsets)-1))
	if err != nil || entries == 0 {
		return items, 0, err
	}
	err = v.plan.Read(v.r.ctx, first, entries, offsets[1:], func(lo, hi int64) unsafe.Pointer {
		items = slices.Grow(items[:lo], int(hi-lo))[:hi]
		return unsafe.Pointer(unsafe.SliceData(items[lo:]))
	})
	return items, int(entries), err
}
