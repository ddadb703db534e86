package pages

import (
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
	Share      Level = 0 // as Copy, but the file system shares the bytes where it can
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

	at     int64  // in the payload of the output
	shared extent // the bytes of the stretch that are there already
}

// An extent is bytes from an offset to another one.
type extent struct{ from, to int64 }

// stretchSize is what stretches should have: few reads and writes, but little
// memory, so that the bytes are still in the processor's cache when they are
// verified and written.
const stretchSize = 1 << 19

// leastStreamed is the size of payloads from which on they are written piece by
// piece.
const leastStreamed = 64 << 10

// maxPayload returns the largest payload of copied pages.
func (c *cluster) maxPayload() int64 {
	limit := int64(c.sink.set.MaxKeySize)
	if limit <= 0 || limit > 1<<30 {
		limit = 1 << 30
	}
	return limit
}

// copyPages writes pages as they are stored in their sources, in the order of the
// sources. Those that lie behind each other there do so here.
func (c *cluster) copyPages(all []*copied) error {
	limit := c.maxPayload()
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
		err := c.copyStretches(blob)
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

// copyStretches writes stretches as one payload.
func (c *cluster) copyStretches(blob []*stretch) error {
	size := c.place(blob, c.maxPayload())
	var mu sync.Mutex // while one writes others read and verify
	fill := func(w io.WriterAt) error {
		return inParallel(c.sink.set.Workers, len(blob), func(i int) error { return blob[i].copy(w, &mu) })
	}
	var at int64
	var err error
	if stream := c.sink.out.Stream; stream != nil && size >= leastStreamed {
		at, err = stream(size, fill)
	} else {
		b := make(payload, size)
		if err = fill(b); err == nil {
			at, err = c.sink.out.blob(b)
		}
	}
	if err != nil {
		return err
	}
	for _, s := range blob {
		for _, p := range s.pages {
			p.to.Locator = p.page.Locator
			p.to.Locator.Offset = uint64(at + s.at + p.offset() - s.offset)
		}
	}
	return nil
}

// payload is one in memory.
type payload []byte

func (p payload) WriteAt(b []byte, off int64) (int, error) { return copy(p[off:], b), nil }

// copy writes what is not there yet, and verifies the pages.
//
// It reads files even if they are in memory: to copy bytes into the processor's
// cache takes less than to have the system map them.
func (s *stretch) copy(w io.WriterAt, mu *sync.Mutex) error {
	src := s.pages[0].from.From
	buffer := lend(s.n)
	defer buffers.Put(buffer)
	b := *buffer
	r := src.R
	if disk := diskOf(src.R); disk != nil {
		r = disk
	}
	missing := []extent{{0, s.shared.from}, {s.shared.to, s.n}}
	needed := missing
	if !src.SkipChecksums {
		needed = []extent{{0, s.n}}
	}
	for _, e := range needed {
		if err := anchor.ReadBlob(r, b[e.from:e.to], s.offset+e.from, 0); err != nil {
			return s.pages[0].fail(err)
		}
	}
	if err := s.verify(b); err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	for _, e := range missing {
		if e.from < e.to {
			if _, err := w.WriteAt(b[e.from:e.to], s.at+e.from); err != nil {
				return err
			}
		}
	}
	return nil
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
	c.unshared.count(p, nil)
	return err
}

// inParallel calls do for 0 to n-1, from so many goroutines, until there is an
// error. It returns that of the lowest number.
func inParallel(workers, n int, do func(i int) error) error {
	var mu sync.Mutex
	var failed error
	next, end := 0, n
	work := func() {
		mu.Lock()
		defer mu.Unlock()
		for next < end {
			i := next
			next++
			mu.Unlock()
			err := do(i)
			mu.Lock()
			if err != nil && i < end {
				failed, end = err, i
			}
		}
	}
	var others sync.WaitGroup
	for range min(workers, n) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	return failed
}

// Elements returns how many elements a column has in the clusters before the
// current one, whatever representation they are in.
func (s *Sink) Elements(c *schema.Column) int64 {
	if int(c.ID) >= len(s.columns) {
		return 0
	}
	return *s.columns[c.ID].offset
}
