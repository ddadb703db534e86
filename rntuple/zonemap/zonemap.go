package zonemap

import (
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/schema"
)

// SetName is the name of the attribute set that holds the zone map of an RNTuple.
const SetName = "rnt_zonemap"

// A Zone is what is known of the values that a field has in a cluster: all of them are
// within the Bounds, and NaNs only if it says so. Those of a field in a collection are the
// items of all entries together. Those of a collection or an array are of kind Size, of the
// numbers of its items.
type Zone struct {
	Bounds
	Missing bool // the field is an optional: there may be less values than entries, or items
}

// A Map is the zone map of an RNTuple, as far as it fits the RNTuple. The method ZoneMap of a
// rntuple.Reader returns it. It must not be changed, and is then safe for concurrent use.
type Map struct {
	Schema *schema.Schema // of the RNTuple

	// Bounds has those of the fields that are known in some cluster, by cluster, numbered as in the
	// result of Reader.Clusters: Unknown ones where nothing is known. Projected fields are missing:
	// their sources have the same bounds.
	Bounds map[schema.FieldID][]Bounds

	// Problems says why the zone map, or some of it, is ignored: because it does not fit the data,
	// or cannot be read.
	Problems []string
}

// Fields returns the paths of the fields that the map has zones of, and of how many
// clusters.
func (m *Map) Fields() (paths []string, clusters []int) {
	var walk func([]*schema.Field)
	walk = func(fields []*schema.Field) {
		for _, f := range fields {
			if n := m.Known(f); n > 0 && f.Source == nil {
				paths, clusters = append(paths, f.Path()), append(clusters, n)
			}
			walk(f.Children)
		}
	}
	walk(m.Schema.Fields)
	return paths, clusters
}

// Known returns of how many clusters the map has bounds of a field that is not projected.
func (m *Map) Known(f *schema.Field) (clusters int) {
	for _, b := range m.Bounds[f.ID] {
		if b.Kind != Unknown {
			clusters++
		}
	}
	return clusters
}

// Of returns the bounds of the first column of a field in a cluster, or Unknown ones. Those of a
// projected field are those of its source. See Zone for fields around others, and arrays.
func (m *Map) Of(f *schema.Field, cluster int) Bounds {
	for f.Source != nil {
		f = f.Source
	}
	if all := m.Bounds[f.ID]; cluster < len(all) {
		return all[cluster]
	}
	return Bounds{}
}

// Zone returns what is known of a field in a cluster, which is numbered as in the result of
// Reader.Clusters; the path is as for schema.Schema.Lookup. It is not ok if nothing is
// known. An optional, or another field around one value, has the zone of what is in it.
func (m *Map) Zone(path string, cluster int) (z Zone, ok bool) {
	chain, err := m.Schema.Lookup(path)
	if err != nil {
		return Zone{}, false
	}
	f := chain[len(chain)-1]
	for item, rest := f, path; strings.HasSuffix(rest, "._0"); {
		rest = strings.TrimSuffix(rest, "._0")
		above, err := m.Schema.Lookup(rest)
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
			z.Bounds = m.Of(f, cluster)
		}
		if f.Shape == schema.Cardinality && z.Kind == Size {
			z.Kind = Uint // it is a number
		}
		return z, z.Kind != Unknown
	}
}
