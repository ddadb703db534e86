package surgery

import (
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
// over clusters unread; see package zonemap. The fields are those that the options Keep and
// Drop leave of all fields of numbers and bools, in collections and records, too, and of
// collections, whose numbers of items have bounds. A zone map that the RNTuple has is
// replaced. Pages stay where they are; if anything fails the file is as it was.
//
// The zone map is an attribute set, so other programs read the file as before.
// docs/reference/zonemaps.md describes it. Merge and the other operations keep it up.
//
// Options: Keep, Drop, Compression, of what is written, Read, Write, Progress, which counts
// clusters.
func Index(ctx context.Context, in Input, opts ...Option) (*Indexed, error) {
	return index(ctx, ntuple.UpdateFile, in, false, opts)
}

// RemoveIndex removes the zone map of an RNTuple, if it has one, in the file that it is in.
//
// Options: Compression, of what is written anew, Read, Write.
func RemoveIndex(ctx context.Context, in Input, opts ...Option) error {
	_, err := index(ctx, ntuple.UpdateFile, in, true, opts)
	return err
}

// index is Index, or RemoveIndex, in the file that open opens.
func index(ctx context.Context, open opener, in Input, remove bool, opts []Option) (*Indexed, error) {
	operation, takes := "Index", []string{"Keep", "Drop", "Compression", "Read", "Write", "Progress"}
	if remove {
		operation, takes = "RemoveIndex", []string{"Compression", "Read", "Write"}
	}
	c, err := configure(operation, takes, opts)
	if err != nil {
		return nil, err
	}
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
