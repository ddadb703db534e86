package pages

import (
	"context"
	"io"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Settings say how a Sink lays out pages and clusters. Sizes are in bytes. They
// mean what those of ROOT's RNTupleWriteOptions mean.
//
// A Sink has the following in memory: PageBudget for the pages that are being
// filled; up to 5*Workers pages of MaxPage that wait to be sealed or are, these
// with room for them encoded and compressed; a cluster as it will be in the
// file, and with several workers the one before, which is being written. It
// keeps that memory for the next cluster.
type Settings struct {
	Compression     compress.Settings
	ZippedCluster   int64 // wanted size of a cluster, compressed
	UnzippedCluster int64 // largest size of a cluster, uncompressed
	MaxPage         int64 // largest size of a page in memory
	PageBudget      int64 // memory for all pages that are being filled
	MaxKeySize      uint64
	NoChecksums     bool // of pages
	NoSharing       bool // of the bytes of equal pages
	Workers         int  // that encode and compress pages, the caller being one; at least 1
}

// An Output is where the sinks of a file write, one cluster after the other. It
// serves the goroutine that the sinks serve.
type Output struct {
	// Stream appends a payload of n bytes that fill writes, from several goroutines
	// and in any order, as blob does it with bytes at hand. Nil: there is blob only.
	Stream func(n int64, fill func(io.WriterAt) error) (offset int64, err error)

	// Extents, if not nil, belong to the file that Stream writes to.
	Extents Extents

	blob func(parts ...[]byte) (offset int64, err error)
	turn <-chan struct{} // closed when the last cluster that was started is written
}

// NewOutput returns an output to blob, which appends a payload to a file and
// returns its offset. It is called by one goroutine at a time.
func NewOutput(blob func(parts ...[]byte) (offset int64, err error)) *Output {
	return &Output{blob: blob}
}

// await waits for the cluster that is being written, if there is one.
func (o *Output) await() {
	if o.turn != nil {
		<-o.turn
		o.turn = nil
	}
}

// A Sink takes the elements of the columns of one RNTuple and writes them as
// pages and clusters. It serves one goroutine. With more than one worker, others
// seal pages, and write a cluster while the next one is being filled; the file
// is the same for any number.
type Sink struct {
	ctx     context.Context
	out     *Output
	set     Settings
	sums    uint64 // checksum of the header
	columns []*columnSink
	err     error // the first one; sticky

	counters []*uint64 // of items, to be reset with every cluster
	entries  int64     // in all clusters, with the current one
	first    int64     // entry of the current cluster

	budget   budget
	capacity []int64 // bytes of memory of the page that is being filled, by column
	filling  int64   // sum of capacity, and of the smallest ones
	crew     crew

	current *cluster // that is being filled
	pending *cluster // that is being written, or nil
	spare   []*arena

	// What may be in the buffers counts towards the size of the cluster, so
	// that nothing need be counted while elements are added; see settle.
	unzipped int64 // bytes that the current cluster may have, as their encoding packs them
	limit    int64 // of unzipped, which ends the cluster
	share    int64 // of limit that a buffer gets without asking again

	unshared Unshared

	zippedSum, unzippedSum int64 // of all clusters before the current one
	group                  envelope.PageList
	groups                 []envelope.ClusterGroup
	groupFirst             int64 // first entry of the current cluster group
	groupPages             int   // in it
}

// columnSink is a column that is written.
type columnSink struct {
	column     *schema.Column
	sink       *Sink
	packed     int64  // bytes of an element towards the size of a cluster
	buffer     buffer // nil while nobody writes to the column
	suppressed bool   // in the current cluster
	offset     *int64 // of the current cluster's first element; that of all representations
}

// buffer is a Buffer of any type.
type buffer interface {
	flush()   // has the elements sealed as a page
	retract() // takes back the room that is not used
}

// NewSink returns a sink for the columns of s.
func NewSink(ctx context.Context, out *Output, set Settings, headerChecksum uint64) *Sink {
	s := &Sink{ctx: ctx, out: out, set: set, sums: headerChecksum}
	s.budget.limit = set.PageBudget
	s.crew.others = set.Workers - 1
	s.begin(0)
	return s
}

// AddColumns adds columns that the schema has got, behind those it knows.
func (s *Sink) AddColumns(columns []*schema.Column) {
	for _, c := range columns[len(s.columns):] {
		// ROOT counts whole bytes for every element, of bits, too.
		k := &columnSink{column: c, sink: s, packed: c.Format().PageSize(1), offset: new(int64), suppressed: c.Representation > 0}
		if first := c.Owner.Columns[0][c.Index]; first != c {
			k.offset = s.columns[first.ID].offset
		} else {
			*k.offset = c.FirstElement
		}
		s.columns = append(s.columns, k)
		// ROOT's sink has a second one behind it, with pages that stay empty.
		s.makeRoom(2*initialPage, 0)
		s.capacity = append(s.capacity, initialPage)
		s.filling += 2 * initialPage
		s.current.pages = append(s.current.pages, nil)
	}
	s.allot()
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

// Fail makes err the sink's error, unless it has one. Nothing is written after
// it.
func (s *Sink) Fail(err error) {
	s.wait()
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

// EndEntries counts n entries as complete, and commits the cluster if it is
// large enough.
func (s *Sink) EndEntries(n int64) error {
	s.entries += n
	if s.err != nil {
		return s.err
	}
	select {
	case <-s.ctx.Done():
		s.Fail(s.ctx.Err())
		return s.err
	default:
	}
	if s.unzipped < s.limit || !s.full() {
		return s.err
	}
	return s.commit()
}

// full reports whether the cluster is large enough.
func (s *Sink) full() bool {
	s.settle()
	if s.unzipped >= s.limit && s.pending != nil {
		s.wait() // it tells the limit exactly
		s.limit = s.estimate(s.zippedSum)
	}
	s.allot()
	return s.unzipped >= s.limit
}

// settle makes unzipped exact.
func (s *Sink) settle() {
	for _, c := range s.columns {
		if c.buffer != nil {
			c.buffer.retract()
		}
	}
}

// allot divides up what is left of the cluster. If the columns fill at the same
// pace none has to ask again; and the fewer bytes are left, the more often they
// are settled.
func (s *Sink) allot() {
	s.share = max(0, s.limit-s.unzipped) / int64(max(1, len(s.columns)))
}

// estimate returns how many bytes, uncompressed, make a cluster of the wanted
// size if the clusters so far have the given size. It computes as ROOT does.
func (s *Sink) estimate(zipped int64) int64 {
	wanted := s.set.ZippedCluster
	switch {
	case zipped > 0:
		ratio := min(1000, float32(s.unzippedSum)/float32(zipped))
		wanted = int64(ratio * float32(wanted))
	case s.set.Compression.Level() > 0:
		wanted *= 2
	}
	return min(wanted, s.set.UnzippedCluster)
}

// CommitCluster writes the entries since the last cluster as one, if there are
// any.
func (s *Sink) CommitCluster() error {
	if s.entries > s.first && s.err == nil {
		s.settle()
		s.commit()
	}
	s.wait()
	return s.err
}

// commit ends the current cluster, and begins to write it once the one before is
// written.
func (s *Sink) commit() error {
	if s.wait(); s.err != nil {
		return s.err
	}
	for _, c := range s.columns {
		if c.buffer != nil {
			c.buffer.flush()
		}
	}
	c := s.current
	c.Cluster = envelope.Cluster{FirstEntry: uint64(s.first), NumEntries: uint64(s.entries - s.first)}
	c.lists = make([]envelope.ColumnPages, len(s.columns))
	for i, k := range s.columns {
		if k.suppressed {
			c.lists[i] = envelope.ColumnPages{ElementOffset: envelope.Suppressed}
			continue
		}
		c.lists[i] = envelope.ColumnPages{ElementOffset: *k.offset, Compression: uint32(s.set.Compression)}
		if c.settings != nil {
			c.lists[i].Compression = c.settings[i]
		}
		for _, p := range c.pages[i] {
			*k.offset += int64(p.elements)
		}
	}
	s.first = s.entries
	s.unzippedSum += s.unzipped
	for _, n := range s.counters {
		*n = 0
	}
	s.pending = c
	c.start()
	s.begin(s.zippedSum + c.atMost)
	return s.err
}

// begin begins a cluster. Those before have up to zipped bytes in the file,
// which makes the limit one from below.
func (s *Sink) begin(zipped int64) {
	s.current = &cluster{
		sink: s, arena: &arena{}, pages: make([][]*sealing, len(s.columns)),
		known: map[uint64][]byte{}, done: make(chan struct{}),
	}
	if n := len(s.spare); n > 0 {
		s.current.arena, s.spare = s.spare[n-1], s.spare[:n-1]
	}
	s.unzipped = 0
	if s.set.Workers <= 1 {
		s.wait()
		zipped = s.zippedSum
	}
	s.limit = s.estimate(zipped)
	s.allot()
}

// wait returns when no cluster is being written.
func (s *Sink) wait() {
	c := s.pending
	if c == nil {
		return
	}
	s.crew.help()
	<-c.done
	s.pending = nil
	s.spare = append(s.spare, c.arena.reset())
	if c.err != nil {
		s.Fail(c.err)
		return
	}
	s.unshared.add(c.unshared)
	s.zippedSum += c.size
	s.list(c.Cluster, c.lists)
}

// list adds a cluster that is written to the cluster group.
func (s *Sink) list(c envelope.Cluster, pages []envelope.ColumnPages) {
	s.group.Clusters = append(s.group.Clusters, c)
	s.group.Pages = append(s.group.Pages, envelope.ClusterPages{Columns: pages})
	for i := range pages {
		s.groupPages += len(pages[i].Pages)
	}
}

// GroupSize returns how many clusters of the current cluster group have been
// written, and their pages.
func (s *Sink) GroupSize() (clusters, pages int) { return len(s.group.Clusters), s.groupPages }

// CommitClusterGroup ends the current cluster and the cluster group.
func (s *Sink) CommitClusterGroup() error {
	if err := s.CommitCluster(); err != nil {
		return err
	}
	return s.EndGroup()
}

// EndGroup ends the cluster group with the clusters that have been written; the
// current one goes on.
func (s *Sink) EndGroup() error {
	n := len(s.group.Clusters)
	if s.err != nil || n == 0 {
		return s.err
	}
	last := s.group.Clusters[n-1]
	end := int64(last.FirstEntry + last.NumEntries)
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
		MinEntry: uint64(s.groupFirst), EntrySpan: uint64(end - s.groupFirst), NumClusters: uint32(n), PageList: link,
	})
	s.group, s.groupFirst, s.groupPages = envelope.PageList{}, end, 0
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

// WriteEnvelope writes an envelope, compressed as pages are. It comes behind the
// clusters that sinks have committed to out.
func WriteEnvelope(out *Output, plain []byte, set Settings) (locator.Link, error) {
	stored, err := compress.Append(nil, plain, set.Compression)
	if err != nil {
		return locator.Link{}, err
	}
	out.await()
	at, err := anchor.WriteBlob(stored, set.MaxKeySize, out.blob)
	return locator.Link{Length: uint64(len(plain)), Locator: locator.At(uint64(at), uint64(len(stored)))}, err
}
