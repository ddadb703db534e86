package surgery

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sort"

	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/wire"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A picker says which entries of the n-th input to take: ranges in order, which
// may be empty and adjoin each other. It is called twice, first to see whether it
// can be done.
type picker func(ctx context.Context, n int, src *source) (iter.Seq2[rntuple.EntryRange, error], error)

// picked calls the picker.
func (m *merger) picked(ctx context.Context, n int, src *source) (iter.Seq2[rntuple.EntryRange, error], error) {
	ranges, err := m.pick(ctx, n, src)
	if err != nil {
		err = fmt.Errorf("%s: %w", src.name, err)
	}
	return ranges, err
}

// addPicked appends the picked entries of a source and returns which they are, if
// attribute sets need to know.
func (m *merger) addPicked(ctx context.Context, n int, src *source, progress func(entries int64)) (taken []rntuple.EntryRange, err error) {
	w, err := m.connect(m.out, src, 0)
	if err != nil {
		return nil, err
	}
	picked, err := m.picked(ctx, n, src)
	if err != nil {
		return nil, err
	}
	for r, err := range joined(picked, src.Source.Entries) {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", src.name, err)
		}
		if err := w.copyRange(ctx, r, progress); err != nil {
			return nil, err
		}
		if !m.set.dropAttributes && len(src.Footer.AttributeSets) > 0 {
			taken = append(taken, r)
		}
	}
	return taken, nil
}

// copyRange is copy for the only source, cluster by cluster.
func (w *wiring) copyRange(ctx context.Context, r rntuple.EntryRange, progress func(entries int64)) error {
	src := w.sources[0]
	for r.First < r.End {
		c, err := src.Source.Find(ctx, r.First)
		if err != nil {
			return fmt.Errorf("%s: %w", src.name, err)
		}
		stop := min(c.End, r.End)
		if err := w.copy(ctx, r.First, stop); err != nil {
			return err
		}
		progress(stop)
		r.First = stop
	}
	return nil
}

// joined makes one range of those that adjoin each other, and makes sure that they
// are in order and among so many entries.
func joined(ranges iter.Seq2[rntuple.EntryRange, error], entries int64) iter.Seq2[rntuple.EntryRange, error] {
	return func(yield func(rntuple.EntryRange, error) bool) {
		var last rntuple.EntryRange
		for r, err := range ranges {
			if err == nil && (r.First < last.End || r.End < r.First || r.End > entries) {
				err = fmt.Errorf("entries %d to %d cannot come after entry %d of %d", r.First, r.End, last.End, entries)
			}
			switch {
			case err != nil:
				yield(rntuple.EntryRange{}, err)
				return
			case r.Len() == 0:
			case r.First == last.End && last.Len() > 0:
				last.End = r.End
			default:
				if last.Len() > 0 && !yield(last, nil) {
					return
				}
				last = r
			}
		}
		if last.Len() > 0 {
			yield(last, nil)
		}
	}
}

// whole reports whether ranges in order have all entries.
func whole(taken []rntuple.EntryRange, entries int64) bool {
	return entries == 0 || len(taken) == 1 && taken[0].Len() == entries
}

// addRanges appends the attributes of a set that belong to entries of its source
// which the output has got from the entry first on. Their ranges are what is left
// of them there; attributes of which nothing is left are dropped.
func (m *merger) addRanges(ctx context.Context, o *output, src, set *source, taken []rntuple.EntryRange, first int64) error {
	attributes, err := rntuple.Wrap(src.Reader).OpenAttributes(set.Header.Name)
	if err != nil {
		return fmt.Errorf("%s: %w", set.name, err)
	}
	w, err := m.connect(o, set, 0)
	if err != nil {
		return err
	}
	before := make([]int64, len(taken)+1) // entries in the ranges before
	for i, r := range taken {
		before[i+1] = before[i] + r.Len()
	}
	// place returns where an entry is now, or the next one that is left.
	place := func(entry int64) int64 {
		i := sort.Search(len(taken), func(i int) bool { return taken[i].End > entry })
		if i == len(taken) {
			return first + before[i]
		}
		return first + before[i] + max(0, entry-taken[i].First)
	}
	starts, lengths := make([]uint64, attributes.Len()), make([]uint64, attributes.Len())
	for i := range starts {
		r := attributes.Range(i)
		begin := place(r.First)
		starts[i], lengths[i] = uint64(begin), uint64(max(0, place(r.End)-begin))
	}
	if err := errors.Join(w.replace(rangeStart, starts), w.replace(rangeLen, lengths)); err != nil {
		return err
	}
	for i := 0; i < len(lengths); {
		if lengths[i] == 0 {
			i++
			continue
		}
		end := i + 1
		for end < len(lengths) && lengths[end] > 0 {
			end++
		}
		if err := w.rewrite(ctx, int64(i), int64(end)); err != nil {
			return err
		}
		i = end
	}
	return nil
}

// replace has a top-level field get other numbers, one for every entry of its
// source.
func (w *wiring) replace(name string, numbers []uint64) error {
	for _, s := range w.strands {
		other := func(columns []*schema.Column) bool { return columns[0].Format().Kind() != reflect.Uint64 }
		if f := s.field; f.Name == name && f.Shape == schema.Scalar && !slices.ContainsFunc(f.Columns, other) {
			s.from.numbers = numbers
			return nil
		}
	}
	return wire.Unsupported("%s: field %q has no 64-bit numbers", w.sources[0].name, name)
}

// rewrite appends the entries from first to end of the only source one by one.
func (w *wiring) rewrite(ctx context.Context, first, end int64) error {
	for first < end {
		c, err := w.sources[0].Source.Find(ctx, first)
		if err != nil {
			return fmt.Errorf("%s: %w", w.sources[0].name, err)
		}
		stop := min(end, c.End)
		if err := w.slice(ctx, []*pagesource.Cluster{c}, first, stop); err != nil {
			return err
		}
		if err := w.out.endCluster(); err != nil {
			return err
		}
		first = stop
	}
	return nil
}

// cut is Merge with the entries that pick says, all if it is nil. Pages stay
// compressed as they are unless the settings say else.
func cut(ctx context.Context, out string, inputs []Input, set *settings, pick picker) (*Report, error) {
	if err := notAmong(out, inputs); err != nil {
		return nil, err
	}
	if set.compression == nil {
		set.keepCompression = true
	}
	m := &merger{inputs: inputs, set: set, pick: pick}
	if err := m.check(ctx); err != nil {
		return nil, err
	}
	f, err := set.create(out)
	if err != nil {
		return nil, err
	}
	return m.report(f, m.create(ctx, f))
}
