package pagecopy

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/bounds"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Level is how much work it is to copy pages. The numbers are those of the levels of
// ROOT's merger, without the highest one: Elements, Offsets and Tags add elements to other pages.
type Level uint8

const (
	Clone      Level = iota // as Copy, but without copying the bytes where the file system can clone them
	Copy                    // the bytes are copied as they are stored, and verified
	Recompress              // pages are decompressed, and compressed as the sink does
	Reseal                  // pages are also decoded and encoded
)

// A Chunk is a run of elements for a column of a Sink. Without pages it needs neither
// Column nor From.
type Chunk struct {
	pagesource.Chunk
	From  *pagesource.Source
	Level Level

	// Shift, if not nil, has what is added to the elements. These must be unsigned
	// integers, for which Shift has one number, or Tagged ones, to whose indexes the
	// number for their tag, from 1 on, is added. It takes the level Reseal.
	Shift []uint64

	// Bounds are those of the elements, as far as they are known. From Recompress on, if they are
	// known, those of the pages take their place.
	Bounds zonemap.Bounds
	Fail   func(error) error // adds to an error where the chunk is from

	parts []*bounds.Part // of the pages, once they are encoded; nil if they are not wanted
}

// fail adds to an error where it happened.
func (c *Chunk) fail(to *schema.Column, err error) error {
	return c.Fail(fmt.Errorf("field %q: %w", to.Owner.Path(), err))
}

// A Column is what a column of a Sink gets in a cluster.
type Column struct {
	Chunks     []Chunk
	Suppressed bool // another representation of the field has the elements
}

// A Copier copies clusters into a Sink.
type Copier struct {
	ctx  context.Context
	sink *pagesink.Sink

	mu       sync.Mutex
	uncloned Uncloned
}

// NewCopier returns a copier into s. The context is that of reading.
func NewCopier(ctx context.Context, s *pagesink.Sink) *Copier { return &Copier{ctx: ctx, sink: s} }

// Take commits the current cluster of the sink, if it has entries, and appends one
// with what the columns are given, by column ID. With several workers it is written in
// the background: the sources are in use until the sink's Wait returns.
func (c *Copier) Take(entries int64, columns []Column) error {
	if err := c.sink.Err(); err != nil {
		return err
	}
	p := &placement{copier: c, set: c.sink.Settings()}
	out := make([]pagesink.Column, len(columns))
	for i, column := range columns {
		out[i] = pagesink.Column{Suppressed: column.Suppressed, Compression: uint32(p.set.Compression)}
		to := c.sink.Column(schema.ColumnID(i))
		if len(column.Chunks) > 0 {
			out[i].Bounds = func() zonemap.Bounds { return boundsOf(column.Chunks) }
		}
		for j := range column.Chunks {
			chunk := &column.Chunks[j]
			if err := p.add(&out[i], to, chunk); err != nil {
				err = chunk.fail(to, err)
				c.sink.Fail(err)
				return err
			}
		}
	}
	return c.sink.AppendCluster(entries, out, p.place)
}

// boundsOf returns the bounds of the elements of chunks whose pages are encoded.
func boundsOf(chunks []Chunk) (all zonemap.Bounds) {
	for i := range chunks {
		c := &chunks[i]
		b := c.Bounds
		if c.parts != nil {
			if b = bounds.Cluster(b.Kind, c.parts); c.Zeros > 0 {
				b = b.Join(zonemap.Bounds{Kind: b.Kind})
			}
		}
		if i == 0 {
			all = b
		} else {
			all = all.Join(b)
		}
	}
	return all
}

// add adds a chunk to a column.
func (p *placement) add(out *pagesink.Column, to *schema.Column, c *Chunk) error {
	if err := p.addZeros(out, to, c); err != nil {
		return err
	}
	if len(c.Pages) == 0 {
		return nil
	}
	if c.Level <= Copy {
		out.Compression = c.Compression
		for _, page := range c.Pages {
			if err := p.addStored(out, to, c, page); err != nil {
				return err
			}
		}
		return nil
	}
	from := c.Column.Format()
	recode := func(dst, page []byte, _ uint32) ([]byte, error) { return append(dst, page...), nil }
	if c.Level >= Reseal {
		var err error
		if recode, err = recoder(from, to.Format(), c.Shift); err != nil {
			return err
		}
	}
	if c.Bounds.Kind != zonemap.Unknown {
		c.parts = make([]*bounds.Part, len(c.Pages))
	}
	for i, page := range c.Pages {
		out.Pages = append(out.Pages, pagesink.Page{NumElements: page.NumElements, Encode: func(dst []byte) ([]byte, error) {
			err := c.From.Page(p.copier.ctx, from, page, func(plain []byte) (err error) {
				if c.parts != nil {
					if c.parts[i], err = pagesource.PartOf(from, plain, int(page.NumElements)); err != nil {
						return err
					}
				}
				dst, err = recode(dst, plain, page.NumElements)
				return err
			})
			if err != nil {
				return nil, c.fail(to, err)
			}
			return dst, nil
		}})
	}
	return nil
}

// addStored adds a page that is copied as it is stored.
func (p *placement) addStored(out *pagesink.Column, to *schema.Column, c *Chunk, page envelope.Page) error {
	from := c.Column.Format()
	size, err := c.From.StoredSize(from, page)
	if err != nil {
		return err
	}
	if !page.HasCRC32 {
		placed := &envelope.Page{NumElements: page.NumElements, HasChecksum: page.HasChecksum}
		p.pages = append(p.pages, &copied{from: c, page: page, size: size, column: to, to: placed})
		out.Pages = append(out.Pages, pagesink.Page{NumElements: page.NumElements, Placed: placed})
		return nil
	}
	// Format 1 has no CRC32: the sink gives the page a checksum as it has.
	p.uncloned.count(c, size, nil)
	out.Pages = append(out.Pages, c.stored(p.copier.ctx, to, page, size))
	return nil
}

// stored returns a page of c, which takes size bytes with its checksum, for a column of the
// sink, which gives it another checksum.
func (c *Chunk) stored(ctx context.Context, to *schema.Column, page envelope.Page, size int64) pagesink.Page {
	return pagesink.Page{NumElements: page.NumElements, Compressed: true, Encode: func(dst []byte) ([]byte, error) {
		n := len(dst)
		dst = slices.Grow(dst, int(size))[:n+int(size)]
		if err := c.From.StoredPage(ctx, c.Column.Format(), page, dst[n:]); err != nil {
			return nil, c.fail(to, err)
		}
		return dst[:n+int(page.Locator.Size)], nil
	}}
}

// addZeros adds pages of the zeros that are in front of those of the chunk, if there are any.
func (p *placement) addZeros(out *pagesink.Column, to *schema.Column, c *Chunk) error {
	encode, err := zeroEncoder(to.Format())
	if err != nil {
		return err
	}
	most := max(1, p.set.MaxPage*8/int64(max(8, to.Bits)))
	for left := c.Zeros; left > 0; left -= most {
		n := uint32(min(left, most))
		out.Pages = append(out.Pages, pagesink.Page{NumElements: n, Encode: func(dst []byte) ([]byte, error) {
			dst, err := encode(dst, n)
			if err != nil {
				return nil, c.Fail(fmt.Errorf("zeros: field %q: %w", to.Owner.Path(), err))
			}
			return dst, nil
		}})
	}
	return nil
}

// zeroEncoder returns a function that appends a page of n zeros.
func zeroEncoder(f column.Format) (func(dst []byte, n uint32) ([]byte, error), error) {
	if f.Type != column.Real32Quant { // all other types encode zeros as zeros
		return func(dst []byte, n uint32) ([]byte, error) {
			return append(dst, make([]byte, f.PageSize(n))...), nil
		}, nil
	}
	encoder, err := column.NewEncoder[float64](f)
	return func(dst []byte, n uint32) ([]byte, error) { return encoder.Append(dst, make([]float64, n)) }, err
}
