package remote

import (
	"slices"
	"sync"
)

// blocks caches parts of a file in memory, for metadata that is read in small pieces: the start and
// the end of the file, and what was read most recently.
type blocks struct {
	mu   sync.Mutex
	ends []Range // stay
	last []Range // the latest one at the end
	next int64   // the offset at which the file goes on for who reads it in order
	step int     // bytes that were read at once then
}

const (
	minStep    = 32 << 10 // bytes that are read at once
	maxStep    = 4 << 20  // if the file is read in order
	keepBlocks = 4 << 20  // bytes that are kept, beside the ends
)

// add keeps the first or the last bytes of a file, from an offset on.
func (b *blocks) add(offset int64, data []byte) {
	if len(data) > 0 {
		b.ends = append(b.ends, Range{offset, data})
	}
}

// fill fills the ranges that are at the start or the end of the file, and returns the others.
func (b *blocks) fill(ranges []Range) (missing []Range) {
	b.mu.Lock()
	defer b.mu.Unlock()
next:
	for _, r := range ranges {
		for _, kept := range b.ends {
			if kept.Offset <= r.Offset && r.End() <= kept.End() {
				copy(r.Data, kept.Data[r.Offset-kept.Offset:])
				continue next
			}
		}
		missing = append(missing, r)
	}
	return missing
}

// read fills p with the bytes from an offset on, of a file of the given size, which has them. What
// it does not have it reads with fetch, and more, which it keeps.
func (b *blocks) read(p []byte, offset, size int64, fetch func(Range) error) error {
	b.mu.Lock()
	p, offset, size = b.known(p, offset, size)
	if len(p) == 0 {
		b.mu.Unlock()
		return nil
	}
	step := b.ahead(offset, len(p), size)
	b.mu.Unlock()
	if len(p) >= step {
		return fetch(Range{offset, p})
	}
	r := Range{offset, make([]byte, step)}
	if err := fetch(r); err != nil {
		return err
	}
	copy(p, r.Data)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.keep(r)
	return nil
}

// known fills the first and the last bytes of p that are kept, and returns the others, where they
// begin, and up to where nothing is kept.
func (b *blocks) known(p []byte, offset, size int64) (rest []byte, begin, limit int64) {
	for _, kept := range [][]Range{b.ends, b.last, b.ends} {
		for _, r := range kept {
			if r.Offset <= offset && offset < r.End() {
				n := copy(p, r.Data[offset-r.Offset:])
				p, offset = p[n:], offset+int64(n)
			}
		}
	}
	for _, kept := range [][]Range{b.last, b.ends} {
		for _, r := range kept {
			if end := offset + int64(len(p)); offset < r.Offset && r.Offset < end && end <= r.End() {
				copy(p[r.Offset-offset:], r.Data)
				p = p[:r.Offset-offset]
			}
			if offset < r.Offset {
				size = min(size, r.Offset)
			}
		}
	}
	return p, offset, size
}

// ahead returns how many bytes to read at once if n are needed at an offset. They are more and more
// if a file is read in order.
func (b *blocks) ahead(offset int64, n int, size int64) int {
	if b.step = max(b.step, minStep); offset == b.next {
		b.step = min(2*b.step, maxStep)
	} else {
		b.step = minStep
	}
	step := int(min(int64(b.step), size-offset))
	b.next = offset + int64(max(n, step))
	return step
}

// keep keeps a range, and forgets what was read before others.
func (b *blocks) keep(r Range) {
	if r.Offset == 0 && len(r.Data) <= 2*minStep {
		b.ends = append(b.ends, r)
		return
	}
	b.last = append(b.last, r)
	total := 0
	for _, r := range b.last {
		total += len(r.Data)
	}
	for total > keepBlocks {
		total -= len(b.last[0].Data)
		b.last = slices.Delete(b.last, 0, 1)
	}
}
