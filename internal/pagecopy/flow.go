package pagecopy

import (
	"context"
	"slices"
	"sort"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/bufpool"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
)

type flow[T column.Element] struct {
	from  *pagesource.Column[T]
	to    *pagesink.Buffer[T]
	whole Whole

	// of the cluster that is being read:
	cluster *pagesource.Cluster
	chunk   *Chunk        // nil if no page can be copied
	ends    []int64       // of its pages, counted from the start of the cluster
	waiting columnar.Span // the first elements of a page, which were to be appended
	counted int64         // elements that the sink counts as waiting

	// of the spans that were read last:
	elements []T
	lease    bufpool.Lease // of elements
	piece                  // what follows them
	pieces   []piece
	more     bool
}

// A piece is what is appended at once: elements, and then perhaps a page.
type piece struct {
	spans []columnar.Span
	page  int // its number in the cluster, or -1
}

// readSize limits the memory in bytes of elements that are read at once.
const readSize = 4 << 20

func (f *flow[T]) Read(ctx context.Context, c *pagesource.Cluster, spans []columnar.Span, more bool) error {
	if err := f.enter(c); err != nil {
		return err
	}
	f.more, f.pieces = more, f.divide(spans, more)
	f.shiftPiece()
	return f.next(ctx)
}

// enter makes a cluster the one that is being read.
func (f *flow[T]) enter(c *pagesource.Cluster) (err error) {
	if c == f.cluster {
		return nil
	}
	f.cluster, f.ends = c, f.ends[:0]
	if f.chunk, err = f.whole.Pages(c); err != nil || f.chunk == nil {
		return err
	}
	if !f.to.Takes(f.chunk.Column.Format(), f.chunk.Compression) {
		f.chunk = nil
		return nil
	}
	end := f.chunk.Zeros
	for _, p := range f.chunk.Pages {
		end += int64(p.NumElements)
		f.ends = append(f.ends, end)
	}
	return nil
}

// divide divides spans, and the elements that wait, into pieces. If more is set, elements may
// wait afterwards.
func (f *flow[T]) divide(spans []columnar.Span, more bool) (pieces []piece) {
	if f.chunk == nil || len(spans) == 0 {
		return []piece{{spans, -1}}
	}
	if w := f.waiting; w.N > 0 {
		spans = append(columnar.AddSpan([]columnar.Span{w}, spans[0]), spans[1:]...)
		f.waiting = columnar.Span{}
	}
	page := sort.Search(len(f.ends), func(i int) bool { return f.ends[i] > spans[0].First })
	if !f.hasPage(page, spans, more) {
		return []piece{{spans, -1}} // most often, if entries are chosen here and there
	}
	var some []columnar.Span
	for i, s := range spans {
		for s.N > 0 {
			if page = f.behind(page, s.First); page == len(f.ends) || f.begin(page) >= s.First+s.N {
				some = append(some, s)
				break
			}
			begin, end := f.begin(page), f.ends[page]
			inside := end <= s.First+s.N
			switch p := f.chunk.Pages[page]; {
			case begin == end:
				end = s.First
			case !p.HasChecksum && !p.HasCRC32: // nobody could tell later that it was damaged before
				end = min(end, s.First+s.N)
				some = columnar.AddSpan(some, columnar.Span{First: s.First, N: end - s.First})
			case !inside && !(more && i == len(spans)-1):
				end = s.First + s.N
				some = columnar.AddSpan(some, s)
			default:
				if begin > s.First {
					some = columnar.AddSpan(some, columnar.Span{First: s.First, N: begin - s.First})
				}
				if !inside {
					f.waiting = columnar.Span{First: begin, N: s.First + s.N - begin}
					return append(pieces, piece{some, -1})
				}
				pieces, some = append(pieces, piece{some, page}), nil
			}
			s = columnar.Span{First: end, N: s.First + s.N - end}
			page++
		}
	}
	return append(pieces, piece{some, -1})
}

// hasPage reports whether, from a page on, a span has all elements of a page, or, if more is set,
// the last one has the first elements of one.
func (f *flow[T]) hasPage(page int, spans []columnar.Span, more bool) bool {
	for i, s := range spans {
		page = f.behind(page, s.First)
		if page == len(f.ends) {
			return false
		}
		if end := s.First + s.N; f.begin(page) < end && (f.ends[page] <= end || more && i == len(spans)-1) {
			return true
		}
	}
	return false
}

// behind returns the first page, from the given one on, that does not begin before an element.
func (f *flow[T]) behind(page int, first int64) int {
	for page < len(f.ends) && f.begin(page) < first {
		page++
	}
	return page
}

// begin returns where a page begins, counted from the start of the cluster.
func (f *flow[T]) begin(page int) int64 {
	return f.ends[page] - int64(f.chunk.Pages[page].NumElements)
}

// shiftPiece makes the next piece the current one.
func (f *flow[T]) shiftPiece() { f.piece, f.pieces = f.pieces[0], f.pieces[1:] }

// next reads some of f.spans.
func (f *flow[T]) next(ctx context.Context) error {
	n, room := int64(0), readSize/column.Size[T]()
	some, cut := f.spans, columnar.Span{}
	for i, s := range f.spans {
		if s.N > room-n {
			some = append(slices.Clone(f.spans[:i]), columnar.Span{First: s.First, N: room - n})
			f.spans, cut = f.spans[i+1:], columnar.Span{First: s.First + room - n, N: s.N - (room - n)}
			n = room
			break
		}
		n += s.N
	}
	if cut.N > 0 {
		f.spans = append([]columnar.Span{cut}, f.spans...)
	} else {
		f.spans = nil
	}
	f.elements, f.lease = bufpool.Borrow[T](int(n))
	return f.from.ReadSpans(ctx, f.cluster, some, f.elements, f.more || len(f.spans)+len(f.pieces) > 0)
}

func (f *flow[T]) Append(ctx context.Context, shift uint64) error {
	f.to.Reserve(f.waiting.N - f.counted)
	f.counted = f.waiting.N
	for {
		if numbers, ok := any(f.elements).([]uint64); ok && shift != 0 {
			if err := raise(numbers, shift); err != nil {
				return err
			}
		}
		f.to.AddAll(f.elements)
		f.lease.GiveBack()
		if f.elements = nil; len(f.spans) == 0 {
			if err := f.copyPage(ctx); err != nil {
				return err
			}
			if len(f.pieces) == 0 {
				return nil
			}
			f.shiftPiece()
		}
		if err := f.next(ctx); err != nil {
			return err
		}
	}
}

// copyPage appends the page of the current piece, if it has one.
func (f *flow[T]) copyPage(ctx context.Context) error {
	if f.page < 0 {
		return nil
	}
	page := f.chunk.Pages[f.page]
	size, err := f.chunk.From.StoredSize(f.chunk.Column.Format(), page)
	if err != nil {
		return f.chunk.fail(f.chunk.Column, err)
	}
	f.from.Hand(f.page)
	f.to.Insert(f.chunk.stored(ctx, f.chunk.Column, page, size))
	f.whole.Copied(int64(page.StoredSize()))
	return nil
}

func (f *flow[T]) Release(ctx context.Context) error {
	if f.waiting.N == 0 {
		return nil
	}
	f.more, f.piece, f.pieces = true, piece{[]columnar.Span{f.waiting}, -1}, nil
	f.waiting = columnar.Span{}
	if err := f.next(ctx); err != nil {
		return err
	}
	return f.Append(ctx, 0)
}
