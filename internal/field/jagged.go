package field

import (
	"context"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Jagged reads the items of one collection field as one array, with the
// bounds of entries. It serves one goroutine at a time.
type Jagged struct {
	plan *Plan
	root *collection
}

// CompileJagged makes the plan that reads the last field of chain into items of
// type t. Exactly one field of chain must be a collection.
func CompileJagged(src *pagesource.Source, chain []*schema.Field, t reflect.Type, opts Options) (*Jagged, error) {
	c := newCompiler(src, opts)
	for i, f := range chain {
		switch f.Shape {
		case schema.Record, schema.Wrapper:
			if i < len(chain)-1 {
				continue
			}
		case schema.Collection, schema.Optional:
			below := chain[i+1:]
			if len(below) == 0 {
				below = f.Children
			}
			root := collection{index: c.index(f), typ: t, size: t.Size(), single: f.Shape == schema.Optional}
			root.column.KeepPages()
			c.varying = false // the items go to memory of the caller's
			root.elem = c.path(below, t)
			plan, err := c.plan(&root, t)
			return &Jagged{plan, &root}, err
		}
		break
	}
	last := chain[len(chain)-1]
	return nil, fmt.Errorf("field %q of type %s is no collection", last.Path(), last.CppType())
}

// Stop ends reading ahead.
func (j *Jagged) Stop() { j.plan.Stop() }

// Read reads n entries, from first on. It sets each element of ends to the number of
// items up to the end of that entry, and stores the items from lo to hi in the memory
// that items returns for them.
func (j *Jagged) Read(ctx context.Context, first, n int64, ends []int64,
	items func(lo, hi int64) unsafe.Pointer) error {
	var total int64 // items so far
	return j.plan.each(ctx, nil, first, n, func(r *run, at, item, m int64) error {
		some := ends[at-first:][:m]
		batch := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(some))), m)
		origin := uint64(total)
		begin, err := j.root.ends(r, item, batch, &origin)
		if err != nil {
			return err
		}
		if err := j.root.check(r, item, origin, batch); err != nil {
			return err
		}
		more := int64(batch[m-1]) - total
		if err := r.Alloc(more, j.root.size); err != nil {
			return err
		}
		if more > 0 {
			if err := j.root.elem.read(r, int64(begin), more, items(total, total+more), j.root.size); err != nil {
				return err
			}
		}
		total += more
		return nil
	})
}
