package pagecopy

import (
	"cmp"
	"errors"
	"io"
	"os"
)

// minCloned is the size of the smallest run of bytes that is cloned. A smaller one
// takes the file system longer than copying takes, and leaves more gaps.
const minCloned = 64 << 10

// Uncloned counts the pages of the level Clone that were copied instead.
type Uncloned struct {
	Pages, Bytes int64
	Refused      error // of the file system; nil if the runs of bytes were too small
}

func (u *Uncloned) add(v Uncloned) {
	u.Pages += v.Pages
	u.Bytes += v.Bytes
	u.Refused = cmp.Or(u.Refused, v.Refused)
}

// count counts a copied page of c, of size bytes, if it should have been cloned.
func (u *Uncloned) count(c *Chunk, size int64, refused error) {
	if c.Level == Clone {
		u.add(Uncloned{1, size, refused})
	}
}

// Uncloned returns what has been copied instead of cloned, in the clusters that have
// been written so far.
func (c *Copier) Uncloned() Uncloned {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.uncloned
}

// layOut determines where in a payload the stretches go, and clones them where the
// file system can. It returns the size of the payload, which may have gaps but is not
// larger than maxPayload.
func (p *placement) layOut(blob []*stretch) (size int64) {
	start, room := int64(0), p.maxPayload()
	if p.out.Extents != nil {
		start = p.out.Extents.NextBlob()
	}
	for _, s := range blob {
		room -= s.n
	}
	for len(blob) > 0 {
		run, n := adjacent(blob)
		blob = blob[len(run):]
		gap, cloned, err := p.clone(run, n, start+size, room)
		size, room = size+gap, room-gap
		for _, s := range run {
			s.at = size
			size += s.n
			for _, c := range s.pages {
				if !cloned {
					p.uncloned.count(c.from, c.size, err)
				}
			}
		}
	}
	return size
}

// adjacent returns the stretches at the start of a blob that are adjacent in their
// source, and the sum of their sizes.
func adjacent(blob []*stretch) (run []*stretch, n int64) {
	first := blob[0]
	for i, s := range blob {
		if s.pages[0].from.From != first.pages[0].from.From || s.offset != first.offset+n {
			return blob[:i], n
		}
		n += s.n
	}
	return blob, n
}

// clone clones the n bytes of a run of adjacent stretches, whose place in the file is
// pos but for a gap, of at most room bytes, that clone puts before them: only whole
// blocks can be cloned, and they must be aligned in both files. What is before the
// first and behind the last whole block remains to be copied. The error is that of the
// file system.
func (p *placement) clone(run []*stretch, n, pos, room int64) (gap int64, cloned bool, err error) {
	from, offset := run[0].pages[0].from, run[0].offset
	if from.Level != Clone || n < minCloned {
		return 0, false, nil
	}
	extents, disk := p.out.Extents, diskOf(from.From.R)
	if extents == nil || disk == nil || extents.BlockSize() == 0 {
		return 0, false, errors.ErrUnsupported
	}
	block := extents.BlockSize()
	gap = (offset - pos) & (block - 1)
	first, end := (offset+block-1)&^(block-1), (offset+n)&^(block-1)
	if end-first < minCloned/2 || gap > room {
		return 0, false, nil
	}
	if err := extents.Clone(pos+gap+first-offset, disk, first, end-first); err != nil {
		return 0, false, err
	}
	for _, s := range run {
		if from, to := max(first, s.offset), min(end, s.offset+s.n); from < to {
			s.cloned = extent{from - s.offset, to - s.offset}
		}
	}
	return gap, true, nil
}

// diskOf returns the file on disk that r reads, or nil if there is none.
func diskOf(r io.ReaderAt) *os.File {
	switch r := r.(type) {
	case *os.File:
		return r
	case interface{ Disk() *os.File }:
		return r.Disk()
	}
	return nil
}
