package ntuple

import (
	"cmp"
	"context"
	"runtime"
	"time"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/disk/diskfile"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/remote"
)

// ReadOptions are the options for reading RNTuples.
type ReadOptions struct {
	Context       context.Context
	SkipChecksums bool // of pages; anchor and envelopes are always verified
	Limits        Limits
	Workers       int   // number of goroutines that fetch and decode pages for one view; 0 stands for a default
	ReadAhead     int64 // size in bytes of the decoded pages that a view may hold in advance
	NoMap         bool  // read local files without mapping them into memory
	MaxOpen       int   // number of inputs that a chain keeps open; 0 stands for a default
	AllowMissing  bool  // read fields that the file lacks as zero
	Remote        remote.Options
	TrustZones    *bool // use zone maps; nil: unless the file is far away
}

// NewReadOptions returns the default options.
func NewReadOptions() *ReadOptions {
	return &ReadOptions{Context: context.Background(), ReadAhead: 64 << 20}
}

// DefaultWorkers returns the default number of goroutines for files on disk, or for those that are
// far away, where most of them wait.
func DefaultWorkers(far bool) int {
	if far {
		return max(8, runtime.GOMAXPROCS(0))
	}
	return runtime.GOMAXPROCS(0)
}

// Limits bound the memory that a file can demand; see rntuple.Limits.
type Limits struct {
	PageBytes     int64 // the largest page, uncompressed and in memory
	EntryBytes    int64 // the collections and strings of one entry, as Go values
	EnvelopeBytes int64 // header, footer, and all page lists together, each uncompressed

	ExpressionBytes int64 // the values of an expression for a batch of entries
}

// maxLimit is the highest default of any limit.
const maxLimit = 1 << 30

// For returns the limits for a file of size bytes: l with defaults for members that are 0.
func (l Limits) For(size int64) Limits {
	scale := func(limit *int64, perByte, least int64) {
		if *limit == 0 {
			*limit = max(least, min(size, maxLimit/perByte)*perByte)
		}
	}
	scale(&l.PageBytes, 4096, 4<<20)
	scale(&l.EntryBytes, 4096, 4<<20)
	scale(&l.EnvelopeBytes, 512, 256<<10)
	l.ExpressionBytes = cmp.Or(l.ExpressionBytes, 256<<20)
	return l
}

// WriteOptions are the options for writing files and RNTuples. The defaults are those of
// ROOT's RNTupleWriteOptions.
type WriteOptions struct {
	Context     context.Context
	Description string // of the RNTuple
	Projections []Projection
	Pages       pagesink.Settings
	PageBudget  int64 // size in bytes of the pages being filled; 0: derived from the size of clusters
	File        rootfile.Options
	NoSync      bool          // do not wait until the disk has what is written
	NoReplace   bool          // of a file that exists at the path of a new one
	Wait        time.Duration // for how long to wait for the lock of another writer
	Upload      remote.UploadOptions
	AllowHidden bool // accept fields that this library cannot read
	// ExtendSchema adds fields to a resumed RNTuple if values have more fields than it;
	// otherwise that is an error.
	ExtendSchema bool
	// ZoneMap makes the RNTuple have a zone map, of the fields that match one of ZoneFields,
	// of all if there are none.
	ZoneMap    bool
	ZoneFields []string
}

// disk returns the options for files on disk.
func (o *WriteOptions) disk() diskfile.Options {
	return diskfile.Options{Context: o.Context, NoSync: o.NoSync, Wait: o.Wait, Upload: o.Upload, NoReplace: o.NoReplace}
}

// A Projection is a projected field to add: a view, of a C++ type, of the field at the path
// Source.
type Projection struct{ Name, CppType, Source string }

// NewWriteOptions returns the default options. Derive must be called once they are changed.
func NewWriteOptions() *WriteOptions {
	return &WriteOptions{
		Context: context.Background(),
		Upload:  remote.UploadOptions{Replace: true},
		Pages: pagesink.Settings{
			Compression:   compress.Default,
			ZippedCluster: 128 << 20,
			MaxPage:       1 << 20,
			MaxKeySize:    1 << 30,
			Workers:       runtime.GOMAXPROCS(0),
		},
		File: rootfile.Options{Compression: compress.Default},
	}
}

// Derive sets the options whose defaults depend on others.
func (o *WriteOptions) Derive() {
	p := &o.Pages
	p.UnzippedCluster = cmp.Or(p.UnzippedCluster, 10*p.ZippedCluster)
	p.PageBudget = o.PageBudget
	if p.PageBudget == 0 {
		p.PageBudget = p.ZippedCluster
		if p.Compression.Level() > 0 {
			p.PageBudget *= 2
		}
	}
	p.NoSharing = p.NoSharing || p.NoChecksums // equal pages are found by their checksums
	o.File.NoSync = o.NoSync
}
