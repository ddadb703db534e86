package zonemap

import (
	"context"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/internal/bounds"
	"github.com/go-rntuple/go-rntuple/internal/zone"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// SetName is the name of the attribute set that holds the zone map of an RNTuple.
const SetName = zone.SetName

// A Kind says what the bounds of a Zone are of.
type Kind = bounds.Kind

// The kinds of bounds.
const (
	Bool  Kind = bounds.Bool
	Int   Kind = bounds.Int
	Uint  Kind = bounds.Uint
	Float Kind = bounds.Float
	Size  Kind = bounds.Size // numbers of items of a collection
)

// Bounds are the least and the greatest of some numbers. Its members are Kind; Empty, which
// says that there are no numbers besides NaNs; NaN, which says that there are NaNs; and
// Least and Greatest, the bits of the bounds. See the methods IntBounds and FloatBounds.
type Bounds = bounds.Bounds

// A Zone is what is known of the values that a field has in a cluster: all of them are
// within the Bounds, and NaNs only if it says so. Those of a field in a collection are the
// items of all entries together. Those of a collection or an array are of kind Size, of the
// numbers of its items.
type Zone struct {
	Bounds
	Missing bool // the field is an optional: there may be less values than entries, or items
}

// A Map is the zone map of an RNTuple, as far as it fits the RNTuple. It is safe for
// concurrent use.
type Map struct {
	zones  *zone.Map
	schema *schema.Schema
}

// Of returns the zone map of an RNTuple, which is empty if it has none, or is in a file at a URL
// and was opened without rntuple.TrustZoneMaps. The map is read once, all of it, and takes 32 bytes
// of memory for each field and cluster.
//
// What the map says of data that is not there is ignored; see Map.Problems. Errors are those
// of the page lists, and of the context.
func Of(r *rntuple.Reader) (*Map, error) {
	return of(r.Unwrapped().Options.Context, r)
}

func of(ctx context.Context, r *rntuple.Reader) (*Map, error) {
	m, err := zone.Of(ctx, r.Unwrapped())
	if err != nil {
		return nil, err
	}
	return &Map{m, r.Schema()}, nil
}

// Problems says why the zone map, or some of it, is ignored: because it does not fit the
// data, or cannot be read.
func (m *Map) Problems() []string { return m.zones.Problems }

// Fields returns the paths of the fields that the map has zones of, and of how many
// clusters.
func (m *Map) Fields() (paths []string, clusters []int) {
	var walk func([]*schema.Field)
	walk = func(fields []*schema.Field) {
		for _, f := range fields {
			if n := m.zones.Fields(f); n > 0 && f.Source == nil {
				paths, clusters = append(paths, f.Path()), append(clusters, n)
			}
			walk(f.Children)
		}
	}
	walk(m.schema.Fields)
	return paths, clusters
}

// Zone returns what is known of a field in a cluster, which is numbered as in the result of
// Reader.Clusters; the path is as for schema.Schema.Lookup. It is not ok if nothing is
// known. An optional, or another field around one value, has the zone of what is in it.
func (m *Map) Zone(path string, cluster int) (z Zone, ok bool) {
	chain, err := m.schema.Lookup(path)
	if err != nil {
		return Zone{}, false
	}
	f := chain[len(chain)-1]
	for item, rest := f, path; strings.HasSuffix(rest, "._0"); {
		rest = strings.TrimSuffix(rest, "._0")
		above, err := m.schema.Lookup(rest)
		if err != nil {
			break
		}
		outer := above[len(above)-1]
		if !slices.Contains(outer.Children, item) {
			return Zone{}, false // another field has this path as its name
		}
		item = outer
	}
	for _, above := range chain[:len(chain)-1] {
		switch above.Shape {
		case schema.Variant:
			return Zone{}, false
		case schema.Optional:
			z.Missing = true
		}
	}
	for {
		switch f.Shape {
		case schema.Optional:
			z.Missing = true
			f = f.Children[0]
			continue
		case schema.Wrapper:
			f = f.Children[0]
			continue
		case schema.Array:
			z.Bounds = Bounds{Kind: Size, Least: f.ArraySize, Greatest: f.ArraySize}
		default:
			z.Bounds = m.zones.Of(f, cluster)
		}
		if f.Shape == schema.Cardinality && z.Kind == Size {
			z.Kind = Uint // it is a number
		}
		return z, z.Kind != bounds.Unknown
	}
}
