package pages

import (
	"errors"
	"io"
	"os"
)

// Extents are what a file is made of on disk, where it can share them with others.
type Extents interface {
	// NextBlob returns the offset that the next payload will have.
	NextBlob() int64
	// BlockSize returns the size of the blocks that can be shared, 0 for none.
	BlockSize() int64
	// Share makes n bytes, behind all that has been written, those of another file;
	// see reflink.Clone.
	Share(to int64, src *os.File, from, n int64) error
}

// leastShared is the length of a run of bytes from which on it is shared. For less
// it takes the file system longer than copying does, and leaves more gaps.
const leastShared = leastStreamed

// Unshared are the pages of the level Share that were copied after all.
type Unshared struct {
	Pages, Bytes int64
	Refused      error // of the file system; nil if there were too few bytes in a row
}

func (u *Unshared) add(v Unshared) {
	u.Pages += v.Pages
	u.Bytes += v.Bytes
	if u.Refused == nil {
		u.Refused = v.Refused
	}
}

// count adds a page, if it should have been shared.
func (u *Unshared) count(p *copied, refused error) {
	if p.from.Level == Share {
		u.add(Unshared{1, p.size(), refused})
	}
}

// Unshared returns what has been copied instead of shared, in the clusters that
// have been written.
func (s *Sink) Unshared() Unshared { return s.unshared }

// place says where in a payload the stretches go, and has the output share their
// bytes with the sources where the file system can do it. It returns the size of
// the payload, which may have gaps but not be larger than most.
func (c *cluster) place(blob []*stretch, most int64) (size int64) {
	start, room := int64(0), most
	if c.sink.out.Extents != nil {
		start = c.sink.out.Extents.NextBlob()
	}
	for _, s := range blob {
		room -= s.n
	}
	for len(blob) > 0 {
		run, n := adjacent(blob)
		blob = blob[len(run):]
		gap, shared, err := c.shareRun(run, n, start+size, room)
		size, room = size+gap, room-gap
		for _, s := range run {
			s.at = size
			size += s.n
			for _, p := range s.pages {
				if !shared {
					c.unshared.count(p, err)
				}
			}
		}
	}
	return size
}

// adjacent returns the stretches at the start of a blob that lie one behind the
// other in a source, too, and their bytes.
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

// shareRun shares the n bytes of stretches that are adjacent, which would be
// written to pos. What is shared lies on blocks in both files: so there is a gap
// before, and the ends are copied. The error says why the file system does not
// share them.
func (c *cluster) shareRun(run []*stretch, n, pos, room int64) (gap int64, shared bool, err error) {
	part, offset := run[0].pages[0].from, run[0].offset
	if part.Level != Share || n < leastShared {
		return 0, false, nil
	}
	extents, disk := c.sink.out.Extents, diskOf(part.From.R)
	if extents == nil || disk == nil || extents.BlockSize() == 0 {
		return 0, false, errors.ErrUnsupported
	}
	block := extents.BlockSize()
	gap = (offset - pos) & (block - 1)
	first, end := (offset+block-1)&^(block-1), (offset+n)&^(block-1)
	if end-first < leastShared/2 || gap > room {
		return 0, false, nil
	}
	if err := extents.Share(pos+gap+first-offset, disk, first, end-first); err != nil {
		return 0, false, err
	}
	for _, s := range run {
		if from, to := max(first, s.offset), min(end, s.offset+s.n); from < to {
			s.shared = extent{from - s.offset, to - s.offset}
		}
	}
	return gap, true, nil
}

// diskOf returns the file that r reads, nil if it is none on disk.
func diskOf(r io.ReaderAt) *os.File {
	switch r := r.(type) {
	case *os.File:
		return r
	case interface{ Disk() *os.File }:
		return r.Disk()
	}
	return nil
}
