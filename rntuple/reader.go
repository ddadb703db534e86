package rntuple

import (
	"cmp"
	"context"
	"io"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/entrance"
	"github.com/go-rntuple/go-rntuple/internal/input"
	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Errors to test for with errors.Is. Details are available with errors.As: a *frame.FormatError
// contains the problem of a file and its position, a *frame.LimitError the exceeded limit, a
// *schema.MismatchError the fields that are incompatible with a Go type, and a
// *schema.ConversionError a value out of range.
var (
	ErrCorrupt     = frame.ErrCorrupt     // the bytes contradict the format
	ErrChecksum    = frame.ErrChecksum    // a checksum does not match
	ErrUnsupported = frame.ErrUnsupported // newer than this library, or above a limit
	ErrRange       = column.ErrRange      // a value does not fit the type of its field, or the Go type
	ErrNoField     = schema.ErrNoField    // there is no such field
	ErrNotFound    = rootfile.ErrNotFound // there is no such RNTuple
)

// A Reader reads one RNTuple. It is safe for concurrent use, but each of its views must be used by
// one goroutine at a time.
type Reader struct {
	ntuple *ntuple.Reader
	ctx    context.Context
}

// Open opens an RNTuple in the file at path, which may be a URL, see package remote. The name may
// contain directories of the file, "dir/sub/name", and select a cycle, "name;2", of an object that
// was written several times; by default, Open selects the newest. An empty name selects the only
// RNTuple at the top level of the file.
//
// If a writer commits to the file concurrently, the Reader shows the state before or after a
// commit; Refresh returns later states.
//
// The error wraps ErrNotFound if there is no such RNTuple. The caller must close the
// Reader.
func Open(path, name string, o *ReadOptions) (*Reader, error) {
	return reader(o, func(o *ntuple.ReadOptions) (*ntuple.Reader, error) {
		return ntuple.Open(location.Parse(path), name, o)
	})
}

// NewReader opens an RNTuple in the ROOT file of size bytes that ra reads; ra must be safe for
// concurrent use if the Reader is used concurrently. See Open. If the file can grow, ra should have
// a method Stat like os.File, or Size like bytes.Reader, that returns its current size.
//
// RNTuples cannot be read from streams: their metadata is at the end of the file, and pages are
// read in any order.
func NewReader(ra io.ReaderAt, size int64, name string, o *ReadOptions) (*Reader, error) {
	return reader(o, func(o *ntuple.ReadOptions) (*ntuple.Reader, error) { return ntuple.NewReader(ra, size, name, o) })
}

// NewReaderFromAnchor opens the RNTuple of an anchor, for programs that read the directories of the
// ROOT file themselves. object is the serialized, uncompressed anchor; class is its class:
// ROOT::RNTuple or, in pre-release formats, ROOT::Experimental::RNTuple. See NewReader for ra and
// size.
func NewReaderFromAnchor(ra io.ReaderAt, size int64, class string, object []byte, o *ReadOptions) (*Reader, error) {
	return reader(o, func(o *ntuple.ReadOptions) (*ntuple.Reader, error) {
		return ntuple.NewReaderAt(ra, size, class, object, o)
	})
}

// reader returns the Reader of the RNTuple that open opens.
func reader(options *ReadOptions, open func(*ntuple.ReadOptions) (*ntuple.Reader, error)) (*Reader, error) {
	o, err := options.base()
	if err != nil {
		return nil, err
	}
	base, err := open(o)
	if err != nil {
		return nil, err
	}
	return readerOf(base), nil
}

func readerOf(base *ntuple.Reader) *Reader { return &Reader{base, base.Options.Context} }

func init() { entrance.Reader = func(base *ntuple.Reader) any { return readerOf(base) } }

// Close closes the file if it was opened by Open. It does nothing for Readers from NewReader and
// NewReaderFromAnchor.
func (r *Reader) Close() error { return r.ntuple.Close() }

// WithContext returns a Reader of the same RNTuple whose methods and views return the context's
// error when it is done. The context is checked before reading a page list or page, in every call
// of a view's method, and after every 256 values that a loop yields. Closing either Reader closes
// both.
func (r *Reader) WithContext(ctx context.Context) *Reader { return &Reader{r.ntuple, ctx} }

// Name returns the name of the RNTuple, without directories.
func (r *Reader) Name() string { return r.ntuple.Header.Name }

// NumEntries returns the number of entries.
func (r *Reader) NumEntries() int64 { return r.ntuple.Source.Entries }

// Schema returns the schema.
func (r *Reader) Schema() *schema.Schema { return r.ntuple.Source.Schema }

// FormatVersion returns the version of the format, such as "1.0.1.0". For formats before 1.0.0.0,
// it is a description with the versions of ROOT that wrote them.
func (r *Reader) FormatVersion() string { return r.ntuple.Version }

// An EntryRange is the range of entries from First up to but not including End.
type EntryRange struct {
	First int64 `json:"first"`
	End   int64 `json:"end"`
}

// Len returns the number of entries.
func (e EntryRange) Len() int64 { return e.End - e.First }

// Clusters returns the range of entries of every cluster, in order. Pages never cross cluster
// boundaries, so work is best partitioned there. Clusters reads page lists that have not been read
// yet.
func (r *Reader) Clusters() ([]EntryRange, error) {
	clusters, err := r.ntuple.Source.Clusters(r.ctx)
	if err != nil {
		return nil, err
	}
	ranges := make([]EntryRange, len(clusters))
	for i, c := range clusters {
		ranges[i] = EntryRange{c.First, c.End}
	}
	return ranges, nil
}

// Info describes an RNTuple that a file lists.
type Info struct {
	Path  string // the name for Open, including the cycle unless it is the newest
	Class string // the class of the anchor, which differs for pre-release formats

	// Newest reports whether no RNTuple of the file with the same path has a higher cycle. The
	// others are earlier states, such as before an append, or were superseded.
	Newest bool
}

// List returns the RNTuples that the directories of a ROOT file list. See NewReader for ra
// and size.
func List(ra io.ReaderAt, size int64) ([]Info, error) { return infos(ntuple.List(ra, size)) }

// ListFile returns the RNTuples in the file at a path or a URL. See List and Open.
func ListFile(ctx context.Context, path string, o *remote.Options) ([]Info, error) {
	return infos(ntuple.ListFile(ctx, location.Parse(path), *cmp.Or(o, new(remote.Options))))
}

// PathsIn returns the paths and URLs listed in a text file, which itself may be at a URL, for
// OpenChain and similar functions. There is one per line; blank lines and lines that begin with #
// are ignored. Paths are relative to the current directory, as for hadd.
func PathsIn(ctx context.Context, path string, o *remote.Options) ([]string, error) {
	return input.List(ctx, location.Parse(path), *cmp.Or(o, new(remote.Options)))
}

func infos(found []ntuple.Info, err error) ([]Info, error) {
	var all []Info
	for _, i := range found {
		all = append(all, Info(i))
	}
	return all, err
}
