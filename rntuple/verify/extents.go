package verify

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/locator"
)

// An extent is the part of the file that an envelope or a page occupies, or a chunk of one.
type extent struct {
	offset, size uint64
	owner        int32
	cluster      int32 // number of the cluster, or the constant envelopes
	column       int32 // number of the column, or index of the envelope
	page         int32
}

// envelopes is the cluster of extents that belong to envelopes.
const envelopes = -1

// An owner is an RNTuple that has extents.
type owner struct {
	path      string
	envelopes []string
}

// place adds the extents of a block: one unless it is split over several keys. It omits
// parts beyond the end of the file, because reading them fails anyway.
func (n *ntuple) place(l locator.Locator, e extent) {
	if l.Size == 0 || !n.located(l) {
		return
	}
	chunks, err := anchor.Split(l.Size, n.blobs.MaxKeySize)
	if err != nil {
		return
	}
	e.offset, e.size = l.Offset, l.Size
	if chunks.Len() == 1 {
		n.extents = append(n.extents, e)
		return
	}
	e.size = n.blobs.MaxKeySize
	if !n.located(locator.At(e.offset, e.size)) {
		return
	}
	n.extents = append(n.extents, e)
	_, first := chunks.Range(0)
	offsets := make([]byte, e.size-first)
	if _, err := n.r.ReadAt(offsets, int64(e.offset+first)); err != nil {
		return
	}
	for i := 1; i < chunks.Len(); i++ {
		lo, hi := chunks.Range(i)
		e.offset, e.size = binary.LittleEndian.Uint64(offsets[8*(i-1):]), hi-lo
		if n.located(locator.At(e.offset, e.size)) {
			n.extents = append(n.extents, e)
		}
	}
}

func byPlace(a, b extent) int {
	return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.size, b.size))
}

func (v *verifier) sortExtents() { slices.SortStableFunc(v.extents, byPlace) }

// at returns a Problem with the place of the envelope or page that occupies e.
func (v *verifier) at(e extent) Problem {
	o := v.owners[e.owner]
	p := Problem{RNTuple: o.path, Offset: int64(e.offset)}.nowhere()
	if e.cluster == envelopes {
		p.Part = o.envelopes[e.column]
		return p
	}
	p.Cluster, p.Column, p.Page = int(e.cluster), int(e.column), int(e.page)
	return p
}

// overlaps checks that no two extents overlap unless they are the same.
//
// Specification: "Page Locations".
func (v *verifier) overlaps() {
	extents := v.extents
	last := 0 // index of the extent so far that ends last
	for i := 1; i < len(extents); i++ {
		a, b := extents[last], extents[i]
		same := a.offset == b.offset && a.size == b.size && (a.cluster == envelopes) == (b.cluster == envelopes)
		if b.offset < a.offset+a.size && !same {
			p := v.at(b)
			p.Check, p.Err = Locators, frame.Corrupt("the %d bytes from %#x on overlap those of %s, %d from %#x on",
				b.size, b.offset, where(v.at(a)), a.size, a.offset)
			v.report(p)
		}
		if b.offset+b.size > a.offset+a.size {
			last = i
		}
	}
}

func where(p Problem) string {
	if p.Cluster < 0 {
		return fmt.Sprintf("the %s", p.Path())
	}
	return p.Path()
}
