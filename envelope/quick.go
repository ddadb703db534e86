package envelope

import (
	"encoding/binary"
	"math"

	"github.com/go-rntuple/go-rntuple/locator"
)

// The sizes in bytes of what quickPages reads.
const (
	quickList = 12     // size and number of items of a list frame
	quickPage = 4 + 12 // number of elements and a locator in a file
	quickTail = 8 + 4  // element offset and compression settings
)

// quickPages reads the columns of a cluster, which ClusterPages.Wire describes, from
// the start of b and returns how many bytes they take. It knows only the usual
// form, with locators of type File and without bytes appended by newer versions,
// and returns 0 for everything else, correct or not. Nearly all metadata of large
// files are page lists, which this reads several times as fast.
func quickPages(b []byte) (columns []ColumnPages, n int) {
	le := binary.LittleEndian
	b, count := quickFrame(b)
	if b == nil || count > len(b)/(quickList+8) {
		return nil, 0
	}
	n = quickList + len(b)
	columns = make([]ColumnPages, count)
	slab := make([]Page, max(0, len(b)-count*(quickList+8))/quickPage)
	for i := range columns {
		col := &columns[i]
		list, count := quickFrame(b)
		if list == nil || count > len(list)/quickPage {
			return nil, 0
		}
		b = b[quickList+len(list):]
		tail := list[count*quickPage:]
		switch {
		case len(tail) == quickTail && int64(le.Uint64(tail)) >= 0:
			col.Compression = le.Uint32(tail[8:])
		case len(tail) != 8 || count > 0 || int64(le.Uint64(tail)) >= 0:
			return nil, 0
		}
		col.ElementOffset = int64(le.Uint64(tail))
		if count > len(slab) {
			return nil, 0
		}
		col.Pages, slab = slab[:count:count], slab[count:]
		for j := range col.Pages {
			elements, size := int32(le.Uint32(list)), int32(le.Uint32(list[4:]))
			if elements == math.MinInt32 || size < 0 {
				return nil, 0
			}
			col.Pages[j] = Page{NumElements: uint32(max(elements, -elements)), HasChecksum: elements < 0, Locator: locator.Locator{Offset: le.Uint64(list[8:]), Size: uint64(size)}}
			list = list[quickPage:]
		}
	}
	if len(b) > 0 {
		return nil, 0
	}
	return columns, n
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
