// Package compare tells in what two RNTuples differ: in their schemas, in the
// values of their entries, with tolerances, and in how they are stored.
//
// Entries are compared by number and fields by name, whatever clusters, encodings
// and compression there are. Memory does not depend on the number of entries.
package compare

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// An Option changes how values are compared.
type Option func(*settings)

type settings struct {
	tolerance
	fields   map[string]tolerance
	progress func(done, total int64)
}

// A tolerance says which floats count as equal.
type tolerance struct{ abs, rel float64 }

// allows reports whether x and y count as equal.
func (t tolerance) allows(x, y float64) bool {
	if x == y || x != x && y != y {
		return true
	}
	d := math.Abs(x - y) // infinite or NaN if one of them is
	return d <= t.abs || d <= t.rel*max(math.Abs(x), math.Abs(y)) && !math.IsInf(d, 0)
}

// Tolerance has floats count as equal that differ by abs at most, or by the part
// rel of the one that is further from zero. Default: 0, 0. NaNs are always equal
// to each other, and so are 0 and -0. Integers have no tolerance.
func Tolerance(abs, rel float64) Option {
	return func(s *settings) { s.tolerance = tolerance{abs, rel} }
}

// FieldTolerance sets the tolerance of a field and all below it; the most exact
// path counts. The path is as for rntuple.ViewOf.
func FieldTolerance(path string, abs, rel float64) Option {
	return func(s *settings) { s.fields[path] = tolerance{abs, rel} }
}

// Progress has a function told how many entries of how many fields are done. Calls
// do not overlap, but may come from several goroutines.
func Progress(f func(done, total int64)) Option { return func(s *settings) { s.progress = f } }

// A Result is what Values has found.
type Result struct {
	Entries [2]int64 // of the two; the first ones, as many as both have, are compared
	Schema  []Difference
	Fields  []Field // with values that differ, also within the tolerance; in the order of the first RNTuple
	// Identical counts the pages whose bytes are the same in both, so that they did
	// not have to be decoded.
	Identical int64
}

// Equal reports whether no difference has been found, but for those within the
// tolerance.
func (r *Result) Equal() bool {
	return r.Entries[0] == r.Entries[1] && len(r.Schema) == 0 &&
		!slices.ContainsFunc(r.Fields, func(f Field) bool { return f.Entries > 0 })
}

// A Field tells in what the values of a field differ. For a collection that is
// the number of items, for optional and variant which value there is; what their
// items and values are is told of the fields below, where both have them.
type Field struct {
	Path    string
	Entries int64 // that differ
	First   int64 // of these; -1 if there is none
	Values  int64 // that differ; an entry may have several
	// MaxAbs and MaxRel are the largest differences of numbers, also of those within
	// the tolerance: |a-b|, and |a-b|/max(|a|,|b|). They are +Inf if one of the two
	// is NaN or infinite.
	MaxAbs, MaxRel float64
}

// Values compares the schemas and the values of two RNTuples. Fields are compared
// as far as they have the same structure; numbers of different types are compared
// by value. The items of unordered sets and maps have no order.
//
// An error is one of reading. It uses as many goroutines as there are processors.
func Values(ctx context.Context, a, b *rntuple.Reader, opts ...Option) (*Result, error) {
	set := &settings{fields: map[string]tolerance{}}
	for _, opt := range opts {
		opt(set)
	}
	for path := range set.fields {
		if _, err := a.Schema().Lookup(path); err != nil {
			return nil, err
		}
	}
	c := &comparison{settings: set, a: a.WithContext(ctx), b: b.WithContext(ctx)}
	result := &Result{Entries: [2]int64{a.NumEntries(), b.NumEntries()}, Schema: Schemas(a.Schema(), b.Schema())}
	c.entries = min(result.Entries[0], result.Entries[1])
	pairs := c.pair(nil, a.Schema().Fields, b.Schema().Fields)
	if err := c.all(ctx, pairs); err != nil {
		return nil, err
	}
	for _, p := range pairs {
		p.collect(&result.Fields)
	}
	result.Identical = c.identical.Load()
	return result, nil
}

// A comparison compares the values of two RNTuples.
type comparison struct {
	*settings
	a, b      *rntuple.Reader
	entries   int64 // to compare
	identical atomic.Int64

	mu          sync.Mutex // for progress
	done, total int64
}

// all compares the values of top-level fields.
func (c *comparison) all(ctx context.Context, pairs []*pair) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c.total = c.entries * int64(len(pairs))
	next := make(chan *pair)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(pairs)) {
		workers.Go(func() {
			for p := range next {
				if err := c.field(ctx, p); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, p := range pairs {
		next <- p
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}

// field compares the values of a top-level field, cluster by cluster.
func (c *comparison) field(ctx context.Context, p *pair) error {
	a, b := clustersOf(c.a), clustersOf(c.b)
	var values comparer
	for first := int64(0); first < c.entries; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		x, err := a.find(ctx, first)
		if err != nil {
			return err
		}
		y, err := b.find(ctx, first)
		if err != nil {
			return err
		}
		end := min(x.End, y.End, c.entries)
		same := int64(0)
		if x.First == y.First && x.End == y.End {
			same = sameBytes(a, b, x, y, p)
			c.identical.Add(same)
		}
		if same == 0 {
			if values == nil {
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

// advance tells that so many entries of a field are done.
func (c *comparison) advance(n int64) {
	if c.progress == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done += n
	c.progress(c.done, c.total)
}

// tolerance returns that of the field at path.
func (c *comparison) toleranceOf(p *pair) tolerance {
	longest, t := -1, c.tolerance
	for path, of := range c.fields {
		chain, _ := c.a.Schema().Lookup(path)
		full := chain[len(chain)-1].Path()
		if at := p.a.Path(); (at == full || strings.HasPrefix(at, full+".")) && len(full) > longest {
			longest, t = len(full), of
		}
	}
	return t
}
