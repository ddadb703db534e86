package verify

import (
	"github.com/go-rntuple/go-rntuple/frame"
	inside "github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/parallel"
	"github.com/go-rntuple/go-rntuple/internal/zone"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
	"github.com/go-rntuple/go-rntuple/schema"
)

// zones compares the zone map of the RNTuple with an anchor, if it has one, with the values.
// Pages that cannot be read have been reported.
//
// Source: docs/reference/zonemaps.md.
func (n *ntuple) zones(a anchorObject) {
	o := inside.NewReadOptions()
	o.Context, o.Limits = n.ctx, inside.Limits(n.Limits)
	r, err := inside.NewReaderAt(n.r, n.size, a.class, a.object, o)
	if err != nil || !zone.Has(r) {
		return
	}
	m, err := zone.Read(n.ctx, r)
	if err != nil {
		return
	}
	for _, problem := range m.Problems {
		n.problem(Attributes, "zone map", -1, &misfit{problem})
	}
	var fields []*schema.Field
	for _, c := range r.Source.Schema.Columns {
		if c.Index == 0 && c.Representation == 0 && m.Known(c.Owner) > 0 {
			fields = append(fields, c.Owner)
		}
	}
	found := make([][]zonemap.Bounds, m.Clusters())
	err = parallel.Do(n.Workers, len(found), func(i int) error {
		found[i] = make([]zonemap.Bounds, len(fields))
		for k, f := range fields {
			if m.Of(f, i).Kind == zonemap.Unknown {
				continue
			}
			b, err := zone.Measure(n.ctx, &r.Source.Blobs, m.Cluster(i), f)
			if n.ctx.Err() != nil {
				return n.ctx.Err()
			}
			if err == nil {
				found[i][k] = b
			}
		}
		return nil
	})
	if err != nil {
		return
	}
	for i, measured := range found {
		for k, f := range fields {
			if b := m.Of(f, i); measured[k].Kind != zonemap.Unknown && !b.Contain(measured[k]) {
				n.report(Problem{RNTuple: n.path, Part: "zone map", Cluster: m.Cluster(i).ID, Column: -1, Field: f.Path(), Page: -1,
					Offset: -1, Check: Values,
					Err: frame.Corrupt("the bounds are %v, those of the values %v", b, measured[k])})
			}
		}
	}
}

// A misfit is a reason why a zone map, or some of it, is ignored.
type misfit struct{ problem string }

func (m *misfit) Error() string { return m.problem + "; rnt index rebuilds it" }
func (m *misfit) Unwrap() error { return frame.ErrCorrupt }
