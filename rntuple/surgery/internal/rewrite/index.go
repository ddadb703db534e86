package rewrite

import (
	"context"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/zone"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
	"github.com/go-rntuple/go-rntuple/schema"
)

// An Indexed says what an index has.
type Indexed struct {
	Fields   []string // paths
	Clusters int
}

// IndexInPlace gives an RNTuple a zone map of the fields that the options choose, in its
// file, which open opens, in place of the one that it has; or none, if remove is set. Pages
// stay where they are.
func IndexInPlace(ctx context.Context, in Input, open Opener, remove bool, options Options) (*Indexed, error) {
	write, err := options.writeOptions(ctx)
	if err != nil {
		return nil, err
	}
	f, err := open(in.Path, write)
	if err != nil {
		return nil, err
	}
	report, err := indexIn(ctx, f, in, remove, options)
	if err != nil {
		f.Abort()
		return nil, err
	}
	return report, f.Close()
}

// indexIn writes the zone map into the file f.
func indexIn(ctx context.Context, f *ntuple.File, in Input, remove bool, options Options) (*Indexed, error) {
	src, err := openSource(ctx, 0, in, options.Read)
	if err != nil {
		return nil, err
	}
	defer src.close()
	if src.Legacy() {
		return nil, src.fail(frame.Unsupported("files from before format 1.0.0.0 are only read"))
	}
	if err := options.compressAs(ctx, src); err != nil {
		return nil, err
	}
	write, err := options.writeOptions(ctx)
	if err != nil {
		return nil, err
	}
	var fields []*schema.Field
	var clusters []*pagesource.Cluster
	var found [][]zonemap.Bounds
	if !remove {
		if fields, err = zone.Choose(src.Source.Schema, options.Keep, options.Drop); err != nil {
			return nil, src.fail(err)
		}
		if clusters, found, err = zone.Build(ctx, src.Reader, fields, options.clustersDone); err != nil {
			return nil, src.fail(err)
		}
	}
	err = f.Relink(src.Reader, write, func(w *ntuple.Writer) error {
		w.Unlink(zonemap.SetName)
		z := zone.NewRecorder(w, write)
		for i, c := range clusters {
			for j, field := range fields {
				if err := z.Add(c, field, found[i][j]); err != nil {
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
func (o *Options) clustersDone(done, total int) {
	if o.Progress != nil {
		o.Progress(int64(done), int64(total))
	}
}
