package field

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Batches is a plan that reads fields into Arrays, column by column. It serves one
// goroutine at a time.
type Batches struct {
	*Plan
	nodes  []batchNode
	arrays []*columnar.Array
	fresh  bool

	taken   []*columnar.Array // of the last ReadSpans, if it has left entries out
	wanted  []columnar.Span
	scratch columnar.Budget
}

// A batchNode reads the values of a field into an Array.
type batchNode interface {
	// array returns the Array.
	array() *columnar.Array
	// read appends the items from first on, n of them, which is not 0. Items are
	// counted in the run's cluster.
	read(r *run, first, n int64) error
}

// CompileBatches makes the plan that reads the last fields of chains, paths as
// schema.Lookup returns them. If fresh is set, it uses no memory twice.
func CompileBatches(src *pagesource.Source, chains [][]*schema.Field, fresh bool, opts Options) (*Batches, error) {
	c := &batchCompiler{compiler: newCompiler(src, opts), offsets: map[string]*offsets{},
		leaves: map[string]*columnar.Array{}, byIndex: map[*index]*offsets{}, fresh: fresh}
	b := &Batches{fresh: fresh}
	for _, chain := range chains {
		if n := c.path(chain, "0"); n != nil {
			b.nodes, b.arrays = append(b.nodes, n), append(b.arrays, n.array())
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	c.varying = false // Read chooses the entries
	plan, err := c.plan(nil, anyType)
	b.Plan = plan
	return b, err
}

// Arrays returns an Array for each of the fields.
func (b *Batches) Arrays() []*columnar.Array { return b.arrays }

// errFull ends a batch.
var errFull = errors.New("the batch is full")

// Read reads a batch of at most n entries, from first on, which must exist. It returns how
// many it has: fewer than n at the end of a cluster, or if they would need more memory than an
// entry may. The Arrays are valid until the next call unless b's memory is fresh.
func (b *Batches) Read(ctx context.Context, first, n int64) (arrays []*columnar.Array, got int64, err error) {
	cluster, err := b.src.Find(ctx, first)
	if err != nil {
		return nil, 0, err
	}
	err = b.each(ctx, nil, first, min(n, cluster.End-first), func(r *run, at, item, m int64) error {
		if at > first {
			return errFull
		}
		for _, a := range b.arrays {
			a.Clear(b.fresh)
		}
		for _, node := range b.nodes {
			if err := node.read(r, item, m); err != nil {
				return err
			}
		}
		if got = m; r.Left > b.budget/2 {
			b.batch = max(b.batch, min(b.batch, math.MaxInt64/2)*2)
		}
		return nil
	})
	if err != nil && err != errFull {
		return nil, 0, err
	}
	arrays = b.arrays
	if b.fresh {
		arrays = make([]*columnar.Array, len(b.arrays))
		for i, a := range b.arrays {
			arrays[i] = a.Snapshot()
		}
	}
	return arrays, got, nil
}

// A batchCompiler makes the nodes of Batches.
//
// Fields that are stored in the same columns share an Array's memory, which is filled once. For
// this, each item belongs to a domain, a string that tells which items there are: those of
// entries, or of the collections in the items of a domain that a column is the index of.
type batchCompiler struct {
	*compiler
	offsets map[string]*offsets
	leaves  map[string]*columnar.Array
	byIndex map[*index]*offsets
	fresh   bool
}

// alone is the domain of items that are read in several steps, or elsewhere first: their
// memory is not shared.
const alone = ""

// key returns the key under which the index-th column of f is shared.
func key(domain string, f *schema.Field, index int) string {
	return fmt.Sprintf("%s/%d", domain, f.Columns[0][index].ID)
}

// path compiles the way from chain[0] to the last field of chain. Records in between are
// left out.
func (c *batchCompiler) path(chain []*schema.Field, domain string) batchNode {
	f, rest := chain[0], chain[1:]
	if len(rest) == 0 {
		return c.value(f, domain)
	}
	switch f.Shape {
	case schema.Record, schema.Wrapper:
		return c.path(rest, domain)
	case schema.Collection, schema.Optional, schema.Array:
		return c.nested(f, domain, func(domain string) batchNode { return c.path(rest, domain) })
	}
	c.fail(fmt.Errorf("field %q: paths do not lead through a %v", rest[0].Path(), f.Shape))
	return nil
}

// value compiles reading the items of f.
func (c *batchCompiler) value(f *schema.Field, domain string) batchNode {
	a := c.newArray(f)
	switch f.Shape {
	case schema.Wrapper:
		inner := c.value(f.Children[0], domain)
		if inner != nil {
			inner.array().Name, inner.array().Field = f.Name, f
		}
		return inner
	case schema.Scalar:
		return scalars[f.ElementKind()].batch(c, f, a, domain)
	case schema.Bitset:
		return scalarOf[bool]{}.batch(c, f, a, domain)
	case schema.Cardinality:
		columnar.SetValues(a, []uint64(nil))
		return &sizesNode{arrayNode: arrayNode{a}, index: c.indexOf(f, domain), max: largestSize(f), fresh: c.fresh}
	case schema.String:
		return bytesOf[int8](c, f, a, domain) // characters are signed
	case schema.Streamer:
		return bytesOf[uint8](c, f, a, domain)
	case schema.Record:
		n := &recordNode{arrayNode: arrayNode{a}}
		for _, child := range f.Children {
			if m := c.value(child, domain); m != nil {
				n.members, a.Children = append(n.members, m), append(a.Children, m.array())
			}
		}
		return n
	case schema.Variant:
		n := &variantNode{arrayNode: arrayNode{a}, path: f.Path(),
			tags: leaf[column.Tagged]{column: open[column.Tagged](c.compiler, f, 0)}}
		for _, child := range f.Children {
			if alternative := c.value(child, alone); alternative != nil {
				n.alternatives, a.Children = append(n.alternatives, alternative), append(a.Children, alternative.array())
			}
		}
		return n
	}
	return c.nested(f, domain, func(domain string) batchNode { return c.value(f.Children[0], domain) })
}

// nested compiles a field whose items hold items of another one, which item compiles.
func (c *batchCompiler) nested(f *schema.Field, domain string, item func(domain string) batchNode) batchNode {
	a := c.newArray(f)
	below := alone // the domain of the items
	var index indexOf
	switch {
	case f.Shape == schema.Optional && !f.IsDense():
		index = c.indexOf(f, alone)
	case f.Shape == schema.Collection:
		index = c.indexOf(f, domain) // before the items, as it is read before them
		if domain != alone {
			below = key(domain, f, 0)
		}
	case f.Shape == schema.Array && domain != alone:
		below = fmt.Sprintf("%s*%d", domain, f.ArraySize)
	}
	inner := item(below)
	if inner == nil {
		return nil
	}
	a.Children = []*columnar.Array{inner.array()}
	switch {
	case f.Shape == schema.Array:
		return &fixedNode{arrayNode{a}, inner, f.Path()}
	case f.IsDense():
		return &denseNode{arrayNode{a}, open[bool](c.compiler, f, 0), inner}
	case f.Shape == schema.Optional:
		a.Children[0] = columnar.Like(inner.array())
		return &optionalNode{arrayNode: arrayNode{a}, index: index, item: inner}
	}
	return &listNode{arrayNode{a}, index, inner}
}

func (c *batchCompiler) newArray(f *schema.Field) *columnar.Array {
	a := &columnar.Array{Name: f.Name, Field: f, Shape: f.Shape}
	if f.Shape == schema.Array || f.Shape == schema.Bitset {
		if a.Size = int(f.ArraySize); f.ArraySize > math.MaxInt {
			c.fail(frame.Unsupported("field %q has %d items", f.Path(), f.ArraySize))
		}
	}
	return a
}
