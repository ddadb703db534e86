package remote

import (
	"cmp"
	"context"
	"io"
	"slices"
)

// A Range is a part of a file to read into Data: the bytes from Offset on.
type Range struct {
	Offset int64
	Data   []byte
}

// End returns the offset of the first byte after the range.
func (r Range) End() int64 { return r.Offset + int64(len(r.Data)) }

// A RangeReader is an io.ReaderAt that can read several ranges of a file with one request. Readers
// of RNTuples prefetch and combine ranges if the file implements it.
type RangeReader interface {
	io.ReaderAt
	// ReadRanges fills the ranges, which are in order, not empty, and do not overlap. It makes one
	// request if they are within the limits of Costs, and returns an error unless all ranges are
	// filled. It must be safe for concurrent use, and return promptly when ctx is done.
	ReadRanges(ctx context.Context, ranges []Range) error
	// Costs returns the costs for planning requests. They may change as more requests are measured.
	Costs() Costs
}

// Costs are the parameters for reading ranges of a file efficiently.
type Costs struct {
	// Gap is the number of bytes that can be transferred in the time of one additional request.
	// Ranges with at most this gap between them are read together.
	Gap int64
	// Ranges is the maximum number of non-adjacent ranges per request; 1 or less if requests can
	// only read contiguous bytes.
	Ranges int
	// Bytes is the target for the maximum number of bytes per request. A single range may be
	// larger.
	Bytes int64
	// Requests is the recommended number of concurrent requests.
	Requests int
}

// Local are the costs of local files.
var Local = Costs{Gap: 32 << 10, Ranges: 1, Bytes: 8 << 20, Requests: 2}

// maxExtra is the part of the wanted bytes, as a divisor, that may be read besides to save
// requests.
const maxExtra = 16

// Plan groups parts of a file into requests; it sorts parts by offset. bounds returns the start and
// end offsets of a part. Overlapping parts are in the same request.
//
// Neighboring parts are joined across gaps of at most c.Gap bytes, the shortest gaps first, until
// the overhead would exceed 1/16 of the requested bytes. A request consists of one such contiguous
// range, or of several if c allows it.
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
