package rescue

import (
	"context"
	"fmt"
	"math"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagecopy"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/remote"
)

// write writes RNTuples to the file that create creates.
func (e *evidence) write(ctx context.Context, all []*salvage, c *Options,
	create func(*ntuple.WriteOptions) (*ntuple.File, error)) error {
	o := ntuple.NewWriteOptions()
	o.Context, o.Pages.Compression, o.File.Compression, o.AllowHidden = ctx, e.compression, e.compression, true
	o.NoSync, o.NoReplace = c.NoSync, c.NoReplace
	o.Upload = remote.UploadOptions{Options: c.Upload, Replace: !c.NoReplace}
	o.Derive()
	f, err := create(o)
	if err != nil {
		return err
	}
	for _, s := range all {
		if err := s.save(f, o); err != nil {
			f.Abort()
			return err
		}
	}
	return f.Close()
}

// save copies the RNTuple into a file.
func (s *salvage) save(f *ntuple.File, o *ntuple.WriteOptions) error {
	w, err := f.Create(s.job.path, s.header, s.options(o))
	if err != nil {
		return err
	}
	if err := s.copyTo(w, o); err != nil {
		return err
	}
	return w.Close()
}

// options returns o with the compression settings of the pages. Then clusters without pages
// of a column state the same settings as the others, as ROOT's RNTupleInspector requires.
func (s *salvage) options(o *ntuple.WriteOptions) *ntuple.WriteOptions {
	changed := *o
	if s.settings != nil {
		changed.Pages.Compression = *s.settings
	}
	return &changed
}

// copyTo copies the clusters and the attribute sets.
func (s *salvage) copyTo(w *ntuple.Writer, o *ntuple.WriteOptions) error {
	if s.footer != nil {
		w.Features = s.footer.Features
		if ext := s.footer.Extension; ext != nil {
			if err := w.Extend(ext); err != nil {
				return err
			}
		}
	}
	from := &pagesource.Source{Schema: s.schema, Blobs: pagesource.Blobs{
		R: s.r, Size: s.size, MaxKeySize: s.maxKey, MaxPage: math.MaxInt64, SkipChecksums: true, // examine has verified them
	}}
	copier := pagecopy.NewCopier(o.Context, w.Sink)
	for _, g := range s.groups {
		if err := o.Context.Err(); err != nil {
			return err
		}
		clusters, err := s.load(g.group)
		if err != nil {
			return err
		}
		for _, i := range g.clusters {
			if err := copier.Take(clusters[i].End-clusters[i].First, s.columnsOf(clusters[i], from)); err != nil {
				return err
			}
		}
		if err := w.Sink.CommitClusterGroup(); err != nil {
			return err
		}
	}
	for _, set := range s.sets {
		sw, err := w.CreateSet(set.header, set.options(o))
		if err != nil {
			return err
		}
		if err := set.copyTo(sw, o); err != nil {
			return err
		}
	}
	return nil
}

// columnsOf returns the pages of a cluster by column, to be copied as they are.
func (s *salvage) columnsOf(c *pagesource.Cluster, from *pagesource.Source) []pagecopy.Column {
	columns := make([]pagecopy.Column, len(s.schema.Columns))
	for i, column := range s.schema.Columns {
		if i >= len(c.Columns()) { // it was added later
			columns[i].Suppressed = column.Representation > 0
			continue
		}
		stored := c.Columns()[i]
		columns[i].Suppressed = stored.IsSuppressed()
		columns[i].Chunks = []pagecopy.Chunk{{
			Chunk: pagesource.Chunk{Column: column, Pages: stored.Pages, Compression: stored.Compression},
			From:  from, Level: pagecopy.Copy, Fail: func(err error) error { return fmt.Errorf("%s: %w", s.job.path, err) },
		}}
	}
	return columns
}
