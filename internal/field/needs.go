package field

import (
	"math"

	"github.com/go-rntuple/go-rntuple/internal/convert"
	"github.com/go-rntuple/go-rntuple/schema"
)

// EntryBytes estimates the memory in bytes that an entry with the given top-level fields
// needs besides the value.Record that it is read into. It takes the largest collections
// that were written, as if they were all in one entry, so it may be too high.
func (o *Outlets) EntryBytes(fields []*schema.Field) int64 {
	sum := 0.0
	for _, f := range fields {
		sum += anyBytes + o.bytes(f, 1)
	}
	return int64(min(sum, math.MaxInt64/2))
}

// Merge makes EntryBytes regard what was written to a fork.
func (o *Outlets) Merge(fork *Outlets) {
	for id, most := range fork.most {
		m := numberOf(o.most, id)
		*m = max(*m, *most)
	}
}

// The sizes in bytes of what dynamic values consist of, on 64-bit systems.
const (
	anyBytes     = 16
	countBytes   = 8
	sliceBytes   = 24
	recordBytes  = 2 * sliceBytes
	variantBytes = 40
)

// bytes estimates the memory that n values of f need besides the anys that hold them.
func (o *Outlets) bytes(f *schema.Field, n float64) float64 {
	switch f.Shape {
	case schema.Scalar:
		return n * float64(convert.Type(f.ElementKind()).Size())
	case schema.String, schema.Streamer:
		return n*sliceBytes + o.itemsOf(f, n, f.Columns[0][1])
	case schema.Bitset:
		return n * (sliceBytes + float64(f.ArraySize))
	case schema.Wrapper:
		return o.bytes(f.Children[0], n)
	case schema.Array:
		items := n * float64(f.ArraySize)
		return n*sliceBytes + items*anyBytes + o.bytes(f.Children[0], items)
	case schema.Collection:
		child := f.Children[0]
		items := o.itemsOf(f, n, firstColumn(child))
		if f.IsMap() {
			pair := child.Children
			return n*sliceBytes + items*2*anyBytes + o.bytes(pair[0], items) + o.bytes(pair[1], items)
		}
		return n*sliceBytes + items*anyBytes + o.bytes(child, items)
	case schema.Optional:
		items := o.itemsOf(f, n, firstColumn(f.Children[0]))
		return items*anyBytes + o.bytes(f.Children[0], items)
	case schema.Record, schema.Variant:
		sum := n * recordBytes
		if f.Shape == schema.Variant {
			sum = n * variantBytes
		}
		for _, child := range f.Children {
			sum += n*anyBytes + o.bytes(child, n)
		}
		return sum
	}
	return n * countBytes // schema.Cardinality
}

// firstColumn returns the column that has an element for each value of f, or nil.
func firstColumn(f *schema.Field) *schema.Column {
	if len(f.Columns) == 0 {
		return nil
	}
	return f.Columns[0][0]
}

// itemsOf returns how many items n values of f have at most: no more than the column of the
// items, if it is known, has elements.
func (o *Outlets) itemsOf(f *schema.Field, n float64, counted *schema.Column) float64 {
	items := n * float64(*o.mostItems(f))
	if counted != nil {
		items = min(items, float64(o.sink.Elements(counted)))
	}
	return items
}
