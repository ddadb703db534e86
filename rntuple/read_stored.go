package rntuple

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Anchor returns the anchor of the RNTuple. One in a pre-release format is converted to the form of
// format 1. It must not be changed, nor what Header, Footer and PageList return.
func (r *Reader) Anchor() *anchor.Anchor { return r.ntuple.Anchor }

// Header returns the header envelope; see Anchor.
func (r *Reader) Header() *envelope.Header { return r.ntuple.Header }

// Footer returns the footer envelope, which lists the cluster groups; see Anchor.
func (r *Reader) Footer() *envelope.Footer { return r.ntuple.Footer }

// PageList reads the page list of a cluster group, which is counted from 0 as in Footer: the
// clusters of the group, and the pages of each of their columns. It is verified, and compared with
// header and footer, and not kept. See specification, "Page List Envelope".
func (r *Reader) PageList(ctx context.Context, group int) (*envelope.PageList, error) {
	if groups := len(r.ntuple.Footer.ClusterGroups); group < 0 || group >= groups {
		return nil, fmt.Errorf("cluster group %d: there are %d", group, groups)
	}
	return r.ntuple.Source.PageList(ctx, group)
}

// StoredPage appends a page of a column to dst as it is stored: compressed, unless that saved
// nothing, and followed by its checksum, if it has one, which is verified. The page is one that
// PageList returned, of a column of the Schema; package compress decompresses it. After an error,
// StoredPage returns dst as it was.
func (r *Reader) StoredPage(ctx context.Context, dst []byte, c *schema.Column, p envelope.Page) ([]byte, error) {
	format := c.Format()
	n, err := r.ntuple.Source.StoredSize(format, p)
	if err != nil {
		return dst, err
	}
	at := len(dst)
	all := slices.Grow(dst, int(n))[:at+int(n)]
	if err := r.ntuple.Source.StoredPage(ctx, format, p, all[at:]); err != nil {
		return dst, err
	}
	return all, nil
}

// Page reads a page of a column, verifies its checksum, and decompresses it; see StoredPage.
// Package column decodes it: it has p.NumElements elements in the format of the column.
func (r *Reader) Page(ctx context.Context, c *schema.Column, p envelope.Page) (page []byte, err error) {
	err = r.ntuple.Source.Page(ctx, c.Format(), p, func(b []byte) error {
		page = slices.Clone(b)
		return nil
	})
	return page, err
}

// A StoredCluster is a range of entries, and where the pages are that hold their values. It is safe
// for concurrent use.
type StoredCluster struct {
	EntryRange
	cluster *pagesource.Cluster
}

// StoredClusters returns all clusters in the order of their entries, which is that of Clusters;
// page lists may have another one. It reads the page lists that have not been read yet, and the
// Reader keeps them.
func (r *Reader) StoredClusters(ctx context.Context) ([]StoredCluster, error) {
	clusters, err := r.ntuple.Source.Clusters(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]StoredCluster, len(clusters))
	for i, c := range clusters {
		all[i] = StoredCluster{EntryRange{c.First, c.End}, c}
	}
	return all, nil
}

// Columns returns the pages of all columns as the page list has them, by column ID. Columns that
// were added after the cluster was written are missing at the end. The result must not be changed.
func (c StoredCluster) Columns() []envelope.ColumnPages { return c.cluster.Columns() }

// A Chunk is what a cluster holds of a column: a number of zeros that are not stored, followed by
// the elements of pages.
type Chunk struct {
	Column      *schema.Column
	Zeros       int64
	Pages       []envelope.Page // must not be changed
	Compression uint32          // the settings that the pages were written with
	Elements    int64           // including Zeros
}

// Chunk returns what the cluster holds of a column of a field that has columns, which is counted
// from 0: of its representation that is not suppressed there. Elements that the specification calls
// deferred are zeros. It is an error, which wraps ErrCorrupt, if the number of elements does not
// fit the entries, or if not just one representation is stored.
func (c StoredCluster) Chunk(f *schema.Field, column int) (Chunk, error) {
	chunk, err := c.cluster.Chunk(f, column)
	return Chunk(chunk), err
}

// A FileInfo describes the file of a Reader, as it was when the Reader was opened.
type FileInfo struct {
	Size   int64 // in bytes; of Objects, more than they have
	Remote bool  // package remote reads it
	// of a Remote file: what the server says to tell this content from others, as an ETag; empty if it
	// does not
	Version string

	// Objects reports whether the RNTuple is in an object store, with objects for its pages instead
	// of a file. The offsets of locators are then far apart: each object begins at one.
	Objects bool
}

// FileInfo describes the file that the RNTuple is in.
func (r *Reader) FileInfo() FileInfo {
	blobs := &r.ntuple.Source.Blobs
	info := FileInfo{Size: blobs.Size, Objects: blobs.InObjects()}
	if far, ok := blobs.R.(interface{ Version() string }); ok && blobs.Far() { // a remote.File, or one of objects
		info.Remote, info.Version = true, far.Version()
	}
	return info
}
