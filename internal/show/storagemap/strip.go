package storagemap

import (
	"cmp"
	"slices"
)

// An Extent is a range of bytes in the file: that of a page with its checksum, or of an
// envelope.
type Extent struct {
	Off, End int64 // End is behind the last byte
	Cluster  int   // its number, or Metadata
}

// Metadata stands for the cluster of an envelope.
const Metadata = -1

// A Mark is what a row of the strip shows in one place: an extent, or several that are
// too small to be told apart.
type Mark struct {
	Extent        // from the first to the last; the cluster is that of the largest
	Pages   int   // number of extents
	Bytes   int64 // in these extents
	Least   int64 // bytes in the smallest
	Largest int64 // bytes in the largest
}

// Union returns the extents by offset, without empty ones and without the bytes that
// another one has as well: pages may share their bytes. It changes extents.
func Union(extents []Extent) []Extent {
	slices.SortStableFunc(extents, func(a, b Extent) int {
		return cmp.Or(cmp.Compare(a.Off, b.Off), cmp.Compare(b.End, a.End))
	})
	end := int64(0)
	kept := extents[:0]
	for _, e := range extents {
		e.Off = max(e.Off, end)
		if e.Off < e.End {
			kept = append(kept, e)
			end = e.End
		}
	}
	return kept
}

// Gaps returns what lies between extents that Union has returned.
func Gaps(extents []Extent) []Extent {
	var gaps []Extent
	for i := 1; i < len(extents); i++ {
		if gap := (Extent{extents[i-1].End, extents[i].Off, Metadata}); gap.Off < gap.End {
			gaps = append(gaps, gap)
		}
	}
	return gaps
}

// Bytes returns the sum of the sizes of extents.
func Bytes(extents []Extent) int64 {
	n := int64(0)
	for _, e := range extents {
		n += e.End - e.Off
	}
	return n
}

// Marks returns the marks of extents that Union has returned. Neighbours are put together
// while they lie within resolution bytes, so that there are at most two marks, and one
// more, for every resolution bytes of the file.
func Marks(extents []Extent, resolution int64) []Mark {
	var marks []Mark
	for _, e := range extents {
		n := e.End - e.Off
		if len(marks) > 0 {
			if m := &marks[len(marks)-1]; e.End-m.Off <= resolution {
				m.End = e.End
				m.Pages++
				m.Bytes += n
				m.Least = min(m.Least, n)
				if n > m.Largest {
					m.Largest, m.Cluster = n, e.Cluster
				}
				continue
			}
		}
		marks = append(marks, Mark{Extent: e, Pages: 1, Bytes: n, Least: n, Largest: n})
	}
	return marks
}
