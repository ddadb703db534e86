package xrootd

import (
	"bytes"
	"math"

	"github.com/go-rntuple/go-rntuple/remote"
)

// gap is how many bytes between two ranges cost no more than another element in request and answer.
const gap = 2 * elementSize

const (
	maxRead    = 16 << 20  // bytes that one simple read asks for
	maxVectors = 256 << 20 // bytes that one vectored read asks for
)

// limits are those of the vectored reads of a server.
type limits struct {
	elements int // at most 1: it has none
	size     int // bytes of an element
}

// split returns what to read for ranges, which are in order: a list of elements for each request.
// If the server has no vectored reads, it is everything from the first to the last.
func split(ranges []remote.Range, l limits) (requests [][]element) {
	type piece struct{ begin, end int64 }
	var pieces []piece
	for _, r := range ranges {
		if n := len(pieces); n > 0 && (l.elements <= 1 || r.Offset-pieces[n-1].end <= gap) {
			pieces[n-1].end = r.End()
		} else {
			pieces = append(pieces, piece{r.Offset, r.End()})
		}
	}
	size := l.size
	if len(pieces) == 1 {
		size, l.elements = maxRead, 1
	}
	var group []element
	total := 0
	for _, p := range pieces {
		for at := p.begin; at < p.end; {
			e := element{at, int(min(p.end-at, int64(size)))}
			if at = e.end(); len(group) == l.elements || len(group) > 0 && total+e.size > maxVectors {
				requests, group, total = append(requests, group), nil, 0
			}
			group, total = append(group, e), total+e.size
		}
	}
	if len(group) > 0 {
		requests = append(requests, group)
	}
	return requests
}

// A sink takes the bytes of an answer as they arrive.
type sink interface {
	take(b []byte) error
	// complete is told that all bytes have arrived, and returns an error if there should be more.
	complete() error
	// drop makes that the bytes go nowhere from now on.
	drop()
}

// A message is a sink that keeps the bytes.
type message struct{ data []byte }

func (m *message) take(b []byte) error {
	if len(m.data)+len(b) > maxMessage {
		return violation("an answer without bytes of the file has more than %d", maxMessage)
	}
	m.data = append(m.data, b...)
	return nil
}

func (m *message) complete() error { return nil }
func (m *message) drop()           {}

// A scatter is a sink that puts the bytes of elements where they are wanted.
type scatter struct {
	handle   fileHandle
	elements []element // the first one is arriving
	vectored bool
	head     []byte         // of the first element, as far as it has arrived
	done     int            // bytes of the first element
	ranges   []remote.Range // in which there are bytes to come
	got      int64          // see drop
}

func newScatter(h fileHandle, elements []element, ranges []remote.Range) *scatter {
	return &scatter{handle: h, elements: elements, vectored: len(elements) > 1, ranges: ranges}
}

func (s *scatter) take(b []byte) error {
	for len(b) > 0 {
		if len(s.elements) == 0 {
			return violation("an answer has more bytes than were asked for")
		}
		e := s.elements[0]
		if missing := elementSize - len(s.head); s.vectored && missing > 0 {
			n := min(missing, len(b))
			s.head, b = append(s.head, b[:n]...), b[n:]
			if want := e.append(nil, s.handle); n == missing && !bytes.Equal(s.head, want) {
				return violation("a vectored read has an element %x, want %x", s.head, want)
			}
			continue
		}
		n := min(len(b), e.size-s.done)
		s.put(e.offset+int64(s.done), b[:n])
		b = b[n:]
		if s.done += n; s.done == e.size {
			s.elements, s.head, s.done = s.elements[1:], s.head[:0], 0
		}
	}
	return nil
}

// put copies bytes from an offset on to the ranges that have them.
func (s *scatter) put(at int64, b []byte) {
	for len(b) > 0 && len(s.ranges) > 0 {
		r := s.ranges[0]
		switch {
		case r.End() <= at:
			s.ranges = s.ranges[1:]
			continue
		case at < r.Offset:
			n := min(int64(len(b)), r.Offset-at)
			at, b = at+n, b[n:]
			continue
		}
		n := copy(r.Data[at-r.Offset:], b)
		at, b = at+int64(n), b[n:]
	}
}

func (s *scatter) complete() error {
	if len(s.elements) > 0 {
		return errShort
	}
	return nil
}

// drop sets got to the offset of the first byte that has not arrived, for whom more does not
// matter.
func (s *scatter) drop() {
	s.ranges = nil
	if s.got = math.MaxInt64; len(s.elements) > 0 {
		s.got = s.elements[0].offset + int64(s.done)
	}
}

// filled returns how many of the first ranges have all bytes before an offset.
func filled(ranges []remote.Range, before int64) (n int) {
	for n < len(ranges) && ranges[n].End() <= before {
		n++
	}
	return n
}
