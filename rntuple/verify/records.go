package verify

import (
	"fmt"
	"slices"
	"sort"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
)

// A record is a part of the file that begins with a key.
type record struct {
	begin, payload, end int64
	class, name         string
	objLen              uint32
}

// walk goes from record to record. Where there is none it continues with the next known
// record: the space between records need not be valid, because ROOT before 6.36 left
// unmarked gaps in files that it updated. What a free segment holds means nothing, unless
// it is a known record: the marks of gaps are written last, or not at all if the writer stops.
func (c *container) walk() {
	if c.file == nil {
		return
	}
	starts := append(c.blobs(), c.anchorsOfSets()...)
	for at := range c.known {
		starts = append(starts, at)
	}
	slices.Sort(starts)
	lost := int64(0)
	for pos := int64(c.file.Header.Begin); pos < c.end && c.stopped() == nil; {
		i := sort.Search(len(starts), func(i int) bool { return starts[i] > pos })
		next := c.end
		if i < len(starts) {
			next = min(next, starts[i])
		}
		if end := c.freeUpTo(pos); end > pos && end <= next && (i == 0 || starts[i-1] != pos) {
			pos = end
			continue
		}
		r, gap, ok := c.recordAt(pos)
		switch {
		case !ok:
			lost += next - pos
			pos = next
			continue
		case r.end > next && gap:
			c.corrupt("gap", pos, "of %d bytes, but there is a record at %#x", r.end-pos, next)
		case r.end > next:
			c.corrupt("record", pos, "of %d bytes reaches over the one at %#x", r.end-pos, next)
		}
		if !gap {
			c.records = append(c.records, r)
			c.summary.Records++
		}
		pos = min(r.end, next)
	}
	if lost > 0 {
		c.skip("%d bytes between the records, which are not marked as gaps", lost)
	}
	c.segments()
}

// freeUpTo returns the end of the free segment that pos is in, or 0 if it is in none.
func (c *container) freeUpTo(pos int64) int64 {
	i := sort.Search(len(c.free), func(i int) bool { return c.free[i].Last >= pos })
	if i == len(c.free) || c.free[i].First > pos {
		return 0
	}
	return min(c.free[i].Last+1, c.end)
}

// blobs returns the positions of the records whose payloads are envelopes and pages.
func (c *container) blobs() (starts []int64) {
	end := int64(0)
	for _, e := range c.extents {
		begin := int64(e.offset)
		if begin > end {
			for _, keyLen := range []int64{42, 34} { // those of a big and a small key
				if r, gap, ok := c.recordAt(begin - keyLen); ok && !gap && r.class == rootfile.BlobClassName && r.payload == begin {
					starts = append(starts, r.begin)
				}
			}
		}
		end = max(end, begin+int64(e.size))
	}
	return starts
}

// anchorsOfSets returns the positions of the records that hold the anchors of
// attribute sets, which no directory lists.
func (c *container) anchorsOfSets() (starts []int64) {
	for _, s := range c.sets {
		found := false
		for _, version := range []uint16{rootfile.KeyVersion, rootfile.KeyVersion + rootfile.BigVersion} {
			k := rootfile.Key{Version: version, Class: anchor.ClassName, Name: s.Name}
			r, gap, ok := c.recordAt(int64(s.Anchor.Offset) - int64(k.Size()))
			if ok && !gap && r.class == k.Class && r.name == k.Name && r.payload == int64(s.Anchor.Offset) &&
				r.end == r.payload+int64(s.Anchor.Size) && r.objLen == s.AnchorLength {
				starts, found = append(starts, r.begin), true
			}
		}
		if !found {
			c.report(Problem{RNTuple: s.path, Part: fmt.Sprintf("attribute set %q", s.Name),
				Offset: int64(s.Anchor.Offset), Check: Locators,
				Err: frame.Corrupt("the anchor is not in a record of its own: the key before it is damaged")}.nowhere())
		}
	}
	return starts
}

// recordAt returns the record, or the gap, at pos; ok reports whether there is one.
func (c *container) recordAt(pos int64) (r record, gap, ok bool) {
	var k rootfile.Key
	const most = 256 // enough for nearly all keys
	for _, n := range []int64{most, 1 << 16} {
		b, err := c.bytes(pos, min(n, c.end-pos))
		if err != nil || len(b) < 4 {
			return r, false, false
		}
		w := frame.NewReader(b, "", pos).BigEndian()
		var size int32
		frame.Int(w, "", &size)
		if size < 0 {
			end := pos - int64(size)
			return record{begin: pos, payload: pos, end: end}, true, end <= c.end
		}
		w = frame.NewReader(b, "", pos).BigEndian()
		if k.Wire(w); w.Err() == nil {
			break
		}
		if n > most || int64(len(b)) < n {
			return r, false, false
		}
	}
	// The keys of baskets are longer than they need to be. A pre-release version of
	// ROOT gave blobs a big key with the length of a small one.
	long := int(k.KeyLen) - k.Size()
	if c.old && k.Class == rootfile.BlobClassName && k.Big() && long == -8 {
		k.KeyLen, long = k.KeyLen+8, 0
	}
	r = record{pos, pos + int64(k.KeyLen), pos + int64(k.NBytes), k.Class, k.Name, k.ObjLen}
	ok = k.SeekKey == pos && knownVersion(k.Version, rootfile.KeyVersion) && r.end >= r.payload && r.end <= c.end &&
		(long == 0 || long > 0 && k.Class != rootfile.BlobClassName)
	return r, false, ok
}

// segments checks that no record lies in a free segment.
func (c *container) segments() {
	for _, s := range c.free {
		i := sort.Search(len(c.records), func(i int) bool { return c.records[i].end > s.First })
		if i < len(c.records) && c.records[i].begin <= s.Last {
			c.corrupt("free list", c.file.Header.SeekFree, "the segment from %#x to %#x is not free: there is a record at %#x",
				s.First, s.Last, c.records[i].begin)
		}
	}
}

// contain checks that envelopes and pages lie in records of their own.
func (c *container) contain() {
	if c.file == nil {
		return
	}
	extents := c.extents
	i := 0
	for j := 0; j < len(extents); {
		e := extents[j]
		begin, end := int64(e.offset), int64(e.offset+e.size)
		for i < len(c.records) && c.records[i].end <= begin {
			i++
		}
		if i < len(c.records) && c.records[i].class == rootfile.BlobClassName && begin >= c.records[i].payload &&
			end <= c.records[i].end {
			j++
			continue
		}
		// One problem for everything that lies there.
		next := c.end
		if i < len(c.records) && c.records[i].begin > begin {
			next = c.records[i].begin
		} else if i < len(c.records) {
			next = c.records[i].end
		}
		first := j
		for j++; j < len(extents) && int64(extents[j].offset) < next; j++ {
			end = max(end, int64(extents[j].offset+extents[j].size))
		}
		p := c.at(e)
		p.Check, p.Err = Locators,
			frame.Corrupt("the %d bytes from %#x on are not in a record: the key before them is damaged", end-begin, begin)
		if more := j - first - 1; more > 0 {
			p.Err = fmt.Errorf("%w; there are %d more in these bytes", p.Err, more)
		}
		c.report(p)
	}
}
