package envelope

import (
	"encoding/binary"
	"math"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/locator"
)

// The sizes in bytes of what quickPages consists of.
const (
	quickList = 12     // size and number of items of a list frame
	quickPage = 4 + 12 // number of elements and a locator in a file
	quickTail = 8 + 4  // element offset and compression settings
)

// quickPages are the columns of a cluster, which ClusterPages.Wire describes, in the
// usual form: with locators of type File and without bytes appended by newer versions.
// They have been checked, but not parsed. Nearly all metadata of large files are page
// lists, which are checked and parsed several times as fast in this form.
type quickPages struct {
	stored         []byte // the content of the outer list frame
	columns, pages int    // how many there are
}

// scanQuick checks the columns of a cluster at the start of b and returns them, and
// how many bytes they take: 0 for everything that is not in the usual form, correct or
// not.
func scanQuick(b []byte) (q quickPages, n int) {
	le := binary.LittleEndian
	b, count := quickFrame(b)
	if b == nil || count > len(b)/(quickList+8) {
		return quickPages{}, 0
	}
	q, n = quickPages{stored: b, columns: count}, quickList+len(b)
	for range count {
		list, count := quickFrame(b)
		if list == nil || count > len(list)/quickPage {
			return quickPages{}, 0
		}
		b = b[quickList+len(list):]
		tail := list[count*quickPage:]
		switch {
		case len(tail) == quickTail && int64(le.Uint64(tail)) >= 0:
		case len(tail) != 8 || count > 0 || int64(le.Uint64(tail)) >= 0:
			return quickPages{}, 0
		}
		for page := range count {
			if page := list[page*quickPage:]; le.Uint32(page) == 1<<31 || int32(le.Uint32(page[4:])) < 0 {
				return quickPages{}, 0
			}
		}
		q.pages += count
	}
	if len(b) > 0 {
		return quickPages{}, 0
	}
	return q, n
}

// parse returns the columns.
func (q quickPages) parse() []ColumnPages {
	le := binary.LittleEndian
	columns, slab := make([]ColumnPages, q.columns), make([]Page, q.pages)
	b := q.stored
	for i := range columns {
		list, count := quickFrame(b)
		b = b[quickList+len(list):]
		col := &columns[i]
		col.Pages, slab = slab[:count:count], slab[count:]
		for j := range col.Pages {
			elements := int32(le.Uint32(list))
			col.Pages[j] = Page{NumElements: uint32(max(elements, -elements)), HasChecksum: elements < 0,
				Locator: locator.Locator{Offset: le.Uint64(list[8:]), Size: uint64(le.Uint32(list[4:]))}}
			list = list[quickPage:]
		}
		col.ElementOffset = int64(le.Uint64(list))
		if !col.IsSuppressed() {
			col.Compression = le.Uint32(list[8:])
		}
	}
	return columns
}

// quickFrame returns the content of the list frame at the start of b and the number
// of its items. The content is nil if there is no such frame.
func quickFrame(b []byte) (content []byte, items int) {
	if len(b) < quickList {
		return nil, 0
	}
	size, n := -int64(binary.LittleEndian.Uint64(b)), binary.LittleEndian.Uint32(b[8:])
	if size < quickList || size > int64(len(b)) || n > math.MaxInt32 {
		return nil, 0
	}
	return b[quickList:size:size], int(n)
}

// A ScannedPageList is a page list that has been checked as ParsePageList checks it,
// of which the pages of a cluster are parsed when they are needed.
type ScannedPageList struct {
	HeaderChecksum uint64
	Clusters       []Cluster
	Pages          []ScannedPages // per cluster, in the order of Clusters
}

// ScannedPages are the pages of one cluster in a ScannedPageList. They refer to the
// bytes of the envelope, unless these are not in the form that writers usually choose.
type ScannedPages struct {
	quick  quickPages
	parsed []ColumnPages // if they were not
}

// ScanPageList reads a page-list envelope, which must not change as long as the
// result is in use. The errors are those of ParsePageList.
func ScanPageList(b []byte) (*ScannedPageList, error) {
	var list PageList
	var pages []ScannedPages
	err := Open(b, TypePageList, func(c *frame.Codec) {
		list.walk(c, func(c *frame.Codec, d *ClusterPages) {
			quick := d.scan(c)
			pages = append(pages, ScannedPages{quick, d.Columns})
		})
	})
	return &ScannedPageList{list.HeaderChecksum, list.Clusters, pages}, err
}

// Scanned returns p in the form of a list that has been scanned.
func (p *PageList) Scanned() *ScannedPageList {
	pages := make([]ScannedPages, len(p.Pages))
	for i, d := range p.Pages {
		pages[i].parsed = d.Columns
	}
	return &ScannedPageList{p.HeaderChecksum, p.Clusters, pages}
}

// NumColumns returns the number of columns.
func (p *ScannedPages) NumColumns() int { return max(p.quick.columns, len(p.parsed)) }

// Columns parses the pages. Every call returns them anew, or the same if they refer to
// no bytes of the envelope.
func (p *ScannedPages) Columns() []ColumnPages {
	if p.quick.stored == nil {
		return p.parsed
	}
	return p.quick.parse()
}
