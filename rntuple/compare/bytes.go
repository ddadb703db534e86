package compare

import (
	"bytes"
	"context"
	"slices"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// clusters are the clusters of an RNTuple, by entry.
type clusters struct {
	ctx context.Context
	*pagesource.Source
	now  *pagesource.Cluster // the one found last
	page []byte              // the one read last
}

func clustersOf(ctx context.Context, r *rntuple.Reader) *clusters {
	return &clusters{ctx: ctx, Source: r.Unwrapped().Source}
}

// find returns the cluster of an entry.
func (c *clusters) find(ctx context.Context, entry int64) (*pagesource.Cluster, error) {
	if c.now != nil && c.now.First <= entry && entry < c.now.End {
		return c.now, nil
	}
	var err error
	c.now, err = c.Find(ctx, entry)
	return c.now, err
}

// sameBytes returns the number of pages that a field and all fields below it have in two
// clusters, if the pages are equal byte for byte and have the same meaning; otherwise 0. It
// verifies the pages by their checksums, if they have some.
func sameBytes(a, b *clusters, x, y *pagesource.Cluster, p *pair) (n int64) {
	type both struct{ a, b pagesource.Chunk }
	var all []both
	var walk func(f, g *schema.Field) bool
	walk = func(f, g *schema.Field) bool {
		if f.Shape != g.Shape || f.Kind() != g.Kind() || f.ArraySize != g.ArraySize ||
			len(f.Children) != len(g.Children) || (len(f.Columns) == 0) != (len(g.Columns) == 0) {
			return false
		}
		if len(f.Columns) > 0 {
			for i := range f.Columns[0] {
				u, err1 := x.Chunk(f, i)
				v, err2 := y.Chunk(g, i)
				if err1 != nil || err2 != nil || !alike(u, v) { // reading the values returns the error
					return false
				}
				all = append(all, both{u, v})
			}
		}
		for i, child := range f.Children {
			if child.Name != g.Children[i].Name || !walk(child, g.Children[i]) {
				return false
			}
		}
		return true
	}
	if !walk(wrapper(p.a), wrapper(p.b)) {
		return 0
	}
	for _, c := range all {
		for i := range c.a.Pages {
			if !samePage(a, b, c.a.Column.Format(), c.a.Pages[i], c.b.Pages[i]) {
				return 0
			}
			n++
		}
	}
	return n
}

// alike reports whether pages with equal bytes contain equal elements.
func alike(a, b pagesource.Chunk) bool {
	if a.Column.Format() != b.Column.Format() || a.Zeros != b.Zeros || len(a.Pages) != len(b.Pages) {
		return false
	}
	for i, p := range a.Pages {
		q := b.Pages[i]
		if p.NumElements != q.NumElements || p.Locator.Size != q.Locator.Size || p.ChecksumSize() != q.ChecksumSize() {
			return false
		}
	}
	return true
}

// samePage reports whether two pages of columns with format f have equal bytes, which match
// their checksum.
func samePage(a, b *clusters, f column.Format, p, q envelope.Page) bool {
	x, y := a.read(p), b.read(q)
	return x != nil && bytes.Equal(x, y) && a.Verify(f, p, x) == nil
}

// read returns the bytes of a page with its checksum, which are valid until the next call.
// It returns nil if they cannot be read: decoding the page returns the error.
func (c *clusters) read(p envelope.Page) []byte {
	if p.Locator.Size == 0 || p.Locator.Size > uint64(c.Size) {
		return nil
	}
	n := int64(p.StoredSize())
	c.page = slices.Grow(c.page[:0], int(n))[:n]
	if anchor.ReadBlob(c.Exactly(c.ctx), c.page, int64(p.Locator.Offset), c.MaxKeySize) != nil {
		return nil
	}
	return c.page
}
