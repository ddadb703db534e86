package compare

import (
	"bytes"
	"context"
	"sort"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// stored is an RNTuple as it is stored, for one goroutine.
type stored struct {
	*rntuple.Reader
	clusters []rntuple.StoredCluster
	page     []byte // the one read last
}

func storedOf(ctx context.Context, r *rntuple.Reader) (stored, error) {
	clusters, err := r.StoredClusters(ctx)
	return stored{Reader: r, clusters: clusters}, err
}

// find returns the cluster of an entry.
func (s *stored) find(entry int64) rntuple.StoredCluster {
	return s.clusters[sort.Search(len(s.clusters), func(i int) bool { return s.clusters[i].End > entry })]
}

// read reads a page. It reports whether it did, and the checksum matches.
func (s *stored) read(ctx context.Context, c *schema.Column, p envelope.Page) bool {
	var err error
	s.page, err = s.StoredPage(ctx, s.page[:0], c, p)
	return err == nil
}

// sameBytes returns the number of pages that a field and all fields below it have in two
// clusters, if the pages are equal byte for byte and have the same meaning; otherwise 0. It
// verifies the pages by their checksums, if they have some.
func sameBytes(ctx context.Context, a, b *stored, x, y rntuple.StoredCluster, p *pair) (n int64) {
	type both struct{ a, b rntuple.Chunk }
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
			if !samePage(ctx, a, b, c.a.Column, c.a.Pages[i], c.b.Column, c.b.Pages[i]) {
				return 0
			}
			n++
		}
	}
	return n
}

// alike reports whether pages with equal bytes contain equal elements.
func alike(a, b rntuple.Chunk) bool {
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

// samePage reports whether two pages have equal bytes, which match their checksums. They do not if
// they cannot be read: decoding them returns the error.
func samePage(ctx context.Context, a, b *stored, c *schema.Column, p envelope.Page, d *schema.Column,
	q envelope.Page) bool {
	return p.Locator.Size > 0 && a.read(ctx, c, p) && b.read(ctx, d, q) && bytes.Equal(a.page, b.page)
}
