package pagesource

import (
	"context"

	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
)

// ReadSpans fills dst with the elements of spans, counted from the start of the cluster. Of
// pages that hold few of them, no others are decoded. If more is set, the next call may need
// the last page again, so that it is kept.
func (c *Column[T]) ReadSpans(ctx context.Context, cluster *Cluster, spans []columnar.Span, dst []T, more bool) error {
	if err := c.enter(cluster); err != nil {
		return err
	}
	now, page := c.now, -1
	var begin, end, n int64 // of the page, and elements that are wanted of it
	here := c.here[:0]      // counted in the page
	flush := func(more bool) (err error) {
		if page >= 0 {
			err = c.readSome(ctx, page, here, dst[:n], more)
		}
		dst, here, page, begin, end, n = dst[n:], here[:0], -1, 0, 0, 0
		return err
	}
	for _, s := range spans {
		if err := c.begin(s.First, s.N); err != nil {
			return err
		}
		if k := min(s.N, now.Zeros-s.First); k > 0 {
			if err := flush(false); err != nil {
				return err
			}
			clear(dst[:k])
			dst, s = dst[k:], columnar.Span{First: s.First + k, N: s.N - k}
		}
		for s.N > 0 {
			if s.First < begin || s.First >= end {
				if err := flush(false); err != nil {
					return err
				}
				page = c.find(s.First)
				begin, end = now.ends[page]-int64(now.Pages[page].NumElements), now.ends[page]
			}
			k := min(s.N, end-s.First)
			here, n = append(here, columnar.Span{First: s.First - begin, N: k}), n+k
			s = columnar.Span{First: s.First + k, N: s.N - k}
		}
	}
	err := flush(more)
	c.here = here
	return err
}

// readSome fills dst with the elements of spans, counted in page p. If keep is set, the page
// will be needed again.
func (c *Column[T]) readSome(ctx context.Context, p int, spans []columnar.Span, dst []T, keep bool) error {
	size := int(c.now.Pages[p].NumElements)
	c.forward = true
	switch {
	case len(dst) == size && len(spans) == 1:
		return c.into(ctx, p, dst)
	case !keep && !c.keep.Load() && 32*len(spans)+8*len(dst) < size && c.decoders[c.now.Column.Representation].Ranges():
		if read, err := c.decodeSome(ctx, p, spans, dst); read || err != nil {
			return err
		}
	}
	elements, err := c.page(ctx, p)
	if err != nil {
		return err
	}
	for _, s := range spans {
		dst = dst[copy(dst, elements[s.First:][:s.N]):]
	}
	return nil
}

// decodeSome is readSome without the other elements of the page, unless it is decoded
// already.
func (c *Column[T]) decodeSome(ctx context.Context, p int, spans []columnar.Span, dst []T) (read bool, err error) {
	s := &c.now.slots[p]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil || s.elements != nil {
		return false, s.err
	}
	s.done = true
	decoder, n := c.decoders[c.now.Column.Representation], int(c.now.Pages[p].NumElements)
	return true, c.plain(ctx, c.now, p, func(page []byte) error {
		for _, s := range spans {
			if err := decoder.DecodeRange(dst[:s.N], page, n, int(s.First)); err != nil {
				return err
			}
			dst = dst[s.N:]
		}
		return nil
	})
}
