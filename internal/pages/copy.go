package pages

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/internal/wire"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Level is how much work the pages of a Part need. The numbers are those of
// the levels of ROOT's merger.
type Level uint8

const (
	Copy       Level = 1 // the bytes as they are stored, verified
	Recompress Level = 2 // compressed as the sink compresses
	Reseal     Level = 3 // decoded and encoded, too
)

// A Part is a run of elements that a column of a Sink gets from a Source: so
// many zeros, then those of the pages.
type Part struct {
	Zeros int64

	From        *Source
	Format      column.Format // of the pages
	Compression uint32        // settings that the pages were written with
	Pages       []envelope.Page
	Level       Level

	// Shift is added to elements, which must be unsigned integers, or the
	// indexes of Tagged ones; these by tag, from 1. Nil for none. It takes the
	// level Reseal.
	Shift []uint64

	Where string // the place that errors name
}

// Taken is what a column has of a cluster that is taken over.
type Taken struct {
	Parts      []Part
	Suppressed bool // another representation of the field has the elements
}

// Take ends the current cluster, and makes another one of what the columns are
// given, by ID. It is written in the background, with more than one worker:
// until Wait the sources are in use.
func (s *Sink) Take(entries int64, columns []Taken) error {
	if s.err == nil && s.entries > s.first {
		s.settle()
		s.commit()
	}
	if err := s.ctx.Err(); err != nil {
		s.Fail(err)
	}
	if s.err != nil || entries == 0 {
		return s.err
	}
	c := s.current
	c.settings = make([]uint32, len(columns))
	suppressed := make([]bool, len(columns)) // else
	for i, t := range columns {
		suppressed[i], s.columns[i].suppressed = s.columns[i].suppressed, t.Suppressed
		c.settings[i] = uint32(s.set.Compression)
		for j := range t.Parts {
			if err := c.accept(s.columns[i], &t.Parts[j]); err != nil {
				s.Fail(err)
				return err
			}
		}
	}
	s.entries += entries
	err := s.commit()
	for i, k := range s.columns {
		k.suppressed = suppressed[i]
	}
	return err
}

// Wait returns when all clusters that are complete have been written.
func (s *Sink) Wait() error {
	s.wait()
	return s.err
}

// Resume makes the entries, cluster groups and elements of columns, by ID, those
// that the RNTuple has already. The sink must not have any yet.
func (s *Sink) Resume(entries int64, groups []envelope.ClusterGroup, elements []int64) {
	s.entries, s.first, s.groupFirst = entries, entries, entries
	s.groups = slices.Clone(groups)
	for i, n := range elements {
		*s.columns[i].offset = n
	}
}

// accept adds a part of a column to the cluster.
func (c *cluster) accept(k *columnSink, p *Part) error {
	col := k.column
	add := func(elements uint32, s *sealing, j job) {
		s.elements = elements
		c.add(col, s)
		c.sink.unzipped += int64(elements) * k.packed
		if j == nil {
			c.sealed.Done()
		} else {
			c.sink.crew.do(j)
		}
	}
	if p.Zeros > 0 {
		encode, err := zerosOf(col.Format())
		if err != nil {
			return fmt.Errorf("%s: field %q: %w", p.Where, col.Owner.Path(), err)
		}
		most := max(1, c.sink.set.MaxPage*8/int64(max(8, col.Bits)))
		for left := p.Zeros; left > 0; left -= most {
			made := &remade{cluster: c, column: col, where: p.Where + ", zeros", encode: encode}
			add(uint32(min(left, most)), &made.sealing, made)
		}
	}
	if len(p.Pages) == 0 {
		return nil
	}
	if p.Level <= Copy {
		c.settings[col.ID] = p.Compression
		for _, page := range p.Pages {
			if _, err := p.From.extent(p.Format, page); err != nil {
				return fmt.Errorf("%s: field %q: %w", p.Where, col.Owner.Path(), err)
			}
			add(page.NumElements, &sealing{copy: &copied{from: p, page: page, column: col}}, nil)
		}
		return nil
	}
	recode := func(dst, page []byte, _ uint32) ([]byte, error) { return append(dst, page...), nil }
	if p.Level >= Reseal {
		var err error
		if recode, err = recoder(p.Format, col.Format(), p.Shift); err != nil {
			return fmt.Errorf("%s: field %q: %w", p.Where, col.Owner.Path(), err)
		}
	}
	for _, page := range p.Pages {
		made := &remade{cluster: c, column: col, where: p.Where, encode: func(dst []byte, n uint32) ([]byte, error) {
			err := p.From.page(p.Format, page, !p.From.SkipChecksums, func(plain []byte) (err error) {
				dst, err = recode(dst, plain, n)
				return err
			})
			return dst, err
		}}
		add(page.NumElements, &made.sealing, made)
	}
	return nil
}

// remade is a page that is made from another one, or from nothing.
type remade struct {
	sealing
	cluster *cluster
	column  *schema.Column
	where   string
	encode  func(dst []byte, n uint32) ([]byte, error)
}

func (p *remade) seal(t *tools) {
	defer p.cluster.sealed.Done()
	size := int(p.column.Format().PageSize(p.elements))
	p.stored, p.err = p.cluster.seal(t, size, func(dst []byte) ([]byte, error) { return p.encode(dst, p.elements) })
	if p.err != nil {
		p.err = fmt.Errorf("%s: field %q: %w", p.where, p.column.Owner.Path(), p.err)
	}
}

// zerosOf returns what appends a page of zeros.
func zerosOf(f column.Format) (func(dst []byte, n uint32) ([]byte, error), error) {
	if f.Type != column.Real32Quant { // the others encode zeros as zeros
		return func(dst []byte, n uint32) ([]byte, error) {
			return append(dst, make([]byte, f.PageSize(n))...), nil
		}, nil
	}
	encoder, err := column.NewEncoder[float64](f)
	return func(dst []byte, n uint32) ([]byte, error) { return encoder.Append(dst, make([]float64, n)) }, err
}

// recoder returns what appends the elements of a page of the format in as a page
// of the format out.
func recoder(in, out column.Format, shift []uint64) (func(dst, page []byte, n uint32) ([]byte, error), error) {
	if shift != nil && out.Kind() != column.KindTagged {
		return recode(in, out, func(elements []uint64) error { return raise(elements, shift[0]) })
	}
	switch out.Kind() {
	case column.KindBool:
		return recode[bool](in, out, nil)
	case column.KindInt8:
		return recode[int8](in, out, nil)
	case column.KindUint8:
		return recode[uint8](in, out, nil)
	case column.KindInt16:
		return recode[int16](in, out, nil)
	case column.KindUint16:
		return recode[uint16](in, out, nil)
	case column.KindInt32:
		return recode[int32](in, out, nil)
	case column.KindUint32:
		return recode[uint32](in, out, nil)
	case column.KindInt64:
		return recode[int64](in, out, nil)
	case column.KindUint64:
		return recode[uint64](in, out, nil)
	case column.KindFloat32:
		return recode[float32](in, out, nil)
	case column.KindFloat64:
		return recode[float64](in, out, nil)
	}
	return recode(in, out, func(elements []column.Tagged) error {
		if shift == nil {
			return nil
		}
		for i := range elements {
			e := &elements[i]
			if e.Tag == 0 {
				continue
			}
			if uint64(e.Tag) > uint64(len(shift)) {
				return wire.Corrupt("tag %d of %d", e.Tag, len(shift))
			}
			e.Index += shift[e.Tag-1]
		}
		return nil
	})
}

// raise adds n to all elements.
func raise(elements []uint64, n uint64) error {
	for i, e := range elements {
		if e > math.MaxUint64-n {
			return fmt.Errorf("element %d: %w: %d and %d do not fit 64 bits", i, column.ErrRange, e, n)
		}
		elements[i] += n
	}
	return nil
}

func recode[T column.Element](in, out column.Format, change func([]T) error) (func(dst, page []byte, n uint32) ([]byte, error), error) {
	decoder, err := column.NewDecoder[T](in)
	if err != nil {
		return nil, err
	}
	encoder, err := column.NewEncoder[T](out)
	if err != nil {
		return nil, err
	}
	return func(dst, page []byte, n uint32) ([]byte, error) {
		elements := borrow[T](int(n))
		defer giveBack(elements)
		if err := decoder.Decode(elements, page); err != nil {
			return dst, err
		}
		if change != nil {
			if err := change(elements); err != nil {
				return dst, err
			}
		}
		return encoder.Append(dst, elements)
	}, nil
}

// copied is a page whose bytes are taken as they are.
type copied struct {
	from   *Part
	page   envelope.Page // in the source
	column *schema.Column
	to     *envelope.Page // in the output
}

func (c *copied) offset() int64 { return int64(c.page.Locator.Offset) }

// size returns the bytes of the page with its checksum.
func (c *copied) size() int64 {
	if c.page.HasChecksum {
		return int64(c.page.Locator.Size) + checksum.Size
	}
	return int64(c.page.Locator.Size)
}

// verify compares the checksum of the page, whose bytes are stored.
func (c *copied) verify(stored []byte) error {
	if !c.page.HasChecksum || c.from.From.SkipChecksums {
		return nil
	}
	n := c.page.Locator.Size
	if err := checksum.Verify(binary.LittleEndian.Uint64(stored[n:]), stored[:n]); err != nil {
		return c.fail(pageError(c.page, err))
	}
	return nil
}

func (c *copied) fail(err error) error {
	return fmt.Errorf("%s: field %q: %w", c.from.Where, c.column.Owner.Path(), err)
}

// A stretch is a range of a source that is copied with one read and one write.
type stretch struct {
	pages     []*copied // in it
	offset, n int64
	memory    *[]byte // the bytes, unless the source is in memory
}

// stretchSize is what stretches should have: few reads and writes, but little
// memory.
const stretchSize = 1 << 20

// copyPages writes pages as they are stored in their sources, in the order of the
// sources. Those that lie behind each other there do so here.
func (c *cluster) copyPages(all []*copied) error {
	limit := int64(c.sink.set.MaxKeySize)
	if limit <= 0 || limit > 1<<30 {
		limit = 1 << 30
	}
	sources := map[*Source]int{}
	for _, p := range all {
		if _, ok := sources[p.from.From]; !ok {
			sources[p.from.From] = len(sources)
		}
	}
	slices.SortStableFunc(all, func(a, b *copied) int {
		return cmp.Or(cmp.Compare(sources[a.from.From], sources[b.from.From]), cmp.Compare(a.offset(), b.offset()), cmp.Compare(b.size(), a.size()))
	})
	var blob []*stretch
	size := int64(0)
	flush := func() error {
		if len(blob) == 0 {
			return nil
		}
		err := c.copyStretches(blob, size)
		c.size += size
		blob, size = nil, 0
		return err
	}
	var last *stretch
	for _, p := range all {
		n := p.size()
		if p.from.From.chunked(n) || n > limit {
			if err := c.copyChunked(p); err != nil {
				return err
			}
			continue
		}
		if last != nil && last.pages[0].from.From == p.from.From {
			switch end := last.offset + last.n; {
			case p.offset()+n <= end: // the bytes are there
				last.pages = append(last.pages, p)
				continue
			case p.offset() == end && last.n < stretchSize && size+n <= limit:
				last.pages, last.n, size = append(last.pages, p), last.n+n, size+n
				continue
			}
		}
		if size+n > limit {
			if err := flush(); err != nil {
				return err
			}
		}
		last = &stretch{pages: []*copied{p}, offset: p.offset(), n: n}
		blob, size = append(blob, last), size+n
	}
	return flush()
}

// copyStretches writes stretches as one payload of the given size.
func (c *cluster) copyStretches(blob []*stretch, size int64) error {
	fill := func(w io.Writer) error {
		return inOrder(c.sink.set.Workers, len(blob), func(i int) error { return blob[i].read() }, func(i int) error { return blob[i].write(w) })
	}
	var at int64
	var err error
	if stream := c.sink.out.Stream; stream != nil {
		at, err = stream(size, fill)
	} else {
		var b bytes.Buffer
		if err = fill(&b); err == nil {
			at, err = c.sink.out.blob(b.Bytes())
		}
	}
	if err != nil {
		return err
	}
	for _, s := range blob {
		for _, p := range s.pages {
			p.to.Locator = p.page.Locator
			p.to.Locator.Offset = uint64(at + p.offset() - s.offset)
		}
		at += s.n
	}
	return nil
}

// read gets the bytes of the stretch, if need be, and verifies its pages.
func (s *stretch) read() error {
	src := s.pages[0].from.From
	if m, ok := src.R.(Mapped); ok {
		return m.Use(s.offset, s.n, s.verify)
	}
	s.memory = lend(s.n)
	if err := anchor.ReadBlob(src.R, *s.memory, s.offset, 0); err != nil {
		return s.pages[0].fail(err)
	}
	return s.verify(*s.memory)
}

func (s *stretch) verify(b []byte) error {
	for i, p := range s.pages {
		if i > 0 && p.page.Locator == s.pages[i-1].page.Locator && p.size() == s.pages[i-1].size() {
			continue
		}
		at := p.offset() - s.offset
		if err := p.verify(b[at : at+p.size()]); err != nil {
			return err
		}
	}
	return nil
}

// write writes the bytes that have been read.
func (s *stretch) write(w io.Writer) error {
	if s.memory != nil {
		_, err := w.Write(*s.memory)
		buffers.Put(s.memory)
		s.memory = nil
		return err
	}
	return s.pages[0].from.From.R.(Mapped).Use(s.offset, s.n, func(b []byte) error {
		_, err := w.Write(b)
		return err
	})
}

// copyChunked copies a page that is spread over several keys, in the source or
// the output.
func (c *cluster) copyChunked(p *copied) error {
	buffer := lend(p.size())
	defer buffers.Put(buffer)
	src := p.from.From
	if err := anchor.ReadBlob(src.R, *buffer, p.offset(), src.MaxKeySize); err != nil {
		return p.fail(err)
	}
	if err := p.verify(*buffer); err != nil {
		return err
	}
	at, err := anchor.WriteBlob(*buffer, c.sink.set.MaxKeySize, c.sink.out.blob)
	p.to.Locator = p.page.Locator
	p.to.Locator.Offset = uint64(at)
	c.size += p.size()
	return err
}

// inOrder calls prepare for 0 to n-1, by several goroutines and a little ahead,
// and finish in order. It returns the first error in this order.
func inOrder(workers, n int, prepare, finish func(i int) error) error {
	if workers < 2 || n < 2 {
		for i := range n {
			if err := prepare(i); err != nil {
				return err
			}
			if err := finish(i); err != nil {
				return err
			}
		}
		return nil
	}
	window := 2 * workers
	prepared := make([]chan error, window)
	for i := range prepared {
		prepared[i] = make(chan error, 1)
	}
	indexes := make(chan int, window)
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			for i := range indexes {
				prepared[i%window] <- prepare(i)
			}
		})
	}
	defer wg.Wait()
	defer close(indexes)
	for i := range min(window, n) {
		indexes <- i
	}
	for i := range n {
		if err := <-prepared[i%window]; err != nil {
			return err
		}
		if err := finish(i); err != nil {
			return err
		}
		if next := i + window; next < n {
			indexes <- next
		}
	}
	return nil
}

// Elements returns how many elements a column has in the clusters before the
// current one, whatever representation they are in.
func (s *Sink) Elements(c *schema.Column) int64 {
	if int(c.ID) >= len(s.columns) {
		return 0
	}
	return *s.columns[c.ID].offset
}
