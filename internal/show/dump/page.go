package dump

import (
	"errors"
	"fmt"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/frame"
)

// page shows a page, uncompressed, and its elements.
func (f *file) page(n *ntuple, which Page) error {
	fail := func(err error) error { return fmt.Errorf("RNTuple %q: %w", n.path, err) }
	s, src, err := f.source(n)
	if err != nil {
		return fail(err)
	}
	clusters, err := src.Clusters(f.ctx)
	if err != nil {
		return fail(err)
	}
	if which.Cluster < 0 || which.Cluster >= len(clusters) {
		return fail(fmt.Errorf("there are %d clusters, no cluster %d", len(clusters), which.Cluster))
	}
	columns := clusters[which.Cluster].Columns()
	switch {
	case which.Column < 0 || which.Column >= len(s.Columns):
		return fail(fmt.Errorf("there are %d columns, no column %d", len(s.Columns), which.Column))
	case which.Column >= len(columns):
		return fail(fmt.Errorf("column %d was added after cluster %d", which.Column, which.Cluster))
	case columns[which.Column].IsSuppressed():
		return fail(fmt.Errorf("column %d is suppressed in cluster %d", which.Column, which.Cluster))
	}
	list := columns[which.Column].Pages
	if which.Page < 0 || which.Page >= len(list) {
		return fail(fmt.Errorf("column %d has %d pages in cluster %d, no page %d", which.Column, len(list),
			which.Cluster, which.Page))
	}
	c, p := s.Columns[which.Column], list[which.Page]
	format := c.Format()
	r := &Record{
		Title: fmt.Sprintf("page %d of column %d in cluster %d of RNTuple %q: field %q, %v, %d elements",
			which.Page, which.Column, which.Cluster, n.path, c.Owner.Path(), format, p.NumElements),
		Offset: int64(p.Locator.Offset), Stored: int64(p.Locator.Size), Lines: []Line{},
		Chunked: n.anchor.MaxKeySize != 0 && p.Locator.Size > n.anchor.MaxKeySize,
	}
	if err := format.Check(); err != nil {
		r.Error = err.Error()
		return f.emit(r)
	}
	r.Compressed = format.PageSize(p.NumElements) != int64(p.Locator.Size)
	blobs := f.blobs(n)
	show := func(page []byte) (err error) {
		r.Lines = append(r.Lines[:0], Line{Bytes: append([]byte(nil), page...), Path: "page", Meaning: format.String()})
		r.Elements, err = elements(format, page, p.NumElements)
		return err
	}
	if err := blobs.Page(f.ctx, format, p, show); err != nil {
		r.Error = err.Error()
		if errors.Is(err, frame.ErrChecksum) { // the bytes may show what happened
			blobs.SkipChecksums = true
			_ = blobs.Page(f.ctx, format, p, show)
		}
	}
	return f.emit(r)
}

// elements returns the elements of a page as text.
func elements(f column.Format, page []byte, n uint32) ([]string, error) {
	values, err := f.Values(page, int(n))
	text := make([]string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case float32, float64:
			text[i] = fmt.Sprintf("%g", v)
		case column.Tagged:
			text[i] = fmt.Sprintf("%d:%d", v.Tag, v.Index)
		default:
			text[i] = fmt.Sprint(v)
		}
	}
	return text, err
}
