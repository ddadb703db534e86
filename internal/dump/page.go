package dump

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/wire"
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
		return fail(fmt.Errorf("column %d has %d pages in cluster %d, no page %d", which.Column, len(list), which.Cluster, which.Page))
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
	if err := blobs.Page(format, p, show); err != nil {
		r.Error = err.Error()
		if errors.Is(err, wire.ErrChecksum) { // the bytes may show what happened
			blobs.SkipChecksums = true
			_ = blobs.Page(format, p, show)
		}
	}
	return f.emit(r)
}

// elements returns the elements of a page as text.
func elements(f column.Format, page []byte, n uint32) ([]string, error) {
	switch f.Kind() {
	case column.KindBool:
		return decoded(f, page, n, strconv.FormatBool)
	case column.KindInt8:
		return decoded(f, page, n, integer[int8])
	case column.KindUint8:
		return decoded(f, page, n, integer[uint8])
	case column.KindInt16:
		return decoded(f, page, n, integer[int16])
	case column.KindUint16:
		return decoded(f, page, n, integer[uint16])
	case column.KindInt32:
		return decoded(f, page, n, integer[int32])
	case column.KindUint32:
		return decoded(f, page, n, integer[uint32])
	case column.KindInt64:
		return decoded(f, page, n, integer[int64])
	case column.KindUint64:
		return decoded(f, page, n, integer[uint64])
	case column.KindFloat32:
		return decoded(f, page, n, func(v float32) string { return strconv.FormatFloat(float64(v), 'g', -1, 32) })
	case column.KindFloat64:
		return decoded(f, page, n, func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) })
	case column.KindTagged:
		return decoded(f, page, n, func(v column.Tagged) string { return fmt.Sprintf("%d:%d", v.Tag, v.Index) })
	}
	return nil, nil
}

func integer[T wire.Integer](v T) string { return fmt.Sprintf("%d", v) }

func decoded[T column.Element](f column.Format, page []byte, n uint32, show func(T) string) ([]string, error) {
	d, err := column.NewDecoder[T](f)
	if err != nil {
		return nil, err
	}
	values := make([]T, n)
	if err := d.Decode(values, page); err != nil {
		return nil, err
	}
	text := make([]string, n)
	for i, v := range values {
		text[i] = show(v)
	}
	return text, nil
}
