package zone

import (
	"encoding/binary"
	"math"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/bounds"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Version is the version of the convention that this package reads and writes.
const Version = 1

// description is that of the RNTuple that stores the set.
const description = "Zone map: bounds of values by cluster and field, version 1 of the convention of go-rntuple"

// A Record is the attribute of a cluster and a field.
type Record struct {
	Version       uint16  `rntuple:"version"`
	Field         string  `rntuple:"field"` // its path
	Kind          string  `rntuple:"kind"`  // a zonemap.Kind
	Places        uint64  `rntuple:"places"`
	Empty         bool    `rntuple:"empty"`
	NaN           bool    `rntuple:"nan"`
	IntLeast      int64   `rntuple:"int_least"`
	IntGreatest   int64   `rntuple:"int_greatest"`
	UintLeast     uint64  `rntuple:"uint_least"`
	UintGreatest  uint64  `rntuple:"uint_greatest"`
	FloatLeast    float64 `rntuple:"float_least"`
	FloatGreatest float64 `rntuple:"float_greatest"`
}

// An attribute is an entry of the attribute set.
type attribute struct {
	Start uint64 `rntuple:"_rangeStart"`
	Len   uint64 `rntuple:"_rangeLen"`
	Data  Record `rntuple:"_userData"`
}

// newRecord returns the record of a field with bounds.
func newRecord(f *schema.Field, places uint64, b zonemap.Bounds) Record {
	r := Record{Version: Version, Field: f.Path(), Kind: b.Kind.String(), Places: places, Empty: b.Empty, NaN: b.NaN}
	switch {
	case b.Empty:
	case b.Kind == zonemap.Int:
		r.IntLeast, r.IntGreatest = b.IntBounds()
	case b.Kind == zonemap.Float:
		r.FloatLeast, r.FloatGreatest = b.FloatBounds()
	default:
		r.UintLeast, r.UintGreatest = b.Least, b.Greatest
	}
	return r
}

// bounds returns what the record says of a field that has bounds of kind k. It is not ok
// if that makes no sense.
func (r *Record) bounds(k zonemap.Kind) (b zonemap.Bounds, ok bool) {
	b = zonemap.Bounds{Kind: k, Empty: r.Empty, NaN: r.NaN}
	switch {
	case r.Empty:
	case k == zonemap.Int:
		b.Least, b.Greatest = uint64(r.IntLeast), uint64(r.IntGreatest)
	case k == zonemap.Float:
		b.Least, b.Greatest = math.Float64bits(r.FloatLeast), math.Float64bits(r.FloatGreatest)
	default:
		b.Least, b.Greatest = r.UintLeast, r.UintGreatest
	}
	return b, r.Kind == k.String() && b.Valid()
}

// KindOf returns of which kind the bounds of a field are: Unknown if a zone map has none
// of it. Those of a collection are of the numbers of its items.
func KindOf(f *schema.Field) zonemap.Kind {
	if f.Source != nil {
		return zonemap.Unknown
	}
	switch f.Shape {
	case schema.Scalar:
		k := bounds.KindOf(f.ElementKind())
		for _, columns := range f.Columns {
			if bounds.KindOf(columns[0].Format().Kind()) != k {
				return zonemap.Unknown // values are converted
			}
		}
		return k
	case schema.Collection, schema.Cardinality:
		for _, columns := range f.Columns {
			if !columns[0].Type.IsIndex() {
				return zonemap.Unknown
			}
		}
		return zonemap.Size
	}
	return zonemap.Unknown
}

// Indexed returns the fields that a zone map has bounds of if it has them of a field: the
// field itself and, if that is a collection, an array, a record or the like, those below
// it, as far as their values are numbers; of a projected field, those of its source.
func Indexed(f *schema.Field) (all []*schema.Field) {
	if f.Source != nil {
		return Indexed(f.Source)
	}
	if KindOf(f) != zonemap.Unknown {
		all = append(all, f)
	}
	switch f.Shape {
	case schema.String, schema.Streamer, schema.Variant:
		return all
	}
	for _, child := range f.Children {
		all = append(all, Indexed(child)...)
	}
	return all
}

// placesOf returns the fingerprint of where the elements of a column are.
func placesOf(c pagesource.Chunk) uint64 {
	b := binary.LittleEndian.AppendUint64(nil, uint64(c.Zeros))
	for _, p := range c.Pages {
		b = binary.LittleEndian.AppendUint64(b, uint64(p.NumElements))
		b = binary.LittleEndian.AppendUint64(b, p.Locator.Offset)
		b = binary.LittleEndian.AppendUint64(b, p.Locator.Size)
	}
	return checksum.Sum(b)
}

// Zeros returns the bounds of elements that are zero and not stored.
func Zeros(k zonemap.Kind) zonemap.Bounds { return zonemap.Bounds{Kind: k} }

// IsSet reports whether an attribute set is a zone map.
func IsSet(s envelope.AttributeSet) bool { return s.Name == zonemap.SetName }
