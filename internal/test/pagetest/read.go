package pagetest

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Cluster is a cluster of a file.
type Cluster struct {
	envelope.Cluster
	Columns []Column // by ID
}

// A Column is what a cluster has of a column.
type Column struct {
	envelope.ColumnPages
	Stored [][]byte // the pages, with their checksums
	Bits   []uint64 // of the elements
	Tags   []uint32 // of a Switch column
}

// A Reader reads clusters.
type Reader struct {
	File       []byte
	Columns    []*schema.Column // by ID
	Sums       uint64           // checksum of the header
	MaxKeySize uint64
}

// Clusters returns the clusters of cluster groups, and fails the test if these do not describe
// them as they must: in order and without a gap, with pages that lie in the file and whose
// checksums are right, and with element offsets that count the elements before.
func (r *Reader) Clusters(t testing.TB, groups []envelope.ClusterGroup) (all []Cluster) {
	t.Helper()
	entries, elements := uint64(0), map[*schema.Column]int64{}
	for _, c := range r.Columns {
		elements[c] = c.FirstElement
	}
	for i, g := range groups {
		list, err := envelope.ParsePageList(r.Envelope(t, g.PageList))
		if err != nil {
			t.Fatal(err)
		}
		n := len(list.Clusters)
		if list.HeaderChecksum != r.Sums || g.MinEntry != entries || int(g.NumClusters) != n || len(list.Pages) != n {
			t.Fatalf("group %d begins with the entry %d, want %d: %+v, %+v", i, g.MinEntry, entries, g, list)
		}
		for j, c := range list.Clusters {
			if c.FirstEntry != entries || c.NumEntries == 0 || len(list.Pages[j].Columns) > len(r.Columns) {
				t.Fatalf("after entry %d: %+v with %d columns", entries, c, len(list.Pages[j].Columns))
			}
			entries += c.NumEntries
			cluster := Cluster{Cluster: c}
			for id, pages := range list.Pages[j].Columns {
				k := r.Columns[id]
				first := k.Owner.Columns[0][k.Index] // all representations count together
				got := Column{ColumnPages: pages}
				if pages.IsSuppressed() {
					if len(pages.Pages) > 0 {
						t.Fatalf("column %d is suppressed and has pages", id)
					}
				} else if pages.ElementOffset != elements[first] {
					t.Fatalf("column %d: element offset %d, want %d", id, pages.ElementOffset, elements[first])
				}
				for _, p := range pages.Pages {
					r.page(t, k.Format(), p, &got)
				}
				elements[first] += int64(len(got.Bits))
				cluster.Columns = append(cluster.Columns, got)
			}
			all = append(all, cluster)
		}
		if g.MinEntry+g.EntrySpan != entries {
			t.Fatalf("group %d ends before the entry %d, want %d", i, g.MinEntry+g.EntrySpan, entries)
		}
	}
	return all
}

// page reads a page.
func (r *Reader) page(t testing.TB, f column.Format, p envelope.Page, into *Column) {
	t.Helper()
	if p.NumElements == 0 {
		t.Fatal("a page without elements")
	}
	stored := make([]byte, p.StoredSize())
	if err := anchor.ReadBlob(bytes.NewReader(r.File), stored, int64(p.Locator.Offset), r.MaxKeySize); err != nil {
		t.Fatal(err)
	}
	page := stored[:p.Locator.Size]
	if p.HasChecksum {
		if err := checksum.Verify(binary.LittleEndian.Uint64(stored[len(page):]), page); err != nil {
			t.Fatal(err)
		}
	}
	into.Stored = append(into.Stored, stored)
	if size := f.PageSize(p.NumElements); size != int64(len(page)) {
		plain := make([]byte, size)
		if err := compress.Decompress(plain, page); err != nil {
			t.Fatal(err)
		}
		page = plain
	}
	bits, tags := Decode(f, page, int(p.NumElements))
	into.Bits, into.Tags = append(into.Bits, bits...), append(into.Tags, tags...)
}

// Decode returns the bits of the n elements of a page, and of a Switch column their tags.
func Decode(f column.Format, page []byte, n int) (all []uint64, tags []uint32) {
	width, packed := int(f.Bits), f.Type == column.Bit || f.Type == column.Real32Trunc || f.Type == column.Real32Quant
	split := f.Type >= column.SplitInt16 && f.Type <= column.SplitIndex64
	if f.Type == column.Switch {
		for i := range n {
			all = append(all, binary.LittleEndian.Uint64(page[12*i:]))
			tags = append(tags, binary.LittleEndian.Uint32(page[12*i+8:]))
		}
		return all, tags
	}
	last := uint64(0)
	for i := range n {
		v := uint64(0)
		if packed {
			for k := range width {
				at := i*width + k
				v |= uint64(page[at/8]>>(at%8)&1) << k
			}
		} else {
			for k := range width / 8 {
				at := i*width/8 + k
				if split {
					at = k*n + i
				}
				v |= uint64(page[at]) << (8 * k)
			}
		}
		switch f.Type {
		case column.SplitInt16, column.SplitInt32, column.SplitInt64:
			v = (v>>1 ^ -(v & 1)) << (64 - width) >> (64 - width)
		case column.SplitIndex32, column.SplitIndex64:
			v += last
		}
		last = v
		all = append(all, v)
	}
	return all, nil
}

// Envelope reads an envelope.
func (r *Reader) Envelope(t testing.TB, l locator.Link) []byte {
	t.Helper()
	stored := make([]byte, l.Locator.Size)
	if err := anchor.ReadBlob(bytes.NewReader(r.File), stored, int64(l.Locator.Offset), r.MaxKeySize); err != nil {
		t.Fatal(err)
	}
	if l.Length == l.Locator.Size {
		return stored
	}
	plain := make([]byte, l.Length)
	if err := compress.Decompress(plain, stored); err != nil {
		t.Fatal(err)
	}
	return plain
}

// CheckSharing fails the test if two pages of a cluster overlap, unless they are equal and may
// share their bytes; then they must. It returns how many bytes the pages take.
func (c *Cluster) CheckSharing(t testing.TB, share bool) (size int64) {
	t.Helper()
	type bytesAt struct {
		column int
		from   uint64
	}
	places := map[string]bytesAt{} // by content
	used := map[uint64]string{}    // by offset
	for i, col := range c.Columns {
		for j, p := range col.Pages {
			content := string(col.Stored[j])
			at := p.Locator.Offset
			if first, ok := places[content]; ok && share {
				if first.from != at {
					t.Errorf("equal pages of columns %d and %d are stored twice", first.column, i)
				}
				continue
			}
			if _, ok := used[at]; ok {
				t.Errorf("column %d: two pages share the bytes from %d on", i, at)
			}
			places[content], used[at] = bytesAt{i, at}, content
			size += int64(len(content))
		}
	}
	return size
}

// Values returns all elements of a column, whatever representation a cluster has.
func Values(clusters []Cluster, columns ...int) (bits []uint64, tags []uint32) {
	for _, c := range clusters {
		for _, i := range columns {
			if i < len(c.Columns) {
				bits, tags = append(bits, c.Columns[i].Bits...), append(tags, c.Columns[i].Tags...)
			}
		}
	}
	return bits, tags
}
