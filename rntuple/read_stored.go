package rntuple

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Anchor returns the anchor of the RNTuple. One in a pre-release format is converted to the form of format 1. It must not be
// changed, nor what Header, Footer and PageList return.
func (r *Reader) Anchor() *anchor.Anchor { return r.ntuple.Anchor }

// Header returns the header envelope; see Anchor.
func (r *Reader) Header() *envelope.Header { return r.ntuple.Header }

// Footer returns the footer envelope, which lists the cluster groups; see Anchor.
func (r *Reader) Footer() *envelope.Footer { return r.ntuple.Footer }

// PageList reads the page list of a cluster group, which is counted from 0 as in Footer: the clusters of the group, and the pages
// of each of their columns. It is verified, and compared with header and footer, and not kept. See specification, "Page List
// Envelope".
func (r *Reader) PageList(ctx context.Context, group int) (*envelope.PageList, error) {
	if groups := len(r.ntuple.Footer.ClusterGroups); group < 0 || group >= groups {
		return nil, fmt.Errorf("cluster group %d: there are %d", group, groups)
	}
	return r.ntuple.Source.PageList(ctx, group)
}

// StoredPage reads a page of a column as it is stored: compressed, unless that saved nothing, and followed by its checksum, if it
// has one, which is verified. The page is one that PageList returned, of a column of the Schema; package compress decompresses it.
func (r *Reader) StoredPage(ctx context.Context, c *schema.Column, p envelope.Page) ([]byte, error) {
	format := c.Format()
	n, err := r.ntuple.Source.StoredSize(format, p)
	if err != nil {
		return nil, err
	}
	stored := make([]byte, n)
	if err := r.ntuple.Source.StoredPage(ctx, format, p, stored); err != nil {
		return nil, err
	}
	return stored, nil
}

// Page reads a page of a column, verifies its checksum, and decompresses it; see StoredPage. Package column decodes it: it has
// p.NumElements elements in the format of the column.
func (r *Reader) Page(ctx context.Context, c *schema.Column, p envelope.Page) (page []byte, err error) {
	err = r.ntuple.Source.Page(ctx, c.Format(), p, func(b []byte) error {
		page = slices.Clone(b)
		return nil
	})
	return page, err
}
