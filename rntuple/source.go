package rntuple

import (
	"context"
	"errors"
	"reflect"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// A Source is what views read from: a *Reader; a *Chain, which concatenates sources; a *Join, which
// combines their fields; or a *Selection of entries. Sources are safe for concurrent use, but each
// of their views must be used by one goroutine at a time.
type Source interface {
	// bind returns a plan that reads entries into the given members of values of type
	// t. A single member of type t is the value itself. The plans of all methods are
	// valid only if the error is nil.
	bind(t reflect.Type, members []field.Member) (plan, error)
	// bindJagged returns a plan that reads the items of a collection.
	bindJagged(path string, item reflect.Type) (jaggedPlan, error)
	// bindBatches returns a plan that reads the fields at the given paths into Arrays. If
	// fresh is set, it uses no memory twice.
	bindBatches(paths []string, fresh bool) (batchPlan, error)
	// field finds a field as schema.Lookup does.
	field(path string) (*schema.Field, error)
	// names returns the paths of all top-level fields.
	names() []string
	// count returns the number of entries.
	count(ctx context.Context) (int64, error)
	// ranges returns the entries of clusters, in order.
	ranges(ctx context.Context) ([]EntryRange, error)
	// bound returns an upper bound of the number of entries, without reading.
	bound() int64
	context() context.Context
	workers() int
	// far reports whether entries are read from remote files.
	far() bool
}

// FieldNames returns the paths of all top-level fields of a source. In a Join, those of non-primary
// sources are prefixed with the name of the source.
func FieldNames(s Source) []string { return s.names() }

// FieldOf returns the field at a path of a source; see ViewOf for paths. For a Join, it is a field
// of the source named by the path; for a Chain, a field of the first input. The error wraps
// ErrNoField if there is none.
func FieldOf(s Source, path string) (*schema.Field, error) { return s.field(path) }

// ContextOf returns the context of a source: loops over its entries, and its views, return the
// context's error when it is done.
func ContextOf(s Source) context.Context { return s.context() }

// LimitsOf returns the limits that apply to the file that contains an entry of a source; for a
// Join, of its primary source. A Chain opens the input; LimitsOf returns its errors. If there is no
// such file, the result is the defaults.
func LimitsOf(s Source, entry int64) (Limits, error) {
	l := Limits{}.For(0)
	_, err := pieceAt(s.context(), s, entry, func(_ context.Context, r *Reader, _ func(EntryRange) EntryRange) error {
		l = r.Limits()
		return nil
	})
	return l, err
}

// A plan reads entries of a source into Go values of one type. It must be used by one
// goroutine at a time.
type plan interface {
	// read stores the values of at most n entries from first on in the array at dst. It
	// returns their number, which is less than n only at the end of the entries. What
	// the values point to is fresh memory, or part of memory if that is not nil; see
	// field.Plan.ReadWith.
	read(ctx context.Context, memory *field.Memory, first, n int64, dst unsafe.Pointer) (int64, error)
	// readSpans is like read for entries in several spans, which are in order, not empty
	// and must exist.
	readSpans(ctx context.Context, memory *field.Memory, spans []columnar.Span, dst unsafe.Pointer) error
	orderedPlan
}

// An orderedPlan is a plan that can read ahead.
type orderedPlan interface {
	// inOrder announces that the entries from first up to but not including end will be
	// read in order, until stop is called: only those that c chooses if it is not nil.
	inOrder(first, end int64, c field.Chosen)
	stop()
}

// A jaggedPlan reads the items of a collection field. It must be used by one goroutine at
// a time.
type jaggedPlan interface {
	// read reads at most len(ends) entries from first on and returns their number. See
	// field.Jagged for ends and items.
	read(ctx context.Context, first int64, ends []int64, items func(lo, hi int64) unsafe.Pointer) (int64, error)
	// readSpans is like read for entries in several spans, which are in order, not empty
	// and must exist.
	readSpans(ctx context.Context, spans []columnar.Span, ends []int64, items func(lo, hi int64) unsafe.Pointer) error
	stop()
}

func (r *Reader) bind(t reflect.Type, members []field.Member) (plan, error) {
	compiled, err := r.compile(t, members)
	return &readerPlan{compiled, r.NumEntries()}, err
}

func (r *Reader) compile(t reflect.Type, members []field.Member) (*field.Plan, error) {
	if len(members) != 1 || members[0].Type != t {
		return field.CompileMembers(r.ntuple.Source, t, members, r.plans())
	}
	var chain []*schema.Field
	if path := members[0].Name; path != "" {
		var err error
		if chain, err = r.Schema().Lookup(path); errors.Is(err, ErrNoField) && r.ntuple.Options.AllowMissing {
			return field.CompileMembers(r.ntuple.Source, t, members, r.plans())
		} else if err != nil {
			return nil, err
		}
	}
	return field.Compile(r.ntuple.Source, chain, t, r.plans())
}

// Limits returns the limits that apply to the file.
func (r *Reader) Limits() Limits { return Limits(r.ntuple.Options.Limits) }

// plans returns the options of plans for reading.
func (r *Reader) plans() field.Options {
	return field.Options{Budget: r.ntuple.Options.Limits.EntryBytes, AllowMissing: r.ntuple.Options.AllowMissing}
}

func (r *Reader) bindJagged(path string, item reflect.Type) (jaggedPlan, error) {
	chain, err := r.Schema().Lookup(path)
	if err != nil {
		return nil, err
	}
	compiled, err := field.CompileJagged(r.ntuple.Source, chain, item, r.plans())
	return &readerJagged{compiled, r.NumEntries()}, err
}

func (r *Reader) field(path string) (*schema.Field, error) { return fieldsOf{r.Schema()}.field(path) }
func (r *Reader) names() []string                          { return fieldsOf{r.Schema()}.names() }
func (r *Reader) count(context.Context) (int64, error)     { return r.NumEntries(), nil }
func (r *Reader) ranges(ctx context.Context) ([]EntryRange, error) {
	return r.WithContext(ctx).Clusters()
}
func (r *Reader) bound() int64             { return r.NumEntries() }
func (r *Reader) context() context.Context { return r.ctx }
func (r *Reader) workers() int             { return r.ntuple.Source.Workers }
func (r *Reader) far() bool                { return r.ntuple.Source.Far() }

// readerPlan reads from one RNTuple.
type readerPlan struct {
	plan    *field.Plan
	entries int64
}

func (p *readerPlan) read(ctx context.Context, memory *field.Memory, first, n int64,
	dst unsafe.Pointer) (int64, error) {
	if n = min(n, p.entries-first); n <= 0 {
		return 0, nil
	}
	return n, p.plan.ReadWith(ctx, memory, first, n, dst)
}

func (p *readerPlan) readSpans(ctx context.Context, memory *field.Memory, spans []columnar.Span,
	dst unsafe.Pointer) error {
	return p.plan.ReadSpans(ctx, memory, spans, dst)
}

func (p *readerPlan) inOrder(first, end int64, c field.Chosen) {
	p.plan.InOrder(first, end)
	p.plan.Choose(c)
}

func (p *readerPlan) stop() { p.plan.Stop() }

// readerJagged reads a collection field of one RNTuple.
type readerJagged struct {
	plan    *field.Jagged
	entries int64
}

func (p *readerJagged) read(ctx context.Context, first int64, ends []int64,
	items func(lo, hi int64) unsafe.Pointer) (int64, error) {
	n := min(int64(len(ends)), p.entries-first)
	if n <= 0 {
		return 0, nil
	}
	return n, p.plan.Read(ctx, first, n, ends, items)
}

func (p *readerJagged) readSpans(ctx context.Context, spans []columnar.Span, ends []int64,
	items func(lo, hi int64) unsafe.Pointer) error {
	return p.plan.ReadSpans(ctx, spans, ends, items)
}

func (p *readerJagged) stop() { p.plan.Stop() }

var (
	anyType    = reflect.TypeFor[any]()
	recordType = reflect.TypeFor[value.Record]()
)

// records reads entries into values of type value.Record.
type records struct {
	plan  // fills arrays with one dynamic value per name
	names []string
}

// bindRecords returns a plan that reads the fields at the given paths.
func bindRecords(s Source, paths []string) (plan, error) {
	members := make([]field.Member, len(paths))
	for i, path := range paths {
		members[i] = field.Member{Name: path, Type: anyType, Offset: uintptr(i) * anyType.Size()}
	}
	values, err := s.bind(reflect.ArrayOf(len(paths), anyType), members)
	return &records{values, paths}, err
}

// recordBatch is the number of records that share an array.
const recordBatch = 1 << 12

func (p *records) read(ctx context.Context, memory *field.Memory, first, n int64, dst unsafe.Pointer) (int64, error) {
	return p.fill(n, dst, func(done, want int64, values unsafe.Pointer) (int64, error) {
		return p.plan.read(ctx, memory, first+done, want, values)
	})
}

func (p *records) readSpans(ctx context.Context, memory *field.Memory, spans []columnar.Span,
	dst unsafe.Pointer) error {
	_, err := p.fill(columnar.Sum(spans), dst, func(done, want int64, values unsafe.Pointer) (int64, error) {
		return want, p.plan.readSpans(ctx, memory, within(spans, done, want), values)
	})
	return err
}

// fill makes n records of the values that read reads, a batch at a time.
func (p *records) fill(n int64, dst unsafe.Pointer,
	read func(done, want int64, values unsafe.Pointer) (int64, error)) (int64, error) {
	all := unsafe.Slice((*value.Record)(dst), n)
	for done := int64(0); done < n; {
		want, k := min(n-done, recordBatch), int64(len(p.names))
		values := make([]any, want*k)
		got, err := read(done, want, unsafe.Pointer(unsafe.SliceData(values)))
		if err != nil {
			return done, err
		}
		for i := range got {
			all[done+i] = value.Record{Names: p.names, Values: values[i*k : (i+1)*k : (i+1)*k]}
		}
		if done += got; got < want {
			return done, nil
		}
	}
	return n, nil
}
