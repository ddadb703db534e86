package rntuple

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"reflect"
	"slices"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/value"
)

// A View reads one field, or entire entries, as values of type T. It keeps the last decoded page,
// so sequential reads are cheap. A View must be used by one goroutine at a time; views are cheap to
// create, and several views of one Source can be used concurrently.
type View[T any] struct {
	src  Source
	plan plan
	err  error
}

// ViewOf returns a view of the field at path as values of type T, one value per entry. The package
// documentation lists compatible types.
//
// A path is the name of a top-level field, or the names from there to a subfield, joined by dots:
// "event.vertex.x". Every collection on the path adds a slice to T, every optional a pointer: with
// jets of type std::vector<Jet>, "jets.pt" is a []float32. The empty path selects entire entries; T
// must then be a struct, see Entries.
//
// The error is a *schema.MismatchError if T is incompatible or its tags are invalid, and wraps
// ErrNoField if there is no such field. If the field exists but is not supported, the error states
// the reason.
func ViewOf[T any](s Source, path string) (*View[T], error) {
	t := reflect.TypeFor[T]()
	var p plan
	var err error
	switch {
	case path == "" && t == recordType:
		p, err = bindRecords(s, s.names())
	case path == "" && t.Kind() == reflect.Struct:
		var members []field.Member
		if members, err = field.Members(t); err == nil {
			p, err = s.bind(t, members)
		}
	default:
		p, err = s.bind(t, []field.Member{{Name: path, Type: t}})
	}
	if err != nil {
		return nil, err
	}
	return &View[T]{src: s, plan: p}, nil
}

// RecordsOf returns a view of the fields at the given paths as dynamic values; without paths, of
// all top-level fields. See ViewOf for paths; they are the names of the members of the records.
func RecordsOf(s Source, paths ...string) (*View[value.Record], error) {
	if len(paths) == 0 {
		paths = s.names()
	}
	p, err := bindRecords(s, slices.Clone(paths))
	if err != nil {
		return nil, err
	}
	return &View[value.Record]{src: s, plan: p}, nil
}

// Read fills dst with the values of the entries from first on and returns the number of values
// read. It is less than len(dst) only at the end of the entries; if there are none left, the error
// is io.EOF. Memory referenced by the values (slices, strings, pointers) is newly allocated by
// every call. After any other error the contents of dst are undefined.
func (v *View[T]) Read(dst []T, first int64) (int, error) {
	n, err := v.fill(nil, dst, first)
	if err == nil && n == 0 && len(dst) > 0 {
		err = io.EOF
	}
	return n, err
}

// fill is Read without an error at the end of the entries. What the values point to is
// part of memory, if that is not nil.
func (v *View[T]) fill(memory *field.Memory, dst []T, first int64) (int, error) {
	if err := notNegative(first); err != nil {
		return 0, err
	}
	n, err := v.plan.read(v.src.context(), memory, first, int64(len(dst)), unsafe.Pointer(unsafe.SliceData(dst)))
	if err != nil {
		return 0, err
	}
	return int(n), nil
}

// notNegative returns an error if there can be no entry with the number, for lack of which
// differences of numbers of entries could overflow.
func notNegative(entry int64) error {
	if entry < 0 {
		return fmt.Errorf("entry %d: the number is negative", entry)
	}
	return nil
}

// At returns the value of one entry.
func (v *View[T]) At(entry int64) (T, error) {
	var one [1]T
	_, err := v.Read(one[:], entry)
	return one[0], err
}

// All yields the index and the value of every entry. An error ends the loop; Err returns it.
func (v *View[T]) All() iter.Seq2[int64, T] { return v.Range(EntryRange{0, math.MaxInt64}) }

// Range yields the index and the value of the existing entries in r. An error ends the loop; Err
// returns it.
func (v *View[T]) Range(r EntryRange) iter.Seq2[int64, T] {
	return func(yield func(int64, T) bool) {
		var batch []T
		if v.err = notNegative(r.First); v.err != nil {
			return
		}
		end := min(r.End, v.src.bound())
		v.plan.inOrder(r.First, end, nil)
		defer v.plan.stop()
		for at := r.First; at < end; {
			if batch == nil {
				batch = make([]T, min(batchLen[T](), end-at))
			}
			n, err := v.fill(nil, batch[:min(int64(len(batch)), end-at)], at)
			if v.err = err; err != nil || n == 0 {
				return
			}
			for i, value := range batch[:n] {
				if v.err = done(v.src.context(), i); v.err != nil {
					return
				}
				if !yield(at+int64(i), value) {
					return
				}
			}
			at += int64(n)
		}
	}
}

// loopCheck is the number of values that loops yield between two checks of their context.
const loopCheck = 256

// done returns the error of ctx if value i of a batch is one at which to check it.
func done(ctx context.Context, i int) error {
	if i%loopCheck != 0 {
		return nil
	}
	return ctx.Err()
}

// Err returns the error that ended the last loop over All or Range, or nil if there was
// none.
func (v *View[T]) Err() error { return v.err }

// batchLen returns the number of values that loops read at once: enough to make the cost of
// a call small, and few enough to stay in the cache.
func batchLen[T any]() int64 {
	const bytes = 256 << 10
	return max(16, bytes/int64(max(1, reflect.TypeFor[T]().Size())))
}

// Entries yields all entries as structs of type T, whose exported fields correspond to fields of
// the RNTuple by tag or by name:
//
//	type Event struct {
//		Pt     []float32 `rntuple:"Muon_pt"`
//		Vertex struct{ X, Y, Z float64 }
//		Weight float32 `rntuple:"gen.weight"` // a path, as ViewOf takes it
//		Cached int     `rntuple:"-"`          // not in the file
//	}
//
// Only the fields of T are read. Fields of a struct embedded without a tag are promoted to T.
//
// The first error ends the loop; it is yielded with a nil pointer. Unless EntriesOptions.Reuse is
// set, the entries and everything that they point to are newly allocated and never reused. Hundreds
// of entries share one backing array, as do the items of their collections, so a program that
// retains few of many entries should copy them. With several ReadOptions.Workers, the next entries
// are read while the loop body runs.
func Entries[T any](s Source) iter.Seq2[*T, error] {
	return EntriesIn[T](s, EntryRange{End: math.MaxInt64}, nil)
}

// EntriesIn is like Entries, but yields only the existing entries in a range.
func EntriesIn[T any](s Source, r EntryRange, o *EntriesOptions) iter.Seq2[*T, error] {
	reuse := o != nil && o.Reuse
	return func(yield func(*T, error) bool) {
		v, err := ViewOf[T](s, "")
		if err == nil {
			err = notNegative(r.First)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		end := min(r.End, s.bound())
		v.plan.inOrder(r.First, end, nil)
		defer v.plan.stop()
		ctx := s.context()
		for batch, err := range v.batches(r.First, end, reuse) {
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range batch {
				if err := done(ctx, i); err != nil {
					yield(nil, err)
					return
				}
				if !yield(&batch[i], nil) {
					return
				}
			}
		}
	}
}

// EntriesOptions configures EntriesIn. The zero value and a nil pointer select the defaults.
type EntriesOptions struct {
	// Reuse reuses memory, like bufio.Scanner, which is faster, especially for structs with slices:
	// an entry, and everything that it points to, is valid until the end of the loop body and may
	// then be overwritten. A program that retains parts of it must copy them at every level, for
	// example with slices.Clone. Strings may be retained without a copy: their bytes are never
	// overwritten.
	//
	// As without Reuse, every entry is reset to the zero T before it is read: struct fields that
	// are not read, such as those with the tag "-", do not retain values that the body stored in an
	// earlier entry.
	//
	// The memory of the largest batch of entries, twice with several workers, is kept until the
	// loop ends.
	Reuse bool
}

// batches yields the values of the entries from first to end, in newly allocated slices
// unless reuse is set. With several workers, the next slice is filled while one is in use.
func (v *View[T]) batches(first, end int64, reuse bool) iter.Seq2[[]T, error] {
	type result struct {
		values []T
		err    error
	}
	turn := 0
	var used [2]struct { // with reuse: one can be filled while the other is in use
		values []T
		memory field.Memory
	}
	fill := func() result {
		var values []T
		var memory *field.Memory
		if n := min(batchLen[T](), end-first); reuse {
			u := &used[0]
			if v.src.workers() > 1 {
				u = &used[turn%2]
				turn++
			}
			if u.values == nil { // later batches are no larger
				u.values = make([]T, n)
			}
			values, memory = u.values[:n], &u.memory
			clear(values)
			memory.Reset()
		} else {
			values = make([]T, n)
		}
		n, err := v.fill(memory, values, first)
		if first += int64(n); n == 0 {
			end = first
		}
		return result{values[:n], err}
	}
	return func(yield func([]T, error) bool) {
		if first >= end {
			return
		}
		next := func() (b result, last bool) {
			b = fill()
			return b, b.err != nil || first >= end
		}
		for b := range ahead(v.src.workers(), next) {
			if !yield(b.values, b.err) {
				return
			}
		}
	}
}

// A JaggedView reads a collection field in columnar form: the items of many entries as one slice,
// with the offsets of each entry's items. It must be used by one goroutine at a time.
type JaggedView[T any] struct {
	src  Source
	plan jaggedPlan
}

// JaggedOf returns a columnar view of the field at path, which must be a collection or a
// subfield of one, with items of type T. See ViewOf for paths; every collection below the
// first one adds a slice to T.
func JaggedOf[T any](s Source, path string) (*JaggedView[T], error) {
	plan, err := s.bindJagged(path, reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	return &JaggedView[T]{s, plan}, nil
}

// Read reads the items of len(offsets)-1 entries from first on. Entry first+i has the items
//
//	items[offsets[i]:offsets[i+1]]
//
// and offsets[0] is 0. The items are appended to buf[:0]; buf may be nil. Read returns
// them and the number n of entries read, which is less than requested only at the end of
// the entries; elements after offsets[n] are not set. If there are no entries left, the
// error is io.EOF.
func (v *JaggedView[T]) Read(offsets []int64, buf []T, first int64) (items []T, n int, err error) {
	items = buf[:0]
	if err := notNegative(first); err != nil {
		return items, 0, err
	}
	if len(offsets) == 0 {
		return items, 0, nil
	}
	offsets[0] = 0
	entries, err := v.plan.read(v.src.context(), first, offsets[1:], func(lo, hi int64) unsafe.Pointer {
		items = slices.Grow(items[:lo], int(hi-lo))[:hi]
		return unsafe.Pointer(unsafe.SliceData(items[lo:]))
	})
	switch {
	case err != nil:
		entries = 0
	case entries == 0 && len(offsets) > 1:
		err = io.EOF
	}
	return items, int(entries), err
}
