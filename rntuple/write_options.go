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

// FileOptions say how a ROOT file is written. The zero value stands for the defaults, and so does
// a nil pointer. The functions that take FileOptions copy them.
type FileOptions struct {
	// Context is that of writing. Once it is done, all methods of the file and its writers return
	// its error, Close included, and no file is created. Default: context.Background().
	Context context.Context

	// Compression says how the records of the file itself are compressed. Default:
	// compress.Default, or as the RNTuple for the functions that create both.
	Compression compress.Settings

	// UUID is the identity of the file. Files with the same UUID, dates and contents are equal
	// byte for byte. Default: a random one.
	UUID [16]byte

	// Clock tells the dates of the file's records. Default: time.Now.
	Clock func() time.Time

	// NoSync is set to let Close and Checkpoint return before everything is on the disk, which is
	// faster, by some milliseconds on most disks. A power failure can then take away what was
	// written, and damage what the file had before.
	NoSync bool

	// NoReplace makes it an error, which wraps fs.ErrExist, if there is a file at the path of a new
	// one: when it is created, and when Close or the first checkpoint gives it its name, as O_EXCL
	// does for files that are opened. At a URL, the protocols of package remote promise as much as
	// for uploads that do not replace a file. It is an error for files that are updated.
	NoReplace bool

	// LockWait is how long to wait for another process that is updating the file, or, when a new
	// file is closed, the one that it replaces. Default: not at all; the error wraps ErrLocked.
	LockWait time.Duration

	// Upload says how a file is written whose name is a URL.
	Upload remote.Options
}

// WriteOptions say how an RNTuple is written, and the file if the function creates or opens one.
// The zero value stands for the defaults, which are those of ROOT's RNTupleWriteOptions, and so
// does a nil pointer. The functions that take WriteOptions copy them, and return an error for
// those that they cannot honour.
type WriteOptions struct {
	// File says how the file is written by functions that create or open it. For those that begin
	// an RNTuple in a File it must be the zero value.
	File FileOptions

	// Description is that of the RNTuple. Append keeps the one that the RNTuple has.
	Description string

	// Compression says how pages and envelopes are compressed. compress.None stores them, and makes
	// plain encodings the default instead of split ones. Default: compress.Default, zstd at level
	// 5; for Append, that of the existing pages.
	Compression compress.Settings

	// ClusterSize is the size in bytes that a cluster should have on disk. The writer holds that
	// much in memory until the cluster is complete; twice as much if there are several Workers,
	// which write a cluster while the next one is filled. Default: 128 MiB.
	ClusterSize int64

	// MaxUnzippedClusterSize is the uncompressed size in bytes at which a cluster always ends.
	// Default: ten times ClusterSize.
	MaxUnzippedClusterSize int64

	// MaxUnzippedPageSize is the largest size of a page in memory, in bytes. Default: 1 MiB.
	MaxUnzippedPageSize int64

	// PageBufferBudget is the size in bytes of the memory for pages that are being filled. When
	// they need more, the largest ones are written early, the same ones as in ROOT. At least 512
	// bytes per column are needed; with less, no page grows beyond 256 bytes. Default: ClusterSize,
	// or twice that with compression.
	PageBufferBudget int64

	// MaxKeySize is the size in bytes, from 16 on, above which pages and envelopes are split over
	// several keys of the ROOT file. Append keeps the one that the RNTuple has. Default: 1 GiB, the
	// largest that ROOT allows.
	MaxKeySize int64

	// NoChecksums is set to write pages without checksums. Equal pages, which are found by their
	// checksums, are then stored each for itself.
	NoChecksums bool

	// NoSharing is set to store equal pages of a cluster each for itself instead of once.
	NoSharing bool

	// Workers is the number of goroutines that encode and compress pages, including the caller's.
	// With more than one, clusters are written in the background, and errors may be returned by
	// later calls. Fill runs as many goroutines. The bytes written do not depend on it. Default:
	// runtime.GOMAXPROCS(0).
	Workers int

	// ZoneMap has patterns of the fields of which the RNTuple gets a zone map: the least and the
	// greatest value, and whether there are NaNs, in each cluster, with which conditions pass over
	// clusters unread. "*" stands for all fields; see surgery.Index for patterns and for what a
	// zone map has of a field. With Append, only the clusters that are added get into the map that
	// the RNTuple has, or a new one. It costs about as much as a look at every value.
	ZoneMap []string

	// Projections are fields without columns of their own, besides those of the document.
	Projections []Projection

	// ExtendSchema makes Append add a top-level field for each member of T without a field. The
	// field is zero in the existing entries. Otherwise such members are an error.
	//
	// Specification: "Schema Extension Record Frame".
	ExtendSchema bool

	// Limits are those with which Append reads the metadata of the existing RNTuple.
	Limits Limits
}

// A Projection is a projected field: a view, of the given C++ type, of the field at the path
// Source, which is as for ViewOf. For example, a std::vector<float> can be a view of the float
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
