package surgery

import (
	"cmp"
	"context"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/zone"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
)

// Indexed is the report of Index.
type Indexed struct {
	Fields   []string // paths of the fields that the zone map has bounds of
	Clusters int
}

// Index adds a zone map to an RNTuple, in its file: the minimum and maximum of fields in each
// cluster, and whether they contain NaNs, with which conditions skip clusters without reading them;
// see package zonemap. o.Keep and o.Drop select from all fields of numbers and bools, including
// those in collections and records, and from collections, whose numbers of items are indexed. An
// existing zone map is replaced. Pages are not moved; after an error the file is unchanged.
//
// The zone map is an attribute set, so other programs can still read the file; see
// docs/reference/zonemaps.md. Merge and the other operations maintain it.
func Index(ctx context.Context, in Input, o *IndexOptions) (*Indexed, error) {
	return index(ctx, ntuple.UpdateFile, in, o)
}

// RemoveIndex removes the zone map of an RNTuple, if any, in its file.
func RemoveIndex(ctx context.Context, in Input, o *InPlaceOptions) error {
	unlink := func(f *ntuple.File, src *source, o *ntuple.WriteOptions) error {
		return f.Relink(src.Reader, o, func(w *ntuple.Writer) error {
			w.Unlink(zonemap.SetName)
			return nil
		})
	}
	return o.config().inPlace(ctx, ntuple.UpdateFile, in, unlink)
}

// index is Index in the file that open opens.
func index(ctx context.Context, open opener, in Input, o *IndexOptions) (*Indexed, error) {
	o = cmp.Or(o, new(IndexOptions))
	progress := func(done, total int) {
		if o.Progress != nil {
			o.Progress(int64(done), int64(total))
		}
	}
	report := new(Indexed)
	c := o.InPlaceOptions.config()
	err := c.inPlace(ctx, open, in, func(f *ntuple.File, src *source, write *ntuple.WriteOptions) error {
		fields, err := zone.Choose(src.Source.Schema, o.Keep, o.Drop)
		if err != nil {
			return err
		}
		clusters, found, err := zone.Build(ctx, src.Reader, fields, progress)
		if err != nil {
			return err
		}
		report.Clusters = len(clusters)
		for _, f := range fields {
			report.Fields = append(report.Fields, f.Path())
		}
		return f.Relink(src.Reader, write, func(w *ntuple.Writer) error {
			w.Unlink(zonemap.SetName)
			z := zone.NewRecorder(w, write)
			for i, cluster := range clusters {
				for j, field := range fields {
					if err := z.Add(cluster, field, found[i][j]); err != nil {
						return err
					}
				}
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return report, nil
}
