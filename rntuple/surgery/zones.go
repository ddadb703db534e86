package surgery

import (
	"context"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/zone"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Zone maps are kept up: the output has bounds of the fields that an input has bounds of. Those of
// pages that are copied as they are stored come from the zone map of the input, without a look at
// the values; those of pages that are decompressed are computed. If a cluster is copied from an
// input without bounds, or its values may change, the output has none of it.

// recordZones makes the output ready to record bounds.
func (r *run) recordZones() {
	o := r.out
	o.zones = zone.NewRecorder(o.Writer, r.write)
	o.zones.Lenient = true
	o.zones.Schema = func() *schema.Schema { return o.shape.Schema }
}

// keepZones has the output record the bounds of those fields that its sources have bounds of. The
// origin of a field is where its elements come from.
func (r *run) keepZones(ctx context.Context, sources []*source, originOf func(*schema.Field) origin) error {
	if r.DropAttributes {
		return nil
	}
	for _, src := range sources {
		if err := src.loadZones(ctx); err != nil {
			return err
		}
	}
	var track func(fields []*schema.Field)
	track = func(fields []*schema.Field) {
		for _, f := range fields {
			if zone.KindOf(f) != zonemap.Unknown {
				if from := originOf(f); from.field != nil && from.src.zones.Known(from.field) > 0 {
					r.out.zones.Track(f)
				}
			}
			track(f.Children)
		}
	}
	track(r.out.shape.Fields)
	return nil
}

// loadZones reads the zone map of the source, once.
func (s *source) loadZones(ctx context.Context) (err error) {
	if s.zones == nil {
		s.zones, err = zone.Of(ctx, s.Reader)
	}
	return s.fail(err)
}

// bounds returns what is known of the elements of a field in a cluster.
func (s *source) bounds(f *schema.Field, c *pagesource.Cluster) zonemap.Bounds {
	if s.zones == nil {
		return zonemap.Bounds{}
	}
	return s.zones.Of(f, s.zones.At(c.First))
}

// sameValues reports whether elements stay the same when pages of one format become pages of
// another one.
func sameValues(from, to column.Format) bool {
	return from == to || splitOf(from.Type, to.Type) && from.Bits == to.Bits || from.Type.IsIndex() && to.Type.IsIndex()
}

// renameZones has a writer that gives fields other names write the zone map with these.
func renameZones(ctx context.Context, src *source, s *shape,
	write *ntuple.WriteOptions) (sets func(*ntuple.Writer) error, err error) {
	if err := src.loadZones(ctx); err != nil || src.zones.Clusters() == 0 {
		return nil, err
	}
	return func(w *ntuple.Writer) error {
		w.Unlink(zonemap.SetName)
		z := zone.NewRecorder(w, write)
		for i := range src.zones.Clusters() {
			for _, c := range src.Source.Schema.Columns {
				b := src.zones.Of(c.Owner, i)
				if b.Kind == zonemap.Unknown || c.Representation > 0 || c.Index > 0 {
					continue
				}
				if err := z.Add(src.zones.Cluster(i), s.Columns[c.ID].Owner, b); err != nil {
					return err
				}
			}
		}
		return nil
	}, nil
}
