package rntuple

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Selection is a Source with the entries of another source that satisfy a Condition, numbered
// from 0; see Where. Views, loops, batches, Fold, Chains and Joins of it fetch, decompress and
// decode only pages that contain selected entries. Entry numbers in errors refer to the underlying
// source. A Selection is safe for concurrent use. It does not own the underlying source: the caller
// must close it.
type Selection struct {
	src Source
	set *entrySet
	ctx context.Context
}

// Where returns the Selection of the entries of s that satisfy c. It immediately evaluates the
// condition for all entries with Fold, which reads only the fields that the condition needs, and
// stores the result in at most about one bit per entry, less if selected entries form long runs.
//
// The options are those of Fold for the evaluation.
func Where(s Source, c Condition, o *FoldOptions) (*Selection, error) {
	if err := c.Check(s); err != nil {
		return nil, err
	}
	set, err := fold(s, func(s Source, r EntryRange) (*entrySet, error) {
		set, last := new(entrySet), r.First
		for e, err := range c.Select(s, r) {
			if err != nil {
				return nil, err
			}
			if e.Len() == 0 {
				continue
			}
			if e.First < last || e.End < e.First || e.End > r.End {
				return nil, fmt.Errorf("the condition selects the entries from %d up to %d, after %d and of those up to %d",
					e.First, e.End, last, r.End)
			}
			set.add(e)
			last = e.End
		}
		set.seal()
		return set, nil
	}, func(a, b *entrySet) *entrySet {
		a.join(b)
		return a
	}, o, farPart)
	if err != nil {
		return nil, err
	}
	return &Selection{s, set, s.context()}, nil
}

// Select returns the Selection of the entries of s in the given ranges, which must be in order and
// not overlap.
func Select(s Source, ranges ...EntryRange) (*Selection, error) {
	n, err := s.count(s.context())
	if err != nil {
		return nil, err
	}
	set, last := new(entrySet), int64(0)
	for _, r := range ranges {
		if r.First < last || r.End < r.First || r.End > n {
			return nil, fmt.Errorf("there are no entries from %d up to %d behind %d and of %d", r.First, r.End, last, n)
		}
		set.add(r)
		last = r.End
	}
	set.seal()
	return &Selection{s, set, s.context()}, nil
}

// farPart is the minimum number of entries of remote files for which a condition is evaluated at a
// time, because each part takes a request.
const farPart = 1 << 19

// WithContext returns a Selection of the same entries whose views return the context's error when
// it is done. By default, the context is that of the underlying source.
func (s *Selection) WithContext(ctx context.Context) *Selection { return &Selection{s.src, s.set, ctx} }

// Source returns the underlying source.
func (s *Selection) Source() Source { return s.src }

// NumEntries returns the number of entries.
func (s *Selection) NumEntries() int64 { return s.set.n }

// Entry returns the number of entry i in the underlying source. It panics if there is no such
// entry.
func (s *Selection) Entry(i int64) int64 {
	if i < 0 || i >= s.set.n {
		panic(fmt.Sprintf("rntuple: entry %d of a Selection of %d", i, s.set.n))
	}
	return s.set.entry(i)
}

// Ranges yields the selected entries of the underlying source, as ranges in order that are neither
// empty nor adjacent.
func (s *Selection) Ranges() iter.Seq[EntryRange] {
	return func(yield func(EntryRange) bool) {
		var last EntryRange
		for i := range s.set.blocks {
			b := &s.set.blocks[i]
			for span := range b.spans(0, blockSize) {
				r := EntryRange{b.first + span.First, b.first + span.First + span.N}
				switch {
				case r.First == last.End && last.Len() > 0:
					last.End = r.End
				case last.Len() > 0 && !yield(last):
					return
				default:
					last = r
				}
			}
		}
		if last.Len() > 0 {
			yield(last)
		}
	}
}

func (s *Selection) field(path string) (*schema.Field, error) { return s.src.field(path) }
func (s *Selection) names() []string                          { return s.src.names() }
func (s *Selection) count(context.Context) (int64, error)     { return s.set.n, nil }
func (s *Selection) bound() int64                             { return s.set.n }
func (s *Selection) context() context.Context                 { return s.ctx }
func (s *Selection) workers() int                             { return s.src.workers() }
func (s *Selection) far() bool                                { return s.src.far() }

// ranges returns the entries of those clusters that have some.
func (s *Selection) ranges(ctx context.Context) ([]EntryRange, error) {
	clusters, err := s.src.ranges(ctx)
	if err != nil {
		return nil, err
	}
	var all []EntryRange
	for _, c := range clusters {
		if r := (EntryRange{s.set.rank(c.First), s.set.rank(c.End)}); r.Len() > 0 {
			all = append(all, r)
		}
	}
	return all, nil
}

// spans returns the spans of entries of the other source that n entries from first on are.
func (s *Selection) spans(first, n int64) []columnar.Span {
	if n == 0 {
		return nil
	}
	return s.set.Spans(s.set.entry(first), s.set.entry(first+n-1)+1)
}

// spansOf returns the spans of entries of the other source that spans are.
func (s *Selection) spansOf(spans []columnar.Span) (all []columnar.Span) {
	for _, span := range spans {
		for _, inner := range s.spans(span.First, span.N) {
			all = columnar.AddSpan(all, inner)
		}
	}
	return all
}

// chosen returns the entries from first up to but not including end in the other source, and
// what is chosen of them. Nil chooses all entries of the selection.
func (s *Selection) chosen(first, end int64, c field.Chosen) (int64, int64, field.Chosen) {
	end = min(end, s.set.n)
	if first >= end {
		return 0, 0, nil
	}
	if c == nil {
		c = s.set
	} else {
		c = chosenOf{s, c}
	}
	return s.set.entry(first), s.set.entry(end-1) + 1, c
}

// chosenOf is what is chosen of the entries of a selection.
type chosenOf struct {
	*Selection
	of field.Chosen
}

func (c chosenOf) Next(entry int64) (int64, bool) {
	next, ok := c.of.Next(c.set.rank(entry))
	if !ok || next >= c.set.n {
		return 0, false
	}
	return c.set.entry(next), true
}

func (c chosenOf) Spans(first, end int64) []columnar.Span {
	return c.spansOf(c.of.Spans(c.set.rank(first), c.set.rank(end)))
}

// within returns the spans of n entries in spans, from entry first on.
func within(spans []columnar.Span, first, n int64) (all []columnar.Span) {
	for _, s := range spans {
		if first >= s.N {
			first -= s.N
			continue
		}
		if n == 0 {
			break
		}
		s = columnar.Span{First: s.First + first, N: min(s.N-first, n)}
		all, first, n = append(all, s), 0, n-s.N
	}
	return all
}

func (s *Selection) bind(t reflect.Type, members []field.Member) (plan, error) {
	inner, err := s.src.bind(t, members)
	return &selectedPlan{inner, s}, err
}

func (s *Selection) bindJagged(path string, item reflect.Type) (jaggedPlan, error) {
	inner, err := s.src.bindJagged(path, item)
	return &selectedJagged{inner, s}, err
}

func (s *Selection) bindBatches(paths []string, fresh bool) (batchPlan, error) {
	inner, err := s.src.bindBatches(paths, fresh)
	return &selectedBatches{inner, s}, err
}

// selectedPlan reads the entries of a selection.
type selectedPlan struct {
	plan
	of *Selection
}

func (p *selectedPlan) read(ctx context.Context, memory *field.Memory, first, n int64,
	dst unsafe.Pointer) (int64, error) {
	if n = min(n, p.of.set.n-first); n <= 0 {
		return 0, nil
	}
	return n, p.plan.readSpans(ctx, memory, p.of.spans(first, n), dst)
}

func (p *selectedPlan) readSpans(ctx context.Context, memory *field.Memory, spans []columnar.Span,
	dst unsafe.Pointer) error {
	return p.plan.readSpans(ctx, memory, p.of.spansOf(spans), dst)
}

func (p *selectedPlan) inOrder(first, end int64, c field.Chosen) {
	p.plan.inOrder(p.of.chosen(first, end, c))
}

// selectedJagged reads a collection field of the entries of a selection.
type selectedJagged struct {
	jaggedPlan
	of *Selection
}

func (p *selectedJagged) read(ctx context.Context, first int64, ends []int64,
	items func(lo, hi int64) unsafe.Pointer) (int64, error) {
	n := min(int64(len(ends)), p.of.set.n-first)
	if n <= 0 {
		return 0, nil
	}
	return n, p.jaggedPlan.readSpans(ctx, p.of.spans(first, n), ends[:n], items)
}

func (p *selectedJagged) readSpans(ctx context.Context, spans []columnar.Span, ends []int64,
	items func(lo, hi int64) unsafe.Pointer) error {
	return p.jaggedPlan.readSpans(ctx, p.of.spansOf(spans), ends, items)
}

// selectedBatches reads fields of the entries of a selection into Arrays.
type selectedBatches struct {
	batchPlan
	of *Selection
}

func (p *selectedBatches) read(ctx context.Context, first, n int64) ([]*columnar.Array, int64, error) {
	if n = min(n, p.of.set.n-first); n <= 0 {
		return nil, 0, nil
	}
	return p.batchPlan.readSpans(ctx, p.of.spans(first, n))
}

func (p *selectedBatches) readSpans(ctx context.Context, spans []columnar.Span) ([]*columnar.Array, int64, error) {
	return p.batchPlan.readSpans(ctx, p.of.spansOf(spans))
}

func (p *selectedBatches) inOrder(first, end int64, c field.Chosen) {
	p.batchPlan.inOrder(p.of.chosen(first, end, c))
}
