package rootfile

import (
	"encoding/binary"
	"io"
	"slices"

	"github.com/go-rntuple/go-rntuple/internal/wire"
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
func (s *Segment) Wire(c *wire.Codec) {
	wire.Int(c, "version", &s.Version)
	seek(c, "first", s.Big(), &s.First)
	seek(c, "last", s.Big(), &s.Last)
}

// A FreeList is the record that lists the parts of a file that are not used.
// The last one, from Header.End on, is the space into which the file may grow.
type FreeList struct {
	Key      Key
	Segments []Segment
}

// Wire describes a free list, which ends with its record.
func (l *FreeList) Wire(c *wire.Codec) {
	c.Within("key", func() { l.Key.Wire(c) })
	c.Within("segments", func() {
		for i := 0; c.Err() == nil && (c.Writing() && i < len(l.Segments) || !c.Writing() && c.Left() > 0); i++ {
			if !c.Writing() {
				l.Segments = append(l.Segments, Segment{})
			}
			c.Element(i, func() { l.Segments[i].Wire(c) })
		}
	})
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

// minGap is the length of the mark of a gap; shorter gaps have none.
const minGap = 4

// gaps are in the order of the file; no two are adjacent.
type gaps []gap

// add adds a gap, and joins it with adjacent ones.
func (g *gaps) add(added gap) {
	if added.first >= added.end {
		return
	}
	i, _ := slices.BinarySearchFunc(*g, added.first, func(a gap, first int64) int {
		if a.end < first {
			return -1
		}
		return 1
	})
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
		n := g[i].end - g[i].first
		if g[i].marked || n < minGap {
			continue
		}
		// As ROOT does: a gap this long cannot be skipped in one step.
		n = min(n, defaultBigFrom)
		b := binary.BigEndian.AppendUint32(nil, uint32(-int32(n)))
		if _, err := w.WriteAt(b, g[i].first); err != nil {
			return err
		}
		g[i].marked = true
	}
	return nil
}

// freeList returns the list to be written at the end of the file, of what is free
// after that, and the end of the file then.
func (w *Writer) freeList() (l FreeList, end int64) {
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
	n := int64(0)
	for _, g := range w.gaps {
		s := form(g.first, g.end-1)
		l.Segments = append(l.Segments, s)
		n += size(s)
	}
	// The list is part of what it describes: the end of the file decides the
	// form of the last segment, which moves the end.
	l.Key = w.directoryKey(w.top())
	w.place(&l.Key)
	end = w.end + int64(l.Key.KeyLen) + n
	last := form(end+10, limit(end+18))
	end += size(last)
	last.First = end
	l.Segments = append(l.Segments, last)
	l.Key.ObjLen = uint32(n + size(last))
	l.Key.NBytes = int32(end - w.end)
	return l, end
}
