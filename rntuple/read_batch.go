package rntuple

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Batch contains the values of some fields in a range of consecutive entries. It and all slices
// in it are valid until the next iteration of the loop, unless BatchOptions.Fresh is set.
type Batch struct {
	First   int64             // number of the first entry
	Len     int               // number of entries, at least one
	Columns []*columnar.Array // one per requested field, in that order, with one value per entry
}

// Column returns the Array of the field requested with the given path, or nil if there is none.
func (b *Batch) Column(path string) *columnar.Array {
	i := slices.IndexFunc(b.Columns, func(a *columnar.Array) bool { return a.Name == path })
	if i < 0 {
		return nil
	}
	return b.Columns[i]
}

// BatchOptions configures Batches. The zero value and a nil pointer select all fields.
type BatchOptions struct {
	// Fields are the paths of fields, as for ViewOf: every collection, optional and array on a path
	// adds a level of Array, records do not. Default: all top-level fields.
	Fields []string
	// Size is the maximum number of entries in a batch. Default: 16,384.
	Size int
	// Fresh allocates new memory for every batch, so that it stays valid.
	Fresh bool
}

const defaultBatch = 1 << 14 // entries: few enough for many fields to stay in the cache

// Batches yields all entries in batches, in columnar form: every field is a tree of plain
// slices, see Array, at about the cost of decoding them.
//
// A batch never spans clusters. It has fewer entries than BatchOptions.Size at the end of a
// cluster, or if they would need more memory than Limits.EntryBytes. In a Join, the clusters are
// those of the primary source; fields of matched sources are Arrays of optionals, unless ZeroValues
// was called. The inputs of a Chain must have fields of the same types; with
// ReadOptions.AllowMissing, a field that is missing from an input other than the first is zero,
// empty or valueless there.
//
// The first error ends the loop; it is yielded with a nil pointer. It is a *schema.MismatchError
// that wraps ErrNoField if there is no such field.
func Batches(s Source, o *BatchOptions) iter.Seq2[*Batch, error] {
	return BatchesIn(s, EntryRange{End: math.MaxInt64}, o)
}

// BatchesIn is like Batches, but yields only the existing entries in a range.
func BatchesIn(s Source, r EntryRange, options *BatchOptions) iter.Seq2[*Batch, error] {
	o := *cmp.Or(options, new(BatchOptions))
	return func(yield func(*Batch, error) bool) {
		first, size := r.First, int64(o.Size)
		switch {
		case size < 0:
			yield(nil, fmt.Errorf("BatchOptions.Size: %d; the number must not be negative", size))
			return
		case first < 0:
			yield(nil, fmt.Errorf("entry %d: the number is negative", first))
			return
		case size == 0:
			size = defaultBatch
		}
		paths := o.Fields
		if len(paths) == 0 {
			paths = s.names()
		}
		plan, err := s.bindBatches(paths, o.Fresh)
		if err != nil {
			yield(nil, err)
			return
		}
		end := min(r.End, s.bound())
		plan.inOrder(first, end, nil)
		defer plan.stop()
		b := new(Batch)
		for first < end {
			arrays, n, err := plan.read(s.context(), first, min(size, end-first))
			if err != nil {
				yield(nil, err)
				return
			}
			if n == 0 {
				return
			}
			for i, a := range arrays {
				a.Name = paths[i]
			}
			if o.Fresh {
				b = new(Batch)
			}
			*b = Batch{first, int(n), arrays}
			first += n
			if !yield(b, nil) {
				return
			}
		}
	}
}

// Shapes returns the Arrays that Batches would yield for the fields at the given paths, without
// values: their shapes, and empty Values slices of the right type. It reads only metadata. It
// returns the same errors as Batches.
func Shapes(s Source, paths ...string) ([]*columnar.Array, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	plan, err := s.bindBatches(paths, false)
	if err != nil {
		return nil, err
	}
	arrays := like(plan.arrays())
	for i, a := range arrays {
		a.Name = paths[i]
	}
	return arrays, nil
}

// A batchPlan reads entries of a source into Arrays. It must be used by one goroutine at a
// time.
type batchPlan interface {
	// arrays returns an Array for each field, to make others like it.
	arrays() []*columnar.Array
	// read reads at most n entries from first on and returns their number, which is 0
	// only at the end of the entries. The Arrays are valid until the next call unless
	// the plan's memory is fresh.
	read(ctx context.Context, first, n int64) ([]*columnar.Array, int64, error)
	// readSpans is like read for entries in several spans, which are in order, not empty
	// and must exist. It reads some of the first ones.
	readSpans(ctx context.Context, spans []columnar.Span) ([]*columnar.Array, int64, error)
	orderedPlan
}

func (r *Reader) bindBatches(paths []string, fresh bool) (batchPlan, error) {
	chains := make([][]*schema.Field, len(paths))
	var missing []schema.Mismatch
	for i, path := range paths {
		var err error
		if chains[i], err = r.Schema().Lookup(path); err != nil {
			missing = append(missing, schema.Mismatch{Path: path, Err: err})
		}
	}
	if len(missing) > 0 {
		return nil, &schema.MismatchError{Mismatches: missing}
	}
	compiled, err := field.CompileBatches(r.ntuple.Source, chains, fresh, r.plans())
	return &readerBatches{compiled, r.NumEntries()}, err
}

// readerBatches reads from one RNTuple.
type readerBatches struct {
	plan    *field.Batches
	entries int64
}

func (p *readerBatches) arrays() []*columnar.Array { return p.plan.Arrays() }

func (p *readerBatches) read(ctx context.Context, first, n int64) ([]*columnar.Array, int64, error) {
	if n = min(n, p.entries-first); n <= 0 {
		return nil, 0, nil
	}
	return p.plan.Read(ctx, first, n)
}

func (p *readerBatches) readSpans(ctx context.Context, spans []columnar.Span) ([]*columnar.Array, int64, error) {
	return p.plan.ReadSpans(ctx, spans)
}

func (p *readerBatches) inOrder(first, end int64, c field.Chosen) {
	p.plan.InOrder(first, end)
	p.plan.Choose(c)
}

func (p *readerBatches) stop() { p.plan.Stop() }

// like returns empty Arrays of the same shapes.
func like(arrays []*columnar.Array) []*columnar.Array {
	all := make([]*columnar.Array, len(arrays))
	for i, a := range arrays {
		all[i] = columnar.Like(a)
	}
	return all
}

// maxCopied limits the memory in bytes of values of one field that are copied into a batch.
const maxCopied = 1 << 30

// take appends values of from, which are Arrays of the same shapes.
func take(to, from []*columnar.Array, spans []columnar.Span) error {
	for i, a := range to {
		if err := columnar.Append(a, from[i], spans, maxCopied); err != nil {
			return err
		}
	}
	return nil
}
