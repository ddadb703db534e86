package surgery

import (
	"cmp"
	"context"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/zone"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Indexed says what Index has done.
type Indexed struct {
	Fields   []string // paths of the fields that the zone map has bounds of
	Clusters int
}

// Index gives an RNTuple a zone map, in the file that it is in: the least and the greatest
// value, and whether there are NaNs, of fields in each cluster, with which conditions pass
// over clusters unread; see package zonemap. The fields are those that o.Keep and
// o.Drop leave of all fields of numbers and bools, in collections and records, too, and of
// collections, whose numbers of items have bounds. A zone map that the RNTuple has is
// replaced. Pages stay where they are; if anything fails the file is as it was.
//
// The zone map is an attribute set, so other programs read the file as before.
// docs/reference/zonemaps.md describes it. Merge and the other operations keep it up.
func Index(ctx context.Context, in Input, o *IndexOptions) (*Indexed, error) {
	return index(ctx, ntuple.UpdateFile, in, o)
}

// RemoveIndex removes the zone map of an RNTuple, if it has one, in the file that it is in.
func RemoveIndex(ctx context.Context, in Input, o *InPlaceOptions) error {
	return removeIndex(ctx, ntuple.UpdateFile, in, o)
}

// index is Index in the file that open opens.
func index(ctx context.Context, open opener, in Input, o *IndexOptions) (*Indexed, error) {
	o = cmp.Or(o, new(IndexOptions))
	c, err := o.InPlaceOptions.config()
	if err != nil {
		return nil, err
	}
	c.keep, c.drop, c.progress = o.Keep, o.Drop, o.Progress
	return c.index(ctx, open, in, false)
}

// removeIndex is RemoveIndex in the file that open opens.
func removeIndex(ctx context.Context, open opener, in Input, o *InPlaceOptions) error {
	c, err := o.config()
	if err != nil {
		return err
	}
	_, err = c.index(ctx, open, in, true)
	return err
}

// index gives the RNTuple in a file a zone map, or removes the one that it has.
func (c *config) index(ctx context.Context, open opener, in Input, remove bool) (*Indexed, error) {
	write, err := c.writeOptions(ctx)
	if err != nil {
		return nil, err
	}
	f, err := open(in.Path, write)
	if err != nil {
		return nil, err
	}
	report, err := c.indexIn(ctx, f, in, remove)
	if err != nil {
		f.Abort()
		return nil, err
	}
	return report, f.Close()
}

// indexIn writes the zone map into the file f.
func (c *config) indexIn(ctx context.Context, f *ntuple.File, in Input, remove bool) (*Indexed, error) {
	src, err := openSource(ctx, 0, in, c.read)
	if err != nil {
		return nil, err
	}
	defer src.close()
	if src.Legacy() {
		return nil, src.fail(frame.Unsupported("files from before format 1.0.0.0 are only read"))
	}
	if err := c.compressAs(ctx, src); err != nil {
		return nil, err
	}
	write, err := c.writeOptions(ctx)
	if err != nil {
		return nil, err
	}
	var fields []*schema.Field
	var clusters []*pagesource.Cluster
	var found [][]zonemap.Bounds
	if !remove {
		if fields, err = zone.Choose(src.Source.Schema, c.keep, c.drop); err != nil {
			return nil, src.fail(err)
		}
		if clusters, found, err = zone.Build(ctx, src.Reader, fields, c.clustersDone); err != nil {
			return nil, src.fail(err)
		}
	}
	err = f.Relink(src.Reader, write, func(w *ntuple.Writer) error {
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
	report := &Indexed{Clusters: len(clusters)}
	for _, f := range fields {
		report.Fields = append(report.Fields, f.Path())
	}
	return report, src.fail(err)
}

// clustersDone reports progress in clusters.
func (c *config) clustersDone(done, total int) {
	if c.progress != nil {
		c.progress(int64(done), int64(total))
	}
}
