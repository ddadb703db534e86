package pages

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Settings say how a Sink lays out pages and clusters. Sizes are in bytes. They
// mean what those of ROOT's RNTupleWriteOptions mean.
type Settings struct {
	Compression     compress.Settings
	ZippedCluster   int64 // wanted size of a cluster, compressed
	UnzippedCluster int64 // largest size of a cluster, uncompressed
	MaxPage         int64 // largest size of a page in memory
	PageBudget      int64 // memory for all pages that are being filled
	MaxKeySize      uint64
	NoChecksums     bool // of pages
	NoSharing       bool // of the bytes of equal pages
	Workers         int  // that encode and compress pages; at least 1
}

// An Output appends payloads to a file and returns their offsets.
type Output interface {
	Blob(parts ...[]byte) (offset int64, err error)
}

// A Sink takes the elements of the columns of one RNTuple and writes them as
// pages and clusters. It serves one goroutine; pages are encoded and compressed
// by others, and come out in order all the same.
type Sink struct {
	ctx     context.Context
	out     Output
	set     Settings
	sums    uint64 // checksum of the header
	columns []*columnSink
	workers chan struct{} // has room for as many as may work
	err     error         // the first one; sticky

	counters []*uint64 // of items, to be reset with every cluster
	buffered int64     // bytes of memory in the pages that are being filled
	unzipped int64     // bytes in the current cluster, as their encoding packs them
	entries  int64     // in all clusters, with the current one
	first    int64     // entry of the current cluster

	zippedSum, unzippedSum int64 // of all clusters before the current one
	group                  envelope.PageList
	groups                 []envelope.ClusterGroup
	groupFirst             int64 // first entry of the current cluster group
}

// columnSink collects the pages of a column.
type columnSink struct {
	column     *schema.Column
	sink       *Sink
	buffer     flusher // nil while nobody writes to the column
	suppressed bool    // in the current cluster

	pages    []*sealing // of the current cluster
	elements int64      // in pages
	offset   *int64     // of the current cluster's first element; that of all representations
}

// flusher is a Buffer of any type.
type flusher interface {
	flush()
	size() int64 // bytes of memory in use
}

// NewSink returns a sink for the columns of s.
func NewSink(ctx context.Context, out Output, set Settings, headerChecksum uint64) *Sink {
	return &Sink{ctx: ctx, out: out, set: set, sums: headerChecksum, workers: make(chan struct{}, set.Workers)}
}

// AddColumns adds columns that the schema has got, behind those it knows.
func (s *Sink) AddColumns(columns []*schema.Column) {
	for _, c := range columns[len(s.columns):] {
		k := &columnSink{column: c, sink: s, offset: new(int64), suppressed: c.Representation > 0}
		if first := c.Owner.Columns[0][c.Index]; first != c {
			k.offset = s.columns[first.ID].offset
		} else {
			*k.offset = c.FirstElement
		}
		s.columns = append(s.columns, k)
	}
}

// Activate has a field written in another representation from the current
// cluster on, which must be empty.
func (s *Sink) Activate(f *schema.Field, representation int) {
	for r, rep := range f.Columns {
		for _, c := range rep {
			s.columns[c.ID].suppressed = r != representation
		}
	}
}

// Settings returns the settings of the sink.
func (s *Sink) Settings() Settings { return s.set }

// HeaderChecksum returns the checksum of the header that page lists name.
func (s *Sink) HeaderChecksum() uint64 { return s.sums }

// Entries returns the number of entries so far.
func (s *Sink) Entries() int64 { return s.entries }

// Err returns the first error.
func (s *Sink) Err() error { return s.err }

// Fail makes err the sink's error, unless it has one.
func (s *Sink) Fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// Counter returns a number that becomes 0 with every new cluster.
func (s *Sink) Counter() *uint64 {
	n := new(uint64)
	s.counters = append(s.counters, n)
	return n
}

// A sealing is a page on its way to be sealed: encoded, compressed and with its
// checksum.
type sealing struct {
	done     chan struct{} // closed when what follows is set
	elements uint32
	stored   []byte // with the checksum, if pages have one
	err      error
}

// A Buffer collects the elements of a column until they make a page.
type Buffer[T column.Element] struct {
	c        *columnSink
	encoder  *column.Encoder[T]
	elements []T
	limit    int // elements of a page
	memory   int64
	bits     int64
}

// NewBuffer returns the buffer of a column, which T must suit as NewEncoder
// says. A column has one.
func NewBuffer[T column.Element](s *Sink, c *schema.Column) (*Buffer[T], error) {
	encoder, err := column.NewEncoder[T](c.Format())
	if err != nil {
		return nil, fmt.Errorf("field %q: %w", c.Owner.Path(), err)
	}
	size := column.Size[T]()
	b := &Buffer[T]{c: s.columns[c.ID], encoder: encoder, limit: int(max(1, s.set.MaxPage/size)), memory: size, bits: int64(c.Bits)}
	b.c.buffer = b
	return b, nil
}

// Add appends one element.
func (b *Buffer[T]) Add(v T) {
	b.elements = append(b.elements, v)
	b.count(1)
	if len(b.elements) >= b.limit {
		b.flush()
	}
}

// AddAll appends elements.
func (b *Buffer[T]) AddAll(src []T) {
	for len(src) > 0 {
		n := min(len(src), b.limit-len(b.elements))
		b.elements = append(b.elements, src[:n]...)
		b.count(n)
		if len(b.elements) >= b.limit {
			b.flush()
		}
		src = src[n:]
	}
}

func (b *Buffer[T]) count(n int) {
	s := b.c.sink
	s.unzipped += (int64(n)*b.bits + 7) / 8
	s.buffered += int64(n) * b.memory
	if s.buffered > s.set.PageBudget {
		s.evict(b)
	}
}

func (b *Buffer[T]) size() int64 { return int64(len(b.elements)) * b.memory }

// flush has the elements sealed as a page.
func (b *Buffer[T]) flush() {
	n := len(b.elements)
	if n == 0 {
		return
	}
	s := b.c.sink
	elements := b.elements
	b.elements = nil
	s.buffered -= int64(n) * b.memory
	p := &sealing{done: make(chan struct{}), elements: uint32(n)}
	b.c.pages = append(b.c.pages, p)
	b.c.elements += int64(n)
	work := func() {
		defer close(p.done)
		page, err := b.encoder.Append(nil, elements)
		if err != nil {
			p.err = fmt.Errorf("field %q: %w", b.c.column.Owner.Path(), err)
			return
		}
		p.stored, p.err = s.seal(page)
	}
	if s.set.Workers <= 1 {
		work()
		b.elements = elements[:0]
		return
	}
	s.workers <- struct{}{}
	go func() {
		defer func() { <-s.workers }()
		work()
	}()
}

// seal compresses a page and puts its checksum behind it.
func (s *Sink) seal(page []byte) ([]byte, error) {
	stored, err := compress.Append(make([]byte, 0, len(page)+checksum.Size), page, s.set.Compression)
	if err != nil || s.set.NoChecksums {
		return stored, err
	}
	return binary.LittleEndian.AppendUint64(stored, checksum.Sum(stored)), nil
}

// evict flushes the largest pages but that of keep until the budget holds, as
// ROOT does.
func (s *Sink) evict(keep flusher) {
	for s.buffered > s.set.PageBudget {
		var largest flusher
		for _, c := range s.columns {
			if c.buffer != nil && c.buffer != keep && c.buffer.size() > 0 && (largest == nil || c.buffer.size() > largest.size()) {
				largest = c.buffer
			}
		}
		if largest == nil {
			keep.flush()
			return
		}
		largest.flush()
	}
}

// EndEntries counts n entries as complete, and commits the cluster if it is
// large enough.
func (s *Sink) EndEntries(n int64) error {
	s.entries += n
	if s.err == nil {
		s.err = s.ctx.Err()
	}
	if s.err == nil && (s.unzipped >= s.set.UnzippedCluster || s.unzipped >= s.estimate()) {
		return s.CommitCluster()
	}
	return s.err
}

// estimate returns how many bytes, uncompressed, make a cluster of the wanted
// size, judging by the clusters so far as ROOT does.
func (s *Sink) estimate() int64 {
	switch {
	case s.zippedSum > 0:
		ratio := min(1000, float64(s.unzippedSum)/float64(s.zippedSum))
		return int64(float64(s.set.ZippedCluster) * ratio)
	case s.set.Compression.Level() == 0:
		return s.set.ZippedCluster
	}
	return 2 * s.set.ZippedCluster
}

// CommitCluster writes the entries since the last cluster as one, if there are
// any.
func (s *Sink) CommitCluster() error {
	if s.entries == s.first || s.err != nil {
		return s.err
	}
	for _, c := range s.columns {
		if c.buffer != nil {
			c.buffer.flush()
		}
	}
	pages, err := s.writePages()
	if err != nil {
		s.err = err
		return err
	}
	s.group.Clusters = append(s.group.Clusters, envelope.Cluster{FirstEntry: uint64(s.first), NumEntries: uint64(s.entries - s.first)})
	s.group.Pages = append(s.group.Pages, envelope.ClusterPages{Columns: pages})
	s.first = s.entries
	s.unzippedSum += s.unzipped
	s.unzipped = 0
	for _, n := range s.counters {
		*n = 0
	}
	return nil
}

// writePages writes the pages of the current cluster, column by column, and
// returns where they are.
func (s *Sink) writePages() ([]envelope.ColumnPages, error) {
	var w blobWriter
	w.sink = s
	w.seen = map[uint64]*envelope.Page{}
	all := make([]envelope.ColumnPages, len(s.columns))
	for i, c := range s.columns {
		if c.suppressed {
			all[i] = envelope.ColumnPages{ElementOffset: envelope.Suppressed}
			continue
		}
		list := envelope.ColumnPages{ElementOffset: *c.offset, Compression: uint32(s.set.Compression), Pages: make([]envelope.Page, len(c.pages))}
		for j, p := range c.pages {
			<-p.done
			if p.err != nil {
				return nil, p.err
			}
			list.Pages[j] = envelope.Page{NumElements: p.elements, HasChecksum: !s.set.NoChecksums}
			if err := w.add(&list.Pages[j], p.stored); err != nil {
				return nil, err
			}
		}
		all[i] = list
		*c.offset += c.elements
		c.pages, c.elements = nil, 0
	}
	return all, w.flush()
}

// blobWriter joins the pages of a cluster into few payloads.
type blobWriter struct {
	sink  *Sink
	parts [][]byte
	size  uint64           // of parts
	pages []*envelope.Page // whose bytes parts are
	seen  map[uint64]*envelope.Page
	same  []shared
	bytes map[*envelope.Page][]byte
}

// shared is a page that has the bytes of another one.
type shared struct{ page, of *envelope.Page }

// add puts a page into the current payload, or makes it share the bytes of an
// equal one of this cluster.
func (w *blobWriter) add(page *envelope.Page, stored []byte) error {
	s := w.sink
	size := uint64(len(stored))
	if page.HasChecksum {
		page.Locator.Size = size - checksum.Size
		if !s.set.NoSharing {
			sum := binary.LittleEndian.Uint64(stored[size-checksum.Size:])
			if of := w.seen[sum]; of != nil && bytes.Equal(w.bytes[of], stored) {
				w.same = append(w.same, shared{page, of})
				return nil
			}
			if w.bytes == nil {
				w.bytes = map[*envelope.Page][]byte{}
			}
			w.seen[sum], w.bytes[page] = page, stored
		}
	} else {
		page.Locator.Size = size
	}
	s.zippedSum += int64(size)
	limit := s.set.MaxKeySize
	if limit == 0 {
		limit = math.MaxUint64
	}
	if w.size > 0 && w.size+size > limit {
		if err := w.write(); err != nil {
			return err
		}
	}
	if size > limit {
		at, err := anchor.WriteBlob(stored, limit, s.out.Blob)
		page.Locator = locator.At(uint64(at), page.Locator.Size)
		return err
	}
	w.parts, w.pages, w.size = append(w.parts, stored), append(w.pages, page), w.size+size
	return nil
}

// write writes the current payload and begins a new one.
func (w *blobWriter) write() error {
	if len(w.parts) == 0 {
		return nil
	}
	at, err := w.sink.out.Blob(w.parts...)
	if err != nil {
		return err
	}
	for i, page := range w.pages {
		page.Locator = locator.At(uint64(at), page.Locator.Size)
		at += int64(len(w.parts[i]))
	}
	w.parts, w.pages, w.size = nil, nil, 0
	return nil
}

// flush writes what is left and tells shared pages where their bytes are.
func (w *blobWriter) flush() error {
	if err := w.write(); err != nil {
		return err
	}
	for _, s := range w.same {
		s.page.Locator = s.of.Locator
	}
	return nil
}

// CommitClusterGroup ends the current cluster and the cluster group.
func (s *Sink) CommitClusterGroup() error {
	if err := s.CommitCluster(); err != nil || len(s.group.Clusters) == 0 {
		return err
	}
	s.group.HeaderChecksum = s.sums
	list, err := s.group.Append(nil)
	if err != nil {
		s.err = err
		return err
	}
	link, err := s.Envelope(list)
	if err != nil {
		return err
	}
	s.groups = append(s.groups, envelope.ClusterGroup{
		MinEntry: uint64(s.groupFirst), EntrySpan: uint64(s.first - s.groupFirst), NumClusters: uint32(len(s.group.Clusters)), PageList: link,
	})
	s.group, s.groupFirst = envelope.PageList{}, s.first
	return nil
}

// Groups returns the cluster groups so far.
func (s *Sink) Groups() []envelope.ClusterGroup { return s.groups }

// Envelope writes an envelope, compressed as pages are.
func (s *Sink) Envelope(plain []byte) (locator.Link, error) {
	link, err := WriteEnvelope(s.out, plain, s.set)
	if err != nil {
		s.Fail(err)
	}
	return link, err
}

// WriteEnvelope writes an envelope, compressed as pages are.
func WriteEnvelope(out Output, plain []byte, set Settings) (locator.Link, error) {
	stored, err := compress.Append(nil, plain, set.Compression)
	if err != nil {
		return locator.Link{}, err
	}
	at, err := anchor.WriteBlob(stored, set.MaxKeySize, out.Blob)
	return locator.Link{Length: uint64(len(plain)), Locator: locator.At(uint64(at), uint64(len(stored)))}, err
}
