package rntbeam

import (
	"context"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
	"github.com/go-rntuple/go-rntuple/rntuple/workunits"
)

// ReadOptions configures what is read. The zero value selects all entries.
type ReadOptions struct {
	// Name is the name of the RNTuple, or tree, in each file; see rntuple.Open.
	Name string
	// Fields are the paths of the fields of records and batches; those of structs are given by
	// their tags. Default: all top-level fields.
	Fields []string
	// Where is a condition that entries must satisfy, in the language of package expression. The
	// fields that it needs are read first; of others, only pages with matching entries.
	Where string
	// Numbered reads a collection of KV<int64,T>, whose keys are ordered like the entries of the
	// data set: for ReadPlan, the key is the number of the entry in all files; for Read, it is the
	// number in the file plus 2^40 times the number of the file. Use it with WriteOrdered.
	Numbered bool
	// SplitBytes is the initial size of the parts of files, in bytes of the columns that are read.
	// Runners with dynamic splitting can further split the parts of slow workers. Default: 64 MiB.
	SplitBytes int64
	// BlockBytes is the size up to which clusters are combined into one block to be read as a unit.
	// Default: 1 MiB.
	BlockBytes int64
	// Format is the name of a registered format, see RegisterFormat. Default: RNTuple.
	Format string
}

// Read reads the files that match a path/filepath.Match pattern, or the file at a URL, as a
// collection of T: a struct as for rntuple.Entries, value.Record, or Batch. Like beam.ParDo, it
// panics if T is not registered or an option is invalid.
func Read[T any](s beam.Scope, pattern string, o *ReadOptions) beam.PCollection {
	if o == nil {
		o = new(ReadOptions)
	}
	s = s.Scope("rntbeam.Read")
	return read[T](s, beam.ParDo(s, &expandFn{Numbered: true}, beam.Create(s, pattern)), *o)
}

// ReadAll is like Read, for a collection of patterns and URLs, of type string. The entries cannot
// be numbered.
func ReadAll[T any](s beam.Scope, patterns beam.PCollection, o *ReadOptions) beam.PCollection {
	if o == nil {
		o = new(ReadOptions)
	}
	if o.Numbered {
		panic("rntbeam.ReadAll: the files of a collection have no order, so that entries cannot be numbered")
	}
	s = s.Scope("rntbeam.ReadAll")
	return read[T](s, beam.ParDo(s, &expandFn{}, patterns), *o)
}

// ReadPlan is like Read, for the files of a plan. The name of the RNTuples is that in the plan. A
// file that has changed since planning is an error that wraps workunits.ErrChanged.
func ReadPlan[T any](s beam.Scope, plan *workunits.Plan, options *ReadOptions) beam.PCollection {
	var o ReadOptions
	if options != nil {
		o = *options
	}
	if o.Format != "" {
		panic("rntbeam.ReadPlan: plans are of RNTuples, and not of the format " + o.Format)
	}
	s = s.Scope("rntbeam.ReadPlan")
	o.Name = plan.Name
	firsts := make([]int64, len(plan.Files))
	for i := range len(plan.Files) - 1 {
		firsts[i+1] = firsts[i] + plan.Files[i].Entries
	}
	var inputs []any
	for _, u := range plan.Units {
		for _, part := range u.Parts {
			f := plan.Files[part.File]
			inputs = append(inputs, Input{f.Path, firsts[part.File], &part, &f})
		}
	}
	if len(inputs) == 0 {
		return read[T](s, beam.CreateList(s, []Input{}), o)
	}
	return read[T](s, beam.Create(s, inputs...), o)
}

func read[T any](s beam.Scope, inputs beam.PCollection, o ReadOptions) beam.PCollection {
	mustBeRegistered[T]()
	if _, err := expression.Parse(o.Where); o.Where != "" && err != nil {
		panic(fmt.Errorf("rntbeam: condition: %w", err))
	}
	if _, ok := formats[o.Format]; o.Format != "" && !ok {
		panic(fmt.Sprintf("rntbeam: format %q: import the package that registers it", o.Format))
	}
	if len(o.Fields) > 0 && isEntry(reflect.TypeFor[T]()) {
		panic(fmt.Sprintf("rntbeam: ReadOptions.Fields is for records and batches; the fields of %v are those that are read",
			reflect.TypeFor[T]()))
	}
	if o.SplitBytes <= 0 {
		o.SplitBytes = 64 << 20
	}
	if o.BlockBytes <= 0 {
		o.BlockBytes = 1 << 20
	}
	inputs = beam.Reshuffle(s, inputs) // so that several workers read metadata
	source := source[T]{Options: o}
	if o.Numbered {
		return beam.ParDo(s, &numberedFn[T]{source}, inputs)
	}
	return beam.ParDo(s, &readFn[T]{source}, inputs)
}

// expandFn makes inputs of patterns.
type expandFn struct {
	Numbered bool // there is one pattern
}

func (f *expandFn) ProcessElement(pattern string, emit func(Input)) error {
	paths, err := expand(pattern)
	for i, path := range paths {
		in := Input{Path: path}
		if f.Numbered {
			in.First = int64(i) << 40
		}
		emit(in)
	}
	return err
}

// A source has the methods of a splittable DoFn but for ProcessElement.
type source[T any] struct {
	Options ReadOptions
}

// A readFn reads files.
type readFn[T any] struct{ source[T] }

func (f *readFn[T]) ProcessElement(ctx context.Context, rt *sdf.LockRTracker, in Input, emit func(T)) error {
	return f.process(ctx, rt, in, func(_ int64, v T) { emit(v) })
}

// A numberedFn reads files and numbers the entries.
type numberedFn[T any] struct{ source[T] }

func (f *numberedFn[T]) ProcessElement(ctx context.Context, rt *sdf.LockRTracker, in Input, emit func(int64, T)) error {
	return f.process(ctx, rt, in, emit)
}

// CreateInitialRestriction reads the metadata of a file.
func (f *source[T]) CreateInitialRestriction(ctx context.Context, in Input) (r Restriction, err error) {
	err = f.with(ctx, in, func(file reading) error {
		now, clusters, err := file.clusters(ctx)
		if err == nil {
			r, err = restrict(in, now, clusters, f.Options.BlockBytes)
		}
		return err
	})
	return r, err
}

// with opens a file. All errors name it.
func (f *source[T]) with(ctx context.Context, in Input, use func(reading) error) error {
	file, err := f.Options.open(ctx, in.Path, reflect.TypeFor[T]())
	if err == nil {
		err = use(file)
		file.Close()
	}
	return failed("reading", in.Path, err)
}

// SplitRestriction cuts a file into parts of about the same cost.
func (f *source[T]) SplitRestriction(_ Input, r Restriction) (parts []Restriction) {
	first := 0
	for i := range r.Ends {
		if cost := r.cost(first, i+1); cost >= f.Options.SplitBytes && r.cost(i+1, len(r.Ends)) >= f.Options.SplitBytes/4 {
			parts = append(parts, r.part(first, i+1))
			first = i + 1
		}
	}
	if first < len(r.Ends) {
		parts = append(parts, r.part(first, len(r.Ends)))
	}
	return parts
}

// RestrictionSize returns the bytes of the wanted columns.
func (f *source[T]) RestrictionSize(_ Input, r Restriction) float64 {
	return float64(r.cost(0, len(r.Ends)))
}

// CreateTracker returns the tracker of a restriction.
func (f *source[T]) CreateTracker(r Restriction) *sdf.LockRTracker {
	return sdf.NewLockRTracker(&tracker{rest: r})
}

// process reads the blocks that it can claim.
func (f *source[T]) process(ctx context.Context, rt *sdf.LockRTracker, in Input, emit func(int64, T)) error {
	r := rt.GetRestriction().(Restriction)
	return f.with(ctx, in, func(file reading) error {
		if err := file.check(r.File); err != nil {
			return err
		}
		parts.Inc(ctx, 1)
		if r.First == 0 {
			files.Inc(ctx, 1)
		}
		for block := 0; rt.TryClaim(block); block++ {
			e := r.bounds(block)
			n, err := f.block(ctx, file, in, r.File, e, emit)
			if err != nil {
				return err
			}
			entriesRead.Inc(ctx, n)
			bytesRead.Inc(ctx, r.Costs[block])
			blockEntries.Update(ctx, e.Len())
		}
		return nil
	})
}

// block emits the entries of a block, and returns their number.
func (f *source[T]) block(ctx context.Context, file reading, in Input, known workunits.File, e rntuple.EntryRange,
	emit func(int64, T)) (n int64, err error) {
	if reflect.TypeFor[T]() == reflect.TypeFor[Batch]() {
		emit(in.First+e.First, any(Batch{Options: f.Options, File: known, Entries: e}).(T))
		return e.Len(), nil
	}
	err = f.Options.in(ctx, file, e, func(s rntuple.Source, first, end int64) error {
		chosen, _ := s.(*rntuple.Selection)
		for v, err := range values[T](s, f.Options.Fields, first, end) {
			if err != nil {
				return err
			}
			at := n
			if chosen != nil {
				at = chosen.Entry(n) // of the block
			}
			emit(in.First+e.First+at, *v)
			n++
		}
		return nil
	})
	return n, err
}
