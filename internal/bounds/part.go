package bounds

import "github.com/go-rntuple/go-rntuple/rntuple/zonemap"

// A Part is what is known of some elements of a column in a cluster, such as those of a
// page.
type Part struct {
	zonemap.Bounds

	// Of offsets, whose Bounds are of the differences between those within the part.
	first, last uint64
	filled      bool // there are elements
}

// Elements returns the Part of numbers.
func Elements[T any](all []T) Part { return Part{Bounds: Of(all)} }

// PartOf returns the Part of the elements of a column, which are offsets if it is an index column.
func PartOf[T any](all []T, index bool) *Part {
	p := Elements(all)
	if index {
		switch all := any(all).(type) {
		case []uint32:
			p = Offsets(all)
		case []uint64:
			p = Offsets(all)
		default:
			p = Part{}
		}
	}
	return &p
}

// Offsets returns the Part of offsets, as index columns have them: the ends of
// collections, counted from the start of the cluster.
func Offsets[T uint32 | uint64](all []T) Part {
	p := Part{Bounds: None(zonemap.Size)}
	if len(all) == 0 {
		return p
	}
	p.first, p.last, p.filled = uint64(all[0]), uint64(all[len(all)-1]), true
	if len(all) > 1 {
		least, greatest := all[1]-all[0], all[1]-all[0]
		last := all[0]
		for _, v := range all[1:] {
			least, greatest, last = min(least, v-last), max(greatest, v-last), v
		}
		p.Bounds = zonemap.Bounds{Kind: zonemap.Size, Least: uint64(least), Greatest: uint64(greatest)}
	}
	return p
}

// Cluster returns the bounds of all elements that a column has in a cluster, of which the
// parts tell, in order.
func Cluster(k zonemap.Kind, parts []*Part) zonemap.Bounds {
	b, last := None(k), uint64(0)
	for _, p := range parts {
		if p == nil {
			return zonemap.Bounds{}
		}
		if k == zonemap.Size && p.filled {
			n := p.first - last
			b, last = b.Join(zonemap.Bounds{Kind: zonemap.Size, Least: n, Greatest: n}), p.last
		}
		b = b.Join(p.Bounds)
	}
	return b
}
