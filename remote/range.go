package remote

import (
	"cmp"
	"context"
	"io"
	"slices"
)

// A Range is a part of a file that is wanted: the bytes from Offset on, which Data is filled with.
type Range struct {
	Offset int64
	Data   []byte
}

// End returns the offset behind the range.
func (r Range) End() int64 { return r.Offset + int64(len(r.Data)) }

// A RangeReader is an io.ReaderAt that can read several ranges of a file with one request. Readers
// of RNTuples plan their reads for a file that is one.
type RangeReader interface {
	io.ReaderAt
	// ReadRanges fills the ranges, which are in order, not empty, and do not overlap. It is one
	// request if Costs allows that, and returns an error unless all ranges are filled. It must be
	// safe for concurrent use, and return soon once ctx is done.
	ReadRanges(ctx context.Context, ranges []Range) error
	// Costs returns what to plan requests with. It may change, as more is known.
	Costs() Costs
}

// Costs say how ranges of a file are best read.
type Costs struct {
	// Gap is the number of bytes that can be read in the time that another request takes: at most
	// that many unwanted ones between two ranges are read.
	Gap int64
	// Ranges is the number of ranges, with gaps between them, that a request may have; at most 1
	// if it can only read what lies in one piece.
	Ranges int
	// Bytes is the number of bytes that a request should read at most. A single range may have
	// more.
	Bytes int64
	// Requests is the number of requests that should be under way at a time.
	Requests int
}

// Local are the costs of files on disk.
var Local = Costs{Gap: 32 << 10, Ranges: 1, Bytes: 8 << 20, Requests: 2}

// maxExtra is the part of the wanted bytes, as a divisor, that may be read besides to save
// requests.
const maxExtra = 16

// Plan makes requests of parts of a file, which it sorts by offset; bounds returns the offsets of a
// part's first byte and of the one behind it. Parts that overlap go into one request.
//
// Neighbours are joined over gaps of at most c.Gap bytes, the shortest first, until a 16th of the
// wanted bytes would be read besides. A request has the parts of one joined piece or, where c
// allows for several ranges, of as many.
func Plan[T any](c Costs, parts []T, bounds func(T) (begin, end int64)) (requests [][]T) {
	slices.SortStableFunc(parts, func(a, b T) int {
		i, _ := bounds(a)
		j, _ := bounds(b)
		return cmp.Compare(i, j)
	})
	pieces, wanted := piecesOf(parts, bounds)
	join(pieces, c.Gap, wanted/maxExtra)
	first, bytes, ranges := 0, int64(0), 0 // of the request
	for i, p := range pieces {
		more := p.end - p.begin
		if i > first && p.joined {
			more += p.gap
		}
		if i > first && (bytes+more > c.Bytes || !p.joined && ranges >= c.Ranges) {
			requests = append(requests, parts[pieces[first].part:p.part:p.part])
			first, bytes, ranges, more = i, 0, 0, p.end-p.begin
		}
		if i == first || !p.joined {
			ranges++
		}
		bytes += more
	}
	if len(parts) > 0 {
		requests = append(requests, parts[pieces[first].part:])
	}
	return requests
}

// A piece is what parts that overlap cover.
type piece struct {
	begin, end int64
	part       int   // the first one
	gap        int64 // to the piece before
	joined     bool  // with that
}

// piecesOf returns the pieces of parts, which are in order, and the number of bytes in them.
func piecesOf[T any](parts []T, bounds func(T) (begin, end int64)) (pieces []piece, total int64) {
	for i, p := range parts {
		begin, end := bounds(p)
		if n := len(pieces); n == 0 || begin >= pieces[n-1].end {
			pieces = append(pieces, piece{begin: begin, end: end, part: i})
			if n > 0 {
				pieces[n].gap = begin - pieces[n-1].end
			}
			total += end - begin
		} else if more := end - pieces[n-1].end; more > 0 {
			pieces[n-1].end = end
			total += more
		}
	}
	return pieces, total
}

// join joins pieces over gaps of at most the given size, the shortest first, while they have no
// more bytes together than extra.
func join(pieces []piece, gap, extra int64) {
	var order []int
	for i := 1; i < len(pieces); i++ {
		if pieces[i].gap <= gap {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(pieces[i].gap, pieces[j].gap) })
	for _, i := range order {
		if extra -= pieces[i].gap; extra < 0 {
			return
		}
		pieces[i].joined = true
	}
}
