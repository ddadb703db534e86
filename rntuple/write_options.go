package rntuple

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/remote"
)

// FileOptions configures how a ROOT file is written. The zero value and a nil pointer select the
// defaults. Functions that take FileOptions copy them.
type FileOptions struct {
	// Context is used for writing. When it is done, all methods of the File and its writers,
	// including Close, return its error, and no file is created. Default: context.Background().
	Context context.Context

	// Compression configures the compression of records that do not belong to an RNTuple. Default:
	// compress.Default, or that of the RNTuple for functions that create both.
	Compression compress.Settings

	// UUID identifies the file. Files with the same UUID, dates and contents are byte-for-byte
	// identical. Default: random.
	UUID [16]byte

	// Clock provides the dates of the file's records. Default: time.Now.
	Clock func() time.Time

	// NoSync makes Close and Checkpoint return without waiting for the disk, which saves a few
	// milliseconds on most disks. A power failure can then lose the new data and damage existing
	// data of the file.
	NoSync bool

	// NoReplace makes an existing file at the path of a new one an error that wraps fs.ErrExist.
	// This is checked on creation, and atomically, like O_EXCL, when Close or the first checkpoint
	// renames the new file. For URLs, the guarantees are those of uploads in package remote.
	// NoReplace is an error for files that are updated.
	NoReplace bool

	// LockWait is the maximum time to wait for another process that is updating the file or, when a
	// new file is closed, the file to be replaced. Default: no wait; the error wraps ErrLocked.
	LockWait time.Duration

	// Upload configures how URLs are written.
	Upload remote.Options
}

// WriteOptions configures how an RNTuple is written, and the file if the function creates or opens
// one. The zero value and a nil pointer select the defaults, which are those of ROOT's
// RNTupleWriteOptions. Functions that take WriteOptions copy them, and return an error for options
// they do not support.
type WriteOptions struct {
	// File configures the file for functions that create or open it. For functions that write an
	// RNTuple to a File it must be zero.
	File FileOptions

	// Description is the description of the RNTuple. Append keeps the existing one.
	Description string

	// Compression configures the compression of pages and envelopes. compress.None disables it, and
	// makes plain encodings the default instead of split ones. Default: compress.Default, zstd at
	// level 5; for Append, that of the existing pages.
	Compression compress.Settings

	// ClusterSize is the target size of a cluster on disk in bytes. The writer keeps this much in
	// memory until the cluster is complete, and twice as much with several Workers, which write one
	// cluster while the next is filled. Default: 128 MiB.
	ClusterSize int64

	// MaxUnzippedClusterSize is the uncompressed size in bytes at which a cluster always ends.
	// Default: ten times ClusterSize.
	MaxUnzippedClusterSize int64

	// MaxUnzippedPageSize is the maximum size of a page in memory, in bytes. Default: 1 MiB.
	MaxUnzippedPageSize int64

	// PageBufferBudget limits the memory in bytes of pages that are being filled. When they exceed
	// it, the largest ones are written early, with the same policy as in ROOT. It should be at
	// least 512 bytes per column; otherwise, no page grows beyond 256 bytes. Default: ClusterSize,
	// or twice that with compression.
	PageBufferBudget int64

	// MaxKeySize is the size in bytes, at least 16, above which pages and envelopes are split over
	// several keys of the ROOT file. Append keeps the existing one. Default: 1 GiB, the maximum in
	// ROOT.
	MaxKeySize int64

	// NoChecksums writes pages without checksums. Identical pages, which are detected by their
	// checksums, are then not shared.
	NoChecksums bool

	// NoSharing stores identical pages of a cluster separately instead of once.
	NoSharing bool

	// Workers is the number of goroutines that encode and compress pages, including the caller's.
	// With more than one, clusters are written in the background, and errors may be returned by
	// later calls. It is also the number of goroutines of Fill. The bytes written do not depend on
	// it. Default: runtime.GOMAXPROCS(0).
	Workers int

	// ZoneMap is a list of patterns of the fields to include in a zone map: their minimum and
	// maximum, and whether there are NaNs, in each cluster, with which conditions skip clusters
	// without reading them. "*" selects all fields; see surgery.Index for patterns and the contents
	// of zone maps. With Append, the new clusters are added to the existing map, or to a new one
	// that covers only them. The cost is about that of one pass over the values.
	ZoneMap []string

	// Projections are additional projected fields, besides those of the document.
	Projections []Projection

	// ExtendSchema makes Append add a top-level field for each member of T without a field. The
	// field is zero in existing entries. Otherwise, such members are an error.
	//
	// Specification: "Schema Extension Record Frame".
	ExtendSchema bool

	// Limits bounds the memory with which Append reads the metadata of the existing RNTuple.
	Limits Limits
}

// A Projection is a projected field: a view, with the given C++ type, of the field at the path
// Source; see ViewOf for paths. For example, a std::vector<float> can be a view of the float
// "jets.pt" if jets is a collection, and a "ROOT::RNTupleCardinality<std::uint64_t>" is the size of
// a collection.
//
// Specification: "Field Description", projected fields.
type Projection struct{ Name, CppType, Source string }

// base returns the options of package ntuple.
func (o *FileOptions) base() (*ntuple.WriteOptions, error) {
	return (&WriteOptions{File: *cmp.Or(o, new(FileOptions))}).base()
}

// base returns the options of package ntuple.
func (o *WriteOptions) base() (*ntuple.WriteOptions, error) {
	o = cmp.Or(o, new(WriteOptions))
	base, f := ntuple.NewWriteOptions(), &o.File
	p := &base.Pages
	var errs []error
	positive := func(name string, from int64, to *int64) {
		if from < 0 {
			errs = append(errs, fmt.Errorf("%s: %d; the number must be positive", name, from))
		}
		*to = cmp.Or(from, *to)
	}
	positive("ClusterSize", o.ClusterSize, &p.ZippedCluster)
	positive("MaxUnzippedClusterSize", o.MaxUnzippedClusterSize, &p.UnzippedCluster)
	positive("MaxUnzippedPageSize", o.MaxUnzippedPageSize, &p.MaxPage)
	positive("PageBufferBudget", o.PageBufferBudget, &base.PageBudget)
	workers := int64(p.Workers)
	positive("Workers", int64(o.Workers), &workers)
	p.Workers = int(workers)
	if o.MaxKeySize != 0 {
		if o.MaxKeySize < 16 || o.MaxKeySize > 1<<30 {
			errs = append(errs, fmt.Errorf("MaxKeySize: %d bytes; the size must be from 16 bytes to 1 GiB", o.MaxKeySize))
		}
		p.MaxKeySize = uint64(o.MaxKeySize)
	}
	settings := func(name string, s compress.Settings, to *compress.Settings) {
		switch {
		case s == compress.None:
			*to = 0
		case s != 0:
			if _, err := compress.Append(nil, nil, s); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", name, err))
			}
			*to = s
		}
	}
	settings("Compression", o.Compression, &p.Compression)
	base.File.Compression = p.Compression
	settings("File.Compression", f.Compression, &base.File.Compression)
	p.NoChecksums, p.NoSharing = o.NoChecksums, o.NoSharing
	base.Description, base.ExtendSchema = o.Description, o.ExtendSchema
	base.ZoneMap, base.ZoneFields = len(o.ZoneMap) > 0, o.ZoneMap
	for _, p := range o.Projections {
		base.Projections = append(base.Projections, ntuple.Projection(p))
	}
	errs = append(errs, o.Limits.check())

	base.Context = cmp.Or(f.Context, base.Context)
	base.NoSync, base.NoReplace, base.Wait = f.NoSync, f.NoReplace, f.LockWait
	base.Upload = remote.UploadOptions{Options: f.Upload, Replace: !f.NoReplace}
	base.File.UUID, base.File.Clock = f.UUID, f.Clock
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("WriteOptions: %w", err)
	}
	base.Derive()
	return base, nil
}

// file returns the options of the file of an RNTuple with these options.
func (o *WriteOptions) file() *FileOptions {
	o = cmp.Or(o, new(WriteOptions))
	f := o.File
	f.Compression = cmp.Or(f.Compression, o.Compression)
	return &f
}

// alone returns the options without those of the file.
func (o *WriteOptions) alone() *WriteOptions {
	alone := *cmp.Or(o, new(WriteOptions))
	alone.File = FileOptions{}
	return &alone
}

// in returns the options of package ntuple for an RNTuple that begins in a file.
func (o *WriteOptions) in(f *File) (*ntuple.WriteOptions, error) {
	o = cmp.Or(o, new(WriteOptions))
	err := refuse(
		refusal{!reflect.ValueOf(o.File).IsZero(), "File is not for an RNTuple in a file that is open"},
		refusal{o.ExtendSchema, "ExtendSchema is for Append"},
		refusal{o.Limits != Limits{}, "Limits are for Append"})
	if err != nil {
		return nil, err
	}
	base, err := o.base()
	if err == nil {
		base.Context = f.ctx
	}
	return base, err
}

// A refusal is why an operation refuses an option if it is set.
type refusal struct {
	set  bool
	text string
}

// refuse returns an error if options are set that an operation cannot honour.
func refuse(options ...refusal) error {
	var errs []error
	for _, o := range options {
		if o.set {
			errs = append(errs, fmt.Errorf("option %s", o.text))
		}
	}
	return errors.Join(errs...)
}
