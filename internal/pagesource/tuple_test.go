package pagesource

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/bufpool"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/schema"
)

const headerChecksum = 0x1234

// A tuple is an RNTuple that a test describes page by page.
type tuple struct {
	t      testing.TB
	schema *schema.Schema
	file   []byte

	compression compress.Settings
	maxKeySize  uint64
	crc32       bool // pages have the checksums of pre-release formats

	list    envelope.PageList // of the group that is being filled
	groups  []envelope.ClusterGroup
	entries uint64
	stored  map[*schema.Field][2]int64 // elements of a field's columns so far
}

func newTuple(t testing.TB, s *schema.Schema) *tuple {
	return &tuple{t: t, schema: s, compression: compress.Default, stored: map[*schema.Field][2]int64{},
		file: make([]byte, 16)}
}

// schemaOf returns the schema of fields of C++ types, of which some may have representations, and
// of those that are added when there are entries.
func schemaOf(t testing.TB, fields []*schema.FieldDocument, entries int64,
	added ...*schema.FieldDocument) *schema.Schema {
	t.Helper()
	d, err := (&schema.Document{Name: "n", Fields: fields}).Describe(true)
	if err != nil {
		t.Fatal(err)
	}
	h := &envelope.Header{Name: "n", Writer: "test", Schema: *d}
	s, err := schema.Build(h, nil)
	if err == nil && added != nil {
		var ext *envelope.Schema
		if ext, err = (&schema.Document{Fields: added}).Extend(s, entries, true); err == nil {
			s, err = schema.Build(h, ext)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Hidden) > 0 {
		t.Fatal(s.Hidden[0].Err)
	}
	return s
}

// field returns a field of the schema.
func (u *tuple) field(path string) *schema.Field {
	u.t.Helper()
	return fieldOf(u.t, u.schema, path)
}

func fieldOf(t testing.TB, s *schema.Schema, path string) *schema.Field {
	t.Helper()
	all, err := s.Lookup(path)
	if err != nil {
		t.Fatal(err)
	}
	return all[len(all)-1]
}

// blob writes a payload as a writer of ROOT files does, and returns its offset.
func (u *tuple) blob(payload []byte) uint64 {
	at, err := anchor.WriteBlob(payload, u.maxKeySize, func(parts ...[]byte) (int64, error) {
		at := len(u.file)
		u.file = append(u.file, slices.Concat(parts...)...)
		return int64(at), nil
	})
	if err != nil {
		u.t.Fatal(err)
	}
	return uint64(at)
}

// page writes a page of values.
func page[T column.Element](u *tuple, f column.Format, values []T) envelope.Page {
	u.t.Helper()
	e, err := column.NewEncoder[T](f)
	if err != nil {
		u.t.Fatal(err)
	}
	plain, err := e.Append(nil, values)
	if err != nil {
		u.t.Fatal(err)
	}
	b, err := compress.Append(nil, plain, u.compression)
	if err != nil {
		u.t.Fatal(err)
	}
	n := uint64(len(b))
	if u.crc32 {
		b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(plain))
	} else {
		b = binary.LittleEndian.AppendUint64(b, checksum.Sum(b))
	}
	return envelope.Page{NumElements: uint32(len(values)), HasChecksum: !u.crc32, HasCRC32: u.crc32,
		Locator: locator.At(u.blob(b), n)}
}

// chunk writes pages of at most per values of a column.
func chunk[T column.Element](u *tuple, c *schema.Column, values []T, per int) envelope.ColumnPages {
	u.t.Helper()
	stored := u.stored[c.Owner]
	pages := envelope.ColumnPages{ElementOffset: stored[c.Index], Compression: uint32(u.compression)}
	stored[c.Index] += int64(len(values))
	u.stored[c.Owner] = stored
	for part := range slices.Chunk(values, per) {
		pages.Pages = append(pages.Pages, page(u, c.Format(), part))
	}
	return pages
}

var suppressed = envelope.ColumnPages{ElementOffset: envelope.Suppressed}

// cluster adds a cluster with pages of its columns, by ID.
func (u *tuple) cluster(entries int, columns ...envelope.ColumnPages) {
	u.list.Clusters = append(u.list.Clusters, envelope.Cluster{FirstEntry: u.entries, NumEntries: uint64(entries)})
	u.list.Pages = append(u.list.Pages, envelope.ClusterPages{Columns: columns})
	u.entries += uint64(entries)
}

// group ends a cluster group.
func (u *tuple) group() {
	u.t.Helper()
	first := u.list.Clusters[0].FirstEntry
	g := envelope.ClusterGroup{MinEntry: first, EntrySpan: u.entries - first,
		NumClusters: uint32(len(u.list.Clusters))}
	g.PageList = u.pageList(&u.list)
	u.groups = append(u.groups, g)
	u.list = envelope.PageList{}
}

// pageList writes a page list.
func (u *tuple) pageList(list *envelope.PageList) locator.Link {
	u.t.Helper()
	list.HeaderChecksum = headerChecksum
	return u.envelope(list.Append)
}

// envelope writes an envelope.
func (u *tuple) envelope(appendTo func([]byte) ([]byte, error)) locator.Link {
	u.t.Helper()
	plain, err := appendTo(nil)
	if err != nil {
		u.t.Fatal(err)
	}
	b, err := compress.Append(nil, plain, u.compression)
	if err != nil {
		u.t.Fatal(err)
	}
	return locator.Link{Length: uint64(len(plain)), Locator: locator.At(u.blob(b), uint64(len(b)))}
}

// source returns a source for the tuple in a file, which must hold u.file.
func (u *tuple) source(r io.ReaderAt) *Source {
	u.t.Helper()
	s, err := NewSource(u.blobs(r), u.schema, headerChecksum, &envelope.Footer{ClusterGroups: u.groups})
	if err != nil {
		u.t.Fatal(err)
	}
	s.Workers, s.Budget = 1, 0
	return s
}

func (u *tuple) blobs(r io.ReaderAt) Blobs {
	return Blobs{R: r, Size: int64(len(u.file)), MaxKeySize: u.maxKeySize, MaxPage: 1 << 20, MaxEnvelope: 1 << 20}
}

// clusters returns the clusters of a source.
func clusters(t testing.TB, s *Source) []*Cluster {
	t.Helper()
	all, err := s.Clusters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A memory is a file at hand, which counts what is read.
type memory struct {
	data []byte

	mu    sync.Mutex
	reads []remote.Range                            // without the data: only their lengths count
	fault func(i int, offset int64, b []byte) error // of the i-th read, called after b is filled; may be nil
}

func (m *memory) ReadAt(b []byte, offset int64) (int, error) {
	if offset > int64(len(m.data)) {
		return 0, io.EOF
	}
	n := copy(b, m.data[offset:])
	m.mu.Lock()
	i := len(m.reads)
	m.reads = append(m.reads, remote.Range{Offset: offset, Data: make([]byte, len(b))})
	fault := m.fault
	m.mu.Unlock()
	if fault != nil {
		if err := fault(i, offset, b[:n]); err != nil {
			return 0, err
		}
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// forget forgets what has been read.
func (m *memory) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads = nil
}

// count returns how often the byte at an offset was read.
func (m *memory) count(offset uint64) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.reads {
		if r.Offset <= int64(offset) && int64(offset) < r.End() {
			n++
		}
	}
	return n
}

// A farFile is a memory that is far away.
type farFile struct {
	*memory
	costs remote.Costs
	gate  func(ctx context.Context, ranges []remote.Range) error // before the data arrive; may be nil

	mu                sync.Mutex
	requests          int
	running, most     int // requests
	underway, largest int // bytes that are under way, and of a request
}

func (f *farFile) Costs() remote.Costs { return f.costs }

func (f *farFile) ReadRanges(ctx context.Context, ranges []remote.Range) error {
	n := 0
	for _, r := range ranges {
		n += len(r.Data)
	}
	f.mu.Lock()
	f.requests++
	f.running++
	f.underway += n
	f.most, f.largest = max(f.most, f.running), max(f.largest, n)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.running--
		f.underway -= n
	}()
	if f.gate != nil {
		if err := f.gate(ctx, ranges); err != nil {
			return err
		}
	}
	for _, r := range ranges {
		if n, err := f.memory.ReadAt(r.Data, r.Offset); n < len(r.Data) {
			return err
		}
	}
	return nil
}

// A mapped is a memory of which the first bytes are mapped.
type mapped struct {
	*memory
	bytes int64
	used  int // how often
}

func (m *mapped) Len() int64 { return m.bytes }

func (m *mapped) Use(offset, n int64, use func([]byte) error) error {
	m.mu.Lock()
	m.used++
	m.mu.Unlock()
	return use(m.data[offset:][:n])
}

// A ledger knows which memory is lent.
type ledger struct {
	mu  sync.Mutex
	out map[unsafe.Pointer]bool
	bad int // what came back that was not out

	buffers map[*[]byte]bool
}

func (l *ledger) Get() any {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := new([]byte)
	l.buffers[b] = true
	return b
}

func (l *ledger) Put(b any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := b.(*[]byte)
	if !l.buffers[p] {
		l.bad++
	}
	delete(l.buffers, p)
	for i := range *p { // who uses it still is found out
		(*p)[i] = 0xee
	}
}

// lending makes sure that all memory that a test borrows is given back when it ends, except the
// pages that sources share, and only once. Goroutines must have ended before.
func lending(t testing.TB, shared ...*Source) *ledger {
	l := &ledger{out: map[unsafe.Pointer]bool{}, buffers: map[*[]byte]bool{}}
	before := buffers
	buffers = l
	end := bufpool.Watch(func(p unsafe.Pointer, back bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if back && !l.out[p] || !back && l.out[p] {
			l.bad++
		}
		if l.out[p] = !back; back {
			delete(l.out, p)
		}
	})
	t.Cleanup(func() {
		end()
		buffers = before
		l.check(t, shared...)
	})
	return l
}

// check reports memory that is not given back, except for pages that sources share.
func (l *ledger) check(t testing.TB, shared ...*Source) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := 0
	for _, s := range shared {
		for key := range s.shared.pages {
			if key.format != (column.Format{}) { // decoded
				kept++
			}
		}
	}
	if len(l.out) != kept || len(l.buffers) > 0 || l.bad > 0 {
		t.Errorf("%d pages, of which %d are shared, and %d buffers are not given back; %d were lent or given back twice",
			len(l.out), kept, len(l.buffers), l.bad)
	}
}
