package compare

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-rntuple/go-rntuple/internal/parallel"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// Options configures how RNTuples are compared. The zero value and a nil pointer select the
// defaults. See rntuple.ViewOf for paths.
type Options struct {
	// Tolerance is the tolerance for floats. NaNs are always equal to each other, and so are 0 and
	// -0. Integers have no tolerance.
	Tolerance Tolerance

	// Fields maps paths to the tolerances of fields and their subfields; the longest matching path
	// takes precedence.
	Fields map[string]Tolerance

	// Only limits the comparison to the fields with the given full paths and their subfields.
	// Default: all fields, and properties of the RNTuple itself, such as its description.
	Only []string

	// Progress, if set, is called with the number of entries compared so far, summed over all
	// top-level fields, and their total. Calls do not overlap, but may be made by several
	// goroutines.
	Progress func(done, total int64)
}

// A Tolerance is the maximum difference of two equal floats: Abs, or Rel times the larger
// magnitude.
type Tolerance struct{ Abs, Rel float64 }

// check returns a copy of the options if they can be honoured.
func (o *Options) check() (*Options, error) {
	c := *cmp.Or(o, new(Options))
	if err := c.Tolerance.check("Tolerance"); err != nil {
		return nil, err
	}
	for path, t := range c.Fields {
		if err := t.check(fmt.Sprintf("Fields[%q]", path)); err != nil {
			return nil, err
		}
	}
	return &c, nil
}

// covers reports whether the field at path is to be compared.
func (c *Options) covers(path string) bool {
	return c.Only == nil || slices.ContainsFunc(c.Only, func(o string) bool { return isWithin(path, o) })
}

// touches reports whether the field at path, or one below it, is to be compared.
func (c *Options) touches(path string) bool {
	return c.covers(path) || slices.ContainsFunc(c.Only, func(o string) bool { return isWithin(o, path) })
}

// uncovered reports whether a difference is not to be reported.
func (c *Options) uncovered(d Difference) bool { return !c.covers(d.Path) }

// isWithin reports whether the field at path is the one at above or below it.
func isWithin(path, above string) bool { return path == above || strings.HasPrefix(path, above+".") }

// check returns the error of the named option if the tolerance is not one.
func (t Tolerance) check(option string) error {
	if t.Abs >= 0 && t.Rel >= 0 {
		return nil
	}
	return fmt.Errorf("%s: %g absolute, %g relative; they must not be negative", option, t.Abs, t.Rel)
}

// allows reports whether x and y count as equal.
func (t Tolerance) allows(x, y float64) bool {
	if x == y || x != x && y != y {
		return true
	}
	d := math.Abs(x - y) // infinite or NaN if one of them is
	return d <= t.Abs || d <= t.Rel*max(math.Abs(x), math.Abs(y)) && !math.IsInf(d, 0)
}

// A Result is the result of Values.
type Result struct {
	Entries [2]int64 // numbers of entries of a and b; only entries in both are compared
	Schema  []Difference
	Fields  []Field // fields with differences, even within the tolerance, in the order of a
	// Uncompared lists the paths of fields in both RNTuples whose values cannot be compared, such
	// as a record and a tuple. Schema contains the reason.
	Uncompared []string
	// Identical is the number of pages that were not decoded because their bytes are identical in
	// both.
	Identical int64
}

// Equal reports whether there are no differences beyond the tolerance.
func (r *Result) Equal() bool {
	return r.Entries[0] == r.Entries[1] && len(r.Schema) == 0 &&
		!slices.ContainsFunc(r.Fields, func(f Field) bool { return f.Entries > 0 })
}

// A Field counts the differing values of a field. The value of a collection is its number of items;
// that of an optional is whether it has a value, and that of a variant is its alternative. Items
// and alternatives are values of the subfields, and are compared where both RNTuples have them.
type Field struct {
	Path    string
	Entries int64 // entries that differ
	First   int64 // the first entry that differs; -1 if there is none
	Values  int64 // values that differ; an entry may have several
	// MaxAbs and MaxRel are the maximum differences of numbers, including those within the
	// tolerance: |a-b|, and |a-b|/max(|a|,|b|). They are +Inf if one of two unequal numbers is NaN
	// or infinite.
	MaxAbs, MaxRel float64
}

// Values compares the schemas and the values of two RNTuples. Fields are compared as far as they
// have the same structure, and numbers of different types by value. The order of items in unordered
// sets and maps is ignored.
//
// Errors are those of reading, of options, and of ctx. Fields in the options must exist in a.
// Values uses runtime.GOMAXPROCS(0) goroutines.
func Values(ctx context.Context, a, b *rntuple.Reader, o *Options) (*Result, error) {
	options, err := o.check()
	if err != nil {
		return nil, err
	}
	for path := range options.Fields {
		if _, err := a.Schema().Lookup(path); err != nil {
			return nil, err
		}
	}
	differences := slices.DeleteFunc(Schemas(a.Schema(), b.Schema()), options.uncovered)
	c := &comparison{Options: options, a: a.WithContext(ctx), b: b.WithContext(ctx)}
	result := &Result{Entries: [2]int64{a.NumEntries(), b.NumEntries()}, Schema: differences}
	c.entries = min(result.Entries[0], result.Entries[1])
	pairs := slices.DeleteFunc(c.pair(nil, a.Schema().Fields, b.Schema().Fields),
		func(p *pair) bool { return !options.touches(p.a.Path()) })
	if err := c.all(ctx, pairs); err != nil {
		return nil, err
	}
	for _, p := range pairs {
		p.collect(&result.Fields)
	}
	result.Fields = slices.DeleteFunc(result.Fields, func(f Field) bool { return !options.covers(f.Path) })
	result.Uncompared = slices.DeleteFunc(c.uncompared, func(path string) bool { return !options.covers(path) })
	result.Identical = c.identical.Load()
	return result, nil
}

// A comparison compares the values of two RNTuples.
type comparison struct {
	*Options
	a, b      *rntuple.Reader
	entries   int64 // to compare
	identical atomic.Int64

	uncompared []string

	mu          sync.Mutex // for progress
	done, total int64
}

// all compares the values of top-level fields.
func (c *comparison) all(ctx context.Context, pairs []*pair) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c.total = c.entries * int64(len(pairs))
	a, b, err := both(c.a, c.b, func(r *rntuple.Reader) (stored, error) { return storedOf(ctx, r) })
	if err != nil {
		return err
	}
	err = parallel.Do(runtime.GOMAXPROCS(0), len(pairs), func(i int) error {
		err := c.field(ctx, a, b, pairs[i])
		if err != nil {
			cancel(err) // ends the calls under way, which return the same error
		}
		return err
	})
	return cmp.Or(err, context.Cause(ctx))
}

// field compares the values of a top-level field, cluster by cluster.
func (c *comparison) field(ctx context.Context, a, b stored, p *pair) error {
	var values comparer
	for first := int64(0); first < c.entries; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		x, y := a.find(first), b.find(first)
		end := min(x.End, y.End, c.entries)
		same := int64(0)
		if x.First == y.First && x.End == y.End {
			same = sameBytes(ctx, &a, &b, x, y, p)
			c.identical.Add(same)
		}
		if same == 0 {
			if values == nil {
				var err error
				if values, err = c.comparer(p); err != nil {
					return err
				}
			}
			if err := values.compare(first, end-first); err != nil {
				return fmt.Errorf("field %q: %w", p.a.Path(), err)
			}
		}
		c.advance(end - first)
		first = end
	}
	return nil
}

// advance reports that n more entries of a field have been compared.
func (c *comparison) advance(n int64) {
	if c.Progress == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done += n
	c.Progress(c.done, c.total)
}

// toleranceOf returns the tolerance for the fields of a pair.
func (c *comparison) toleranceOf(p *pair) Tolerance {
	longest, t := -1, c.Tolerance
	for path, of := range c.Fields {
		chain, _ := c.a.Schema().Lookup(path)
		full := chain[len(chain)-1].Path()
		if isWithin(p.a.Path(), full) && len(full) > longest {
			longest, t = len(full), of
		}
	}
	return t
}
