package rootfile

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/go-rntuple/go-rntuple/frame"
)

// A Segment is a part of a file that no record uses.
type Segment struct {
	Version     uint16 // 1; more than 1000 in the big form
	First, Last int64  // bytes, both included
}

// segmentVersion is the class version of a segment in the small form.
const segmentVersion = 1

// Big reports whether the segment has the big form.
func (s *Segment) Big() bool { return s.Version > BigVersion }

// Wire describes a segment.
func (s *Segment) Wire(c *frame.Codec) {
	frame.Int(c, "version", &s.Version)
	seek(c, "first", s.Big(), &s.First)
	seek(c, "last", s.Big(), &s.Last)
}

// A FreeList is the record that lists the parts of a file that are not used.
// The last one, from Header.End on, is the space into which the file may grow.
type FreeList struct {
	Key      Key
	Segments []Segment
	Extra    []byte // zeros after the segments: TFile writes some if it has used a segment for the list itself
}

// Wire describes a free list, which ends with its record or with zeros.
func (l *FreeList) Wire(c *frame.Codec) {
	c.Within("key", func() { l.Key.Wire(c) })
	c.Within("segments", func() {
		zeros := c.Zeros()
		for i := 0; c.Err() == nil && (c.Writing() && i < len(l.Segments) || !c.Writing() && c.Left() > zeros); i++ {
			if !c.Writing() {
				l.Segments = append(l.Segments, Segment{})
			}
			c.Element(i, func() { l.Segments[i].Wire(c) })
		}
	})
	c.Rest(&l.Extra)
}

// freeList reads the free list of the file.
func (f *File) freeList() (l FreeList, err error) {
	const what = "free list"
	b, err := f.read(what, f.Header.SeekFree, int64(f.Header.NBytesFree))
	if err != nil {
		return l, err
	}
	return decoded[FreeList](b, what, f.Header.SeekFree)
}

// growth is the step in which ROOT lets a file grow.
const growth = 1000000000

// limit returns the last byte of the space for growth that ROOT lists for a file
// with the given end: where the big form begins, or the next multiple of growth.
func limit(end int64) int64 {
	if end < defaultBigFrom {
		return defaultBigFrom
	}
	return (end/growth + 1) * growth
}

// A gap is a part of the file that belonged to a record which is no longer needed.
type gap struct {
	first, end int64
	marked     bool // the file has the negative length that marks it as a gap
}

func (g gap) size() int64 { return g.end - g.first }

// minGap is the length of the mark of a gap; shorter gaps have none.
const minGap = 4

// gaps are in the order of the file; no two are adjacent.
type gaps []gap

// add adds a gap, and joins it with adjacent ones.
func (g *gaps) add(added gap) {
	if added.first >= added.end {
		return
	}
	i := sort.Search(len(*g), func(i int) bool { return (*g)[i].end >= added.first })
	j := i // those from i up to j are adjacent to the new one
	for ; j < len(*g) && (*g)[j].first <= added.end; j++ {
		added.first, added.end = min(added.first, (*g)[j].first), max(added.end, (*g)[j].end)
		added.marked = false
	}
	*g = slices.Replace(*g, i, j, added)
}

// mark writes the negative length at the start of every gap, so that programs that
// go from record to record skip it.
func (g gaps) mark(w io.WriterAt) error {
	for i := range g {
		if g[i].marked || g[i].size() < minGap {
			continue
		}
		if _, err := w.WriteAt(markOf(g[i].size()), g[i].first); err != nil {
			return fmt.Errorf("mark %d free bytes at offset %#x: %w", g[i].size(), g[i].first, err)
		}
		g[i].marked = true
	}
	return nil
}

// markOf returns the mark of a gap of n bytes.
func markOf(n int64) []byte {
	n = min(n, defaultBigFrom) // as ROOT does: a longer gap cannot be skipped in one step
	return binary.BigEndian.AppendUint32(nil, uint32(-int32(n)))
}

// fill writes b, which must fit, to the start of the gap with index i, and marks what is
// left of it in the same write.
func (g *gaps) fill(w io.WriterAt, i int, b []byte) error {
	at := &(*g)[i]
	first := at.first
	at.first += int64(len(b))
	if at.size() > 0 {
		b, at.marked = append(b, markOf(at.size())...), true
	} else {
		*g = slices.Delete(*g, i, i+1)
	}
	_, err := w.WriteAt(b, first)
	return err
}

// fit returns the index of the smallest gap for a record with the key k and a payload of
// n bytes, or -1 if there is none. What is left of the gap must have room for a mark, or,
// if whole is set, may be nothing.
func (w *Writer) fit(k Key, n int64, whole bool) int {
	best := -1
	for i, g := range w.gaps {
		at := k
		w.place(&at, g.first)
		left := g.size() - int64(at.KeyLen) - n
		if (left >= minGap || left == 0 && whole) && (best < 0 || g.size() < w.gaps[best].size()) {
			best = i
		}
	}
	return best
}

// minReserve is the number of bytes that are reserved at once for short-lived records.
const minReserve = 4 << 10

// allot is like fit, but makes a gap with room to spare if there is none that fits, in a file
// that is committed again and again, and for a record that replaces another one. These leave
// as many records free as they write, which would lie among pages, and soon be too small.
func (w *Writer) allot(k Key, n int64, whole, replaces bool) (int, error) {
	i := w.fit(k, n, whole)
	if i >= 0 || w.commits == 0 && !replaces {
		return i, nil
	}
	if err := w.flush(); err != nil {
		return 0, w.fail(err)
	}
	room := 2 * (int64(k.Size()) + n)
	if w.commits > 0 {
		room = max(room, minReserve)
	}
	end := w.end + room
	if _, err := (guarded{w}).WriteAt([]byte{0}, end-1); err != nil { // the file must not end before
		return 0, w.fail(fmt.Errorf("write at offset %#x: %w", end-1, err))
	}
	// Not joined with a gap before it: if there is no commit, no record must reach from what
	// the file lists as free beyond its end.
	w.gaps = append(w.gaps, gap{first: w.end, end: end})
	w.startAt(end)
	return w.fit(k, n, whole), nil
}

// positionOf returns where a record in the gap with index i begins; if i is negative, at
// the end of the file.
func (w *Writer) positionOf(i int) int64 {
	if i < 0 {
		return w.end
	}
	return w.gaps[i].first
}

// freeList returns the list of what is free after the next commit, and the index of the
// gap to be written to, or -1 for the end of the file.
func (w *Writer) freeList() (l FreeList, i int, err error) {
	form := func(first, last int64) Segment {
		s := Segment{Version: segmentVersion, First: first, Last: last}
		if last > w.opts.BigFrom {
			s.Version += BigVersion
		}
		return s
	}
	size := func(s Segment) int64 {
		if s.Big() {
			return 18
		}
		return 10
	}
	all := func() (free gaps, n int64) {
		free = slices.Clone(w.gaps)
		for _, g := range slices.Concat(w.foreign, w.freed, w.settled) {
			free.add(g)
		}
		for _, g := range free {
			n += size(form(g.first, g.end-1))
		}
		return free, n
	}
	// The list is part of what it describes. In a gap, of which something is left, it may
	// be behind what becomes free before the gap. At the end of the file, that end decides
	// the form of the last segment, which moves the end.
	l.Key = w.directoryKey(w.top())
	_, n := all()
	const longest = 18
	if i, err = w.allot(l.Key, n+3*longest, false, w.header.SeekFree != 0); err != nil {
		return l, i, err
	}
	free, n := all()
	last := form(w.end, limit(w.end))
	if i >= 0 {
		at := w.gaps[i].first
		w.place(&l.Key, at)
		j := slices.IndexFunc(free, func(g gap) bool { return g.end > at })
		if before := (gap{first: free[j].first, end: at}); before.size() > 0 {
			free = slices.Insert(free, j, before)
			n += size(form(before.first, before.end-1))
			j++
		}
		free[j].first = at + int64(l.Key.KeyLen) + n + size(last)
	} else {
		w.place(&l.Key, w.end)
		end := w.end + int64(l.Key.KeyLen) + n
		last = form(end+10, limit(end+18))
		last.First = end + size(last)
	}
	l.Key.Datime = w.now()
	for _, g := range free {
		l.Segments = append(l.Segments, form(g.first, g.end-1))
	}
	l.Segments = append(l.Segments, last)
	l.Key.ObjLen = uint32(n + size(last))
	l.Key.NBytes = int32(l.Key.KeyLen) + int32(l.Key.ObjLen)
	return l, i, nil
}
