package pagesink

import (
	"context"
	"slices"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Settings determine how a Sink lays out pages and clusters. Sizes are in bytes and
// have the meaning that they have in ROOT's RNTupleWriteOptions.
//
// A Sink holds in memory: the pages that are being filled, of PageBudget bytes; up to
// 5*Workers pages of MaxPage bytes that wait for a worker or are with one, which needs
// as much again for encoding and compression, and more pages that wait if PageBudget has
// room for them; the current cluster as it will be in the
// file; and, with several workers, the previous one, which is being written. It keeps
// that memory for the next clusters.
type Settings struct {
	Compression     compress.Settings
	ZippedCluster   int64 // wanted size of a cluster, compressed
	UnzippedCluster int64 // largest size of a cluster, uncompressed
	MaxPage         int64 // largest size of a page in memory
	PageBudget      int64 // memory for all pages that are being filled
	MaxKeySize      uint64
	NoChecksums     bool // pages have no checksums
	NoSharing       bool // equal pages of a cluster do not share their bytes
	Workers         int  // goroutines that seal pages, including the caller's; at least 1
}

// A Sink takes the elements of the columns of one RNTuple and writes them as pages
// and clusters. It may be used by one goroutine only. With several workers, further
// goroutines seal pages, and write a cluster while the next one is being filled. The
// number of workers does not change a byte of the file.
//
// Other goroutines can fill clusters of the same RNTuple: see Fork.
type Sink struct {
	*book
	// Written, if not nil, is told of each cluster that is in the file, in order: its
	// pages and, of the columns that Track was called for, the bounds of the elements as
	// far as they are known, both by column ID. It is called by the goroutine that uses
	// the sink.
	Written func(c envelope.Cluster, columns []envelope.ColumnPages, found []zonemap.Bounds) error

	guard   *guard // see Enter
	ctx     context.Context
	set     Settings
	columns []*columnSink
	track   map[schema.ColumnID]bool // columns to be tracked once they are added

	counters []*uint64 // reset with every cluster
	filled   int64     // entries of the current cluster

	budget   budget
	capacity []int64 // memory of the page that is being filled, by column, in bytes
	filling  int64   // sum of capacity, and of an initial page for each column
	workers  workers

	current *clusterBuilder // that is being filled
	pending *clusterBuilder // that is being written, or nil

	// The elements that buffers may hold count towards the size of the cluster, so
	// that nothing must be counted while they are added; see settle.
	unzipped  int64 // size that the current cluster may have before compression, in bytes
	limit     int64 // of unzipped; the cluster ends when it is reached
	allowance int64 // part of limit that a buffer gets at a time

	zippedSum, unzippedSum int64 // of all clusters before the current one

	fork   bool
	ticket int64 // of a fork
	begun  int64 // entries of a fork since Begin, without the current cluster's
}

// A columnSink is a column that is written.
type columnSink struct {
	column     *schema.Column
	sink       *Sink
	packed     int64  // what an element counts towards the size of a cluster, in bytes
	buffer     buffer // nil before NewBuffer
	suppressed bool   // in the current cluster
	offset     *int64 // number of elements in the clusters that have their place; one for all representations
	tracked    bool   // see Track
}

// pageSize returns the size in bytes of a page of n elements before compression.
func (c *columnSink) pageSize(n uint32) int { return int(c.column.Format().PageSize(n)) }

// buffer is a Buffer of any type.
type buffer interface {
	flush()   // ends the page and has it sealed
	retract() // takes back the room that is not used
	release() // gives back the memory of the page
}

// NewSink returns a sink for the columns of s.
func NewSink(ctx context.Context, out *Output, set Settings, headerChecksum uint64) *Sink {
	b := &book{out: out, sums: headerChecksum, queue: newQueue()}
	s := &Sink{book: b, guard: &out.guard, ctx: ctx, set: set}
	s.budget.limit = set.PageBudget
	s.workers.others = set.Workers - 1
	s.begin(0)
	return s
}

// AddColumns adds the columns that have been added to the schema, of which columns
// are all columns by ID.
func (s *Sink) AddColumns(columns []*schema.Column) {
	for _, c := range columns[len(s.columns):] {
		// ROOT counts whole bytes for every element, of bits, too.
		k := &columnSink{column: c, sink: s, packed: c.Format().PageSize(1), offset: new(int64),
			suppressed: c.Representation > 0, tracked: s.track[c.ID]}
		if first := c.Owner.Columns[0][c.Index]; first != c {
			k.offset = s.columns[first.ID].offset
		} else {
			*k.offset = c.FirstElement
		}
		s.add(k)
	}
	s.allot()
}

func (s *Sink) add(k *columnSink) {
	s.columns = append(s.columns, k)
	// ROOT has another sink behind this one, with pages that stay empty.
	s.makeRoom(2*initialPage, 0)
	s.capacity = append(s.capacity, initialPage)
	s.filling += 2 * initialPage
	s.current.pages = append(s.current.pages, nil)
}

// Activate makes another representation of a field the one that is written, from the
// current cluster on, which must be empty.
func (s *Sink) Activate(f *schema.Field, representation int) {
	for r, rep := range f.Columns {
		for _, c := range rep {
			s.columns[c.ID].suppressed = r != representation
		}
	}
}

// Resume sets the entries, the cluster groups and the number of elements of each
// column, by ID, that the RNTuple has already. The sink must have none yet.
func (s *Sink) Resume(entries int64, groups []Group, elements []int64) {
	s.entries, s.groupFirst = entries, entries
	s.groups = slices.Clone(groups)
	for i, n := range elements {
		*s.columns[i].offset = n
	}
}

// Column returns the column with the given ID, which must have been added.
func (s *Sink) Column(id schema.ColumnID) *schema.Column { return s.columns[id].column }

// Elements returns how many elements a column has in the clusters before the current
// one, in all representations together. It is 0 for a column that has not been added.
func (s *Sink) Elements(c *schema.Column) int64 {
	if int(c.ID) >= len(s.columns) {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.columns[c.ID].offset
}

// Settings returns the settings of the sink.
func (s *Sink) Settings() Settings { return s.set }

// HeaderChecksum returns the checksum of the header, which page lists repeat.
func (s *Sink) HeaderChecksum() uint64 { return s.sums }

// Entries returns the number of entries so far, including the current cluster's. Those of
// forks count once their place is known. A fork counts its own since Begin.
func (s *Sink) Entries() int64 {
	if s.fork {
		return s.begun + s.filled
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entries + s.filled
}

// Fail makes err the error of the RNTuple, unless it has one already. No cluster is
// begun to be written after that, and nothing is done in the background.
func (s *Sink) Fail(err error) {
	s.idle()
	s.fail(err)
}

// Counter returns a number that the sink sets to 0 at the start of each cluster.
func (s *Sink) Counter() *uint64 {
	n := new(uint64)
	s.counters = append(s.counters, n)
	return n
}

// EndEntries counts n entries as complete, and commits the cluster if it is
// large enough.
func (s *Sink) EndEntries(n int64) error {
	s.filled += n
	if err := s.Err(); err != nil {
		return err
	}
	select {
	case <-s.ctx.Done():
		s.Fail(s.ctx.Err())
		return s.Err()
	default:
	}
	if !s.Full() {
		return s.Err()
	}
	return s.commit()
}

// CommitCluster commits the current cluster, if it has entries, and returns when it
// is written; that of a fork is written later.
func (s *Sink) CommitCluster() error {
	s.EndCluster()
	return s.Wait()
}

// EndCluster is like CommitCluster, but does not wait until the cluster is written.
func (s *Sink) EndCluster() error {
	if err := s.ctx.Err(); err != nil {
		s.Fail(err) // what comes after the last entry must not make a file of it
	}
	if s.filled > 0 && s.Err() == nil {
		s.settle()
		s.commit()
	}
	return s.Err()
}

// Wait returns when all clusters that have been committed are written, and nothing is done in
// the background for the current one.
func (s *Sink) Wait() error {
	s.idle()
	return s.Err()
}

func (s *Sink) idle() {
	s.wait()
	s.workers.help()
	s.current.sealed.Wait()
}

// Release gives the memory of the sink back, for what is written or read next. All must be
// written, and the sink must not be used any more.
func (s *Sink) Release() {
	for _, c := range s.columns {
		if c.buffer != nil {
			c.buffer.release()
		}
	}
	for _, p := range s.budget.pools {
		p.release()
	}
	s.workers.release()
	s.current.arena.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.spare {
		a.release()
	}
	s.spare = nil
}

// commit ends the current cluster, and starts to write it once the previous one is
// written.
func (s *Sink) commit() error {
	for _, c := range s.columns { // first: these pages are sealed while the previous cluster is written
		if c.buffer != nil {
			c.buffer.flush()
		}
	}
	if s.wait(); s.Err() != nil {
		return s.Err()
	}
	c := s.current
	c.NumEntries, c.kinds = uint64(s.filled), s.tracks()
	c.lists = make([]envelope.ColumnPages, len(s.columns))
	for i, k := range s.columns {
		c.offsets = append(c.offsets, k.offset)
		if k.suppressed {
			c.lists[i] = envelope.ColumnPages{ElementOffset: envelope.Suppressed}
			continue
		}
		c.lists[i] = envelope.ColumnPages{Compression: uint32(s.set.Compression)}
		if c.compression != nil {
			c.lists[i].Compression = c.compression[i]
		}
	}
	s.begun += s.filled
	s.filled = 0
	s.unzippedSum += s.unzipped
	for _, n := range s.counters {
		*n = 0
	}
	if s.fork {
		s.hand(c)
	} else {
		s.pending = c
		s.write(c, s.set.Workers > 1)
	}
	s.begin(s.zippedSum + c.atMost)
	return s.Err()
}

// begin begins a cluster. The previous ones take at most zipped bytes in the file; if
// they take fewer, the limit is too low and is computed again when it is reached.
func (s *Sink) begin(zipped int64) {
	s.current = &clusterBuilder{
		sink: s, arena: s.newArena(), pages: make([][]*page, len(s.columns)),
		done: make(chan struct{}),
	}
	s.unzipped = 0
	if s.set.Workers <= 1 {
		s.wait()
		zipped = s.zippedSum
	}
	s.limit = s.estimate(zipped)
	s.allot()
}

// wait waits for the cluster that is being written, if there is one.
func (s *Sink) wait() {
	c := s.pending
	if c == nil {
		return
	}
	s.workers.help()
	<-c.done
	s.pending = nil
	s.zippedSum += c.size
	s.report()
}
