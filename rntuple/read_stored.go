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

// Anchor returns the anchor of the RNTuple. Pre-release formats are converted to the form of format
// 1. The results of Anchor, Header, Footer and PageList must not be modified.
func (r *Reader) Anchor() *anchor.Anchor { return r.ntuple.Anchor }

// Header returns the header envelope; see Anchor.
func (r *Reader) Header() *envelope.Header { return r.ntuple.Header }

// Footer returns the footer envelope, which lists the cluster groups; see Anchor.
func (r *Reader) Footer() *envelope.Footer { return r.ntuple.Footer }

// PageList reads the page list of a cluster group, numbered from 0 as in Footer: the clusters of
// the group, and the pages of each of their columns. The page list is validated, also against
// header and footer, and not cached. See specification, "Page List Envelope".
func (r *Reader) PageList(ctx context.Context, group int) (*envelope.PageList, error) {
	if groups := len(r.ntuple.Footer.ClusterGroups); group < 0 || group >= groups {
		return nil, fmt.Errorf("cluster group %d: there are %d", group, groups)
	}
	return r.ntuple.Source.PageList(ctx, group)
}

// StoredPage appends a page of a column to dst as stored: compressed, unless that saved nothing,
// and followed by its checksum, if any, which is verified. The page must be from PageList, and the
// column from Schema. Decompress the page with package compress. After an error, StoredPage returns
// dst unchanged.
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

// Page reads a page of a column, verifies its checksum, and decompresses it; see StoredPage. It has
// p.NumElements elements in the format of the column; decode it with package column.
func (r *Reader) Page(ctx context.Context, c *schema.Column, p envelope.Page) (page []byte, err error) {
	err = r.ntuple.Source.Page(ctx, c.Format(), p, func(b []byte) error {
		page = slices.Clone(b)
		return nil
	})
	return page, err
}

// A StoredCluster is a range of entries and the locations of their pages. It is safe for concurrent
// use.
type StoredCluster struct {
	EntryRange
	cluster *pagesource.Cluster
}

// StoredClusters returns all clusters in the order of their entries, like Clusters; the order in
// page lists may differ. It reads page lists that have not been read yet, and the Reader caches
// them.
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

// Columns returns the pages of all columns as stored in the page list, indexed by column ID.
// Columns that were added after the cluster was written are missing at the end. The result must not
// be modified.
func (c StoredCluster) Columns() []envelope.ColumnPages { return c.cluster.Columns() }

// A Chunk is the part of a column in one cluster: a number of implicit zeros, followed by the
// elements of pages.
type Chunk struct {
	Column      *schema.Column
	Zeros       int64
	Pages       []envelope.Page // must not be modified
	Compression uint32          // the compression settings of the pages
	Elements    int64           // including Zeros
}

// Chunk returns the part of a column in the cluster: the column with the given index, from 0, in
// the representation of the field that is not suppressed there. Deferred elements (see
// specification) are zeros. The error wraps ErrCorrupt if the number of elements does not match the
// entries, or if the number of stored representations is not one.
func (c StoredCluster) Chunk(f *schema.Field, column int) (Chunk, error) {
	chunk, err := c.cluster.Chunk(f, column)
	return Chunk(chunk), err
}

// A FileInfo describes the file of a Reader at the time it was opened.
type FileInfo struct {
	Size   int64 // in bytes; for Objects, an upper bound
	Remote bool  // the file is read by package remote
	// Version identifies the content of a Remote file, such as an ETag; empty if unknown.
	Version string

	// Objects reports whether the RNTuple is in an object store, with one object per page instead
	// of a file. Each object then begins at its own virtual offset, and these offsets are far
	// apart.
	Objects bool
}

// FileInfo returns information about the file of the RNTuple.
func (r *Reader) FileInfo() FileInfo {
	blobs := &r.ntuple.Source.Blobs
	info := FileInfo{Size: blobs.Size, Objects: blobs.InObjects()}
	if far, ok := blobs.R.(interface{ Version() string }); ok && blobs.Far() { // a remote.File, or one of objects
		info.Remote, info.Version = true, far.Version()
	}
	return info
}
