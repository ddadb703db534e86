package rntgroot

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A source reads what becomes of a field from the branches of one tree.
type source struct {
	*shape

	// Values of a branch
	branch  *branch
	decoder *decoder
	members bool    // the branch has the members of several objects in each entry
	lengths *source // the branch has arrays of these lengths, and its decoder their items
	each    *source // the decoder reads arrays of these lengths

	// Collections: their sizes; records too: what they consist of
	counter *source
	parts   []*source

	basket *basket         // the last one
	values *columnar.Array // memory of the last values
	bytes  []byte          // memory of numbers, see gather

	lock   sync.Mutex // of counts: several sources may share a counter
	counts counts     // of a counter, the last ones
}

// counts are offsets: entry first+i has the items from offsets[i] to offsets[i+1].
type counts struct {
	first   int64
	offsets []int64
}

// read returns the values of n entries, which stay as they are until the next call. Items are
// the offsets of the items of each, if these are what is wanted, else nil.
func (s *source) read(first, n int64, items []int64) (*columnar.Array, error) {
	if s.values == nil {
		s.values = s.array("")
	}
	a := s.values
	switch {
	case s.counter != nil:
		offsets, err := s.counter.offsets(first, n)
		if err != nil {
			return nil, err
		}
		a.Len, a.Offsets = int(n), offsets
		a.Children[0], err = s.parts[0].read(first, n, offsets)
		if err == nil {
			a.Children[0].Name = s.name(0)
		}
		return a, err
	case s.branch == nil:
		a.Len = int(n)
		if items != nil {
			a.Len = int(items[n])
		}
		for i, part := range s.parts {
			child, err := part.read(first, n, items)
			if err != nil {
				return nil, err
			}
			child.Name = s.name(i)
			a.Children[i] = child
		}
		return a, nil
	}
	if s.each != nil {
		var err error
		if items, err = s.each.offsets(first, n); err != nil {
			return nil, err
		}
	}
	a.Clear(false)
	if err := s.decode(a, first, n, items); err != nil {
		return nil, fmt.Errorf("branch %q: %w", s.branch.name, err)
	}
	return a, nil
}

// offsets returns those of the items of n entries, whose number s reads. They must not be
// changed.
func (s *source) offsets(first, n int64) ([]int64, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.counts.first == first && int64(len(s.counts.offsets)) == n+1 {
		return s.counts.offsets, nil
	}
	a, err := s.read(first, n, nil)
	if err != nil {
		return nil, err
	}
	all := make([]int64, 1, n+1)
	add := func(count int64) {
		all = append(all, all[len(all)-1]+count)
		if (count < 0 || count > math.MaxInt32) && err == nil {
			err = fmt.Errorf("branch %q: entry %d: %w", s.branch.name, first+int64(len(all))-2, frame.Corrupt("%d items", count))
		}
	}
	switch v := a.Values().(type) {
	case []int8:
		each(v, add)
	case []uint8:
		each(v, add)
	case []int16:
		each(v, add)
	case []uint16:
		each(v, add)
	case []int32:
		each(v, add)
	case []uint32:
		each(v, add)
	case []int64:
		each(v, add)
	case []uint64:
		each(v, add)
	default:
		err = fmt.Errorf("branch %q: %w", s.branch.name, frame.Unsupported("%s as number of items", s.typeName))
	}
	if err == nil {
		s.counts = counts{first, all}
	}
	return all, err
}

func each[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64](v []T, add func(int64)) {
	for _, n := range v {
		add(int64(n))
	}
}

// decode appends the values of n entries to a.
func (s *source) decode(a *columnar.Array, first, n int64, items []int64) error {
	for entry := first; entry < first+n; {
		if s.basket == nil || entry < s.basket.first || entry >= s.basket.end {
			if err := s.load(entry); err != nil {
				return err
			}
		}
		end := min(s.basket.end, first+n)
		part := items
		if items != nil {
			part = items[entry-first : end-first+1]
		}
		if err := s.some(a, entry, end, part); err != nil {
			return err
		}
		entry = end
	}
	return nil
}

// load reads the basket with an entry.
func (s *source) load(entry int64) error {
	i := s.branch.find(entry)
	if i < 0 {
		return frame.Corrupt("no basket has entry %d", entry)
	}
	if s.basket == nil {
		s.basket = &basket{}
	}
	b := s.basket
	if err := s.branch.load(i, b); err != nil {
		*b = basket{}
		return err
	}
	if entry >= b.end {
		*b = basket{}
		return frame.Corrupt("no basket has entry %d", entry)
	}
	if b.ends == nil {
		if err := s.divide(b); err != nil {
			*b = basket{}
			return err
		}
	}
	return nil
}

// divide finds out where the entries of a basket end that does not tell it.
func (s *source) divide(b *basket) error {
	n := int(b.end - b.first)
	switch {
	case s.lengths == nil && !s.members && s.decoder.size > 0:
		if len(b.data) != n*s.decoder.size {
			return frame.Corrupt("%d entries of %d bytes in %d", n, s.decoder.size, len(b.data))
		}
	case s.lengths != nil && s.decoder.size > 0:
		offsets, err := s.lengths.offsets(b.first, int64(n))
		if err != nil {
			return err
		}
		b.ends = make([]int, n)
		for i := range b.ends {
			b.ends[i] = int(min(offsets[i+1], int64(len(b.data)+1))) * s.decoder.size
		}
	case s.members, s.decoder.whole:
		return frame.Unsupported("entries of unknown lengths")
	default:
		c := &cursor{b: b.data}
		b.ends = make([]int, n)
		for i := range b.ends {
			s.decoder.read(c, s.array(""), 1, false)
			b.ends[i] = len(b.data) - len(c.b)
		}
		if c.err != nil {
			return c.err
		}
	}
	if b.ends != nil && n > 0 && b.ends[n-1] != len(b.data) {
		return frame.Corrupt("%d bytes of %d entries, expected %d", len(b.data), n, b.ends[n-1])
	}
	return nil
}

// some appends the values of entries that are all in the last basket.
func (s *source) some(a *columnar.Array, entry, end int64, items []int64) error {
	b, size := s.basket, s.decoder.size
	from, to := int(entry-b.first), int(end-b.first)
	switch {
	case size > 0 && b.ends == nil:
		c := &cursor{b: b.data[from*size : to*size]}
		s.decoder.read(c, a, to-from, false)
		return c.err
	case size > 0:
		start := b.start(from)
		at := start
		for i := from; i < to; i++ {
			n := int64(1)
			if items != nil {
				n = items[i-from+1] - items[i-from]
			}
			if got := int64(b.ends[i] - at); got != n*int64(size) {
				return fmt.Errorf("entry %d: %w", b.first+int64(i),
					frame.Corrupt("%d bytes, expected %d values of %d", got, n, size))
			}
			at = b.ends[i]
		}
		c := &cursor{b: b.data[start:at]}
		s.decoder.read(c, a, (at-start)/size, s.members)
		return c.err
	}
	if s.decoder.numbers != nil && !s.members && s.each == nil {
		return s.gather(a, from, to)
	}
	start := b.start(from)
	c := &cursor{}
	for i := from; i < to && c.err == nil; i++ {
		c.b = b.data[start:b.ends[i]]
		start = b.ends[i]
		n := 1
		if items != nil {
			n = int(items[i-from+1] - items[i-from])
		}
		if n > 0 || len(c.b) > 0 || s.each != nil {
			s.decoder.read(c, a, n, s.members)
		}
		if c.err == nil && len(c.b) > 0 {
			c.fail(frame.Corrupt("%d bytes left", len(c.b)))
		}
		if c.err != nil {
			return fmt.Errorf("entry %d: %w", b.first+int64(i), c.err)
		}
	}
	return nil
}

// gather appends collections of numbers, each behind a byte count. The numbers of all are decoded
// at once.
func (s *source) gather(a *columnar.Array, from, to int) error {
	b, item := s.basket, s.decoder.numbers
	start, total := b.start(from), 0
	s.bytes = s.bytes[:0]
	c := &cursor{}
	for i := from; i < to; i++ {
		c.b = b.data[start:b.ends[i]]
		start = b.ends[i]
		version, rest := c.open()
		if version&memberwise != 0 {
			c.fail(frame.Unsupported("numbers member by member"))
		}
		n := c.count(item.size)
		s.bytes = append(s.bytes, c.take(n*item.size)...)
		if c.shut(rest); c.err == nil && len(c.b) > 0 {
			c.fail(frame.Corrupt("%d bytes left", len(c.b)))
		}
		if c.err != nil {
			return fmt.Errorf("entry %d: %w", b.first+int64(i), c.err)
		}
		total += n
		a.Offsets = append(a.Offsets, a.Offsets[len(a.Offsets)-1]+int64(n))
	}
	a.Len += to - from
	c.b = s.bytes
	item.read(c, a.Children[0], total, false)
	return c.err
}

// branches appends the branches that s reads.
func (s *source) branches(all []*branch) []*branch {
	if s.branch != nil && !slices.Contains(all, s.branch) {
		all = append(all, s.branch)
	}
	if s.counter != nil {
		all = s.counter.branches(all)
	}
	for _, p := range s.parts {
		all = p.branches(all)
	}
	return all
}

// recordOf returns the source of records of the given shape.
func recordOf(s *shape, parts []*source) *source { return &source{shape: s, parts: parts} }

// collectionOf returns the source of collections of what items reads.
func collectionOf(s *shape, counter, items *source) *source {
	return &source{shape: s, counter: counter, parts: []*source{items}}
}

// untyped returns the shape of untyped collections of records.
func untyped(record *shape) *shape {
	return &shape{shape: schema.Collection, items: []*shape{record}}
}
