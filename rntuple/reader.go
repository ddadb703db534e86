// Package rntuple reads and writes RNTuples, the columnar data sets of CERN's
// ROOT, without ROOT.
//
// Create writes an RNTuple from structs; CreateRecords and CreateColumns from
// dynamic values and from slices. Open gives a Reader of one RNTuple in a file. What it holds is read
//
//   - field by field, with ViewOf and JaggedOf: values of a Go type, or for
//     collections one flat slice and the bounds of the entries in it;
//   - entry by entry into a struct, with Entries;
//   - without Go types, as the dynamic values of package value, with RecordsOf,
//     or with the type any in place of every other one.
//
// All of them read as well from several files: from a Chain of them, one after the
// other, and from a Join, side by side or matched by the values of fields.
//
// Fields and Go types go together like this:
//
//	bool, std::int8_t … std::uint64_t      bool, int8 … uint64
//	char, std::byte                        int8, byte
//	float, double, Double32_t              float32, float64, float64
//	enum, std::atomic                      the type of the underlying value
//	std::string                            string, []byte
//	vector, RVec, sets, collections        []T; set, unordered_set: map[T]struct{}, too
//	std::array, T[N]                       [N]T, []T
//	std::bitset                            [N]bool, []bool, lowest bit first
//	optional, unique_ptr                   *T, []T
//	map, unordered_map                     map[K]V, or []struct with `rntuple:"_0"`, `rntuple:"_1"`
//	multimaps                              []struct as above
//	pair, tuple                            struct with `rntuple:"_0"`, `rntuple:"_1"` …
//	classes, untyped records               struct; base classes are `rntuple:":_0"` …
//	ROOT::RNTupleCardinality               uint64
//	objects written by ROOT's streamers    []byte
//	variant, and all of the above          any
//
// Types may differ from these as ROOT allows it, see docs/evolution.md: any integer
// type or bool takes any integer, a float type any float, *T a plain value. A value
// that gets lost is a *ConversionError, which names the entry.
//
// Bad input gives errors of type *FormatError that wrap ErrCorrupt, ErrChecksum
// or ErrUnsupported.
package rntuple

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/internal/legacy"
	"github.com/go-rntuple/go-rntuple/internal/mmap"
	"github.com/go-rntuple/go-rntuple/internal/pages"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/internal/wire"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A FormatError says what is wrong with a file, and where. Its members are
// Offset, in bytes, from the start of the file or, within an envelope, of the
// uncompressed envelope; Path, the name of the thing at fault; and Err.
type FormatError = wire.FormatError

// A MismatchError lists all fields that do not fit the Go type that they are to
// be read into, with what the file has and a type that would fit.
type MismatchError = field.MismatchError

// A ConversionError is a value that the Go type it is to be read into cannot
// hold. Its members are Path, of the field; Entry, the number of the entry; Value,
// as the file has it; and Go, the type. It wraps ErrRange.
type ConversionError = field.ConversionError

// Errors are tested for with errors.Is.
var (
	ErrCorrupt     = wire.ErrCorrupt      // the bytes contradict the format
	ErrChecksum    = wire.ErrChecksum     // a checksum does not match
	ErrUnsupported = wire.ErrUnsupported  // newer than this library, or beyond a limit
	ErrRange       = column.ErrRange      // a value does not fit the type of its field, or the Go type
	ErrNoField     = schema.ErrNoField    // there is no such field
	ErrNotFound    = rootfile.ErrNotFound // there is no such RNTuple
)

// A Reader reads one RNTuple. It is safe for concurrent use; the views made
// from it serve one goroutine each.
type Reader struct {
	core
	ctx context.Context
}

// core is what Readers of the same RNTuple share.
type core struct {
	path    string
	anchor  *anchor.Anchor
	version string // of the format
	header  *envelope.Header
	footer  *envelope.Footer
	src     *pages.Source
	config  *config
	closer  io.Closer
}

// Open opens an RNTuple in the file at path. The name may lead through
// directories of the file, "dir/sub/name", and choose a cycle, "name;2", where
// an object was written several times; else it is the newest. With an empty
// name it is the one RNTuple at the top level of the file.
//
// The error wraps ErrNotFound if there is no such RNTuple. The caller closes the
// Reader.
func Open(path, name string, opts ...Option) (*Reader, error) {
	config, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	f, size, err := openFile(path, !config.copies)
	if err != nil {
		return nil, err
	}
	r, err := newReader(f, size, name, config)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r.closer = f
	return r, nil
}

type file interface {
	io.ReaderAt
	io.Closer
}

// openFile opens the file at path and returns its size. It maps the file into
// memory if that is wanted and can be done.
func openFile(path string, mapped bool) (file, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s: is a directory", path)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	if mapped {
		if m, err := mmap.New(f, info.Size()); err == nil {
			return m, info.Size(), nil
		}
	}
	return f, info.Size(), nil
}

// NewReader opens an RNTuple in the ROOT file of size bytes that ra reads; ra
// must be safe for concurrent use if the Reader is to be. See Open.
func NewReader(ra io.ReaderAt, size int64, name string, opts ...Option) (*Reader, error) {
	config, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	return newReader(ra, size, name, config)
}

func newReader(ra io.ReaderAt, size int64, name string, config *config) (*Reader, error) {
	blobs := pages.Blobs{R: ra, Size: size}
	config.limits = config.limits.For(size)
	file, bare, err := openContainer(ra, size)
	switch {
	case err != nil:
		return nil, err
	case bare != nil && name != "" && name != bare.Name:
		return nil, fmt.Errorf("RNTuple %q: %w; the file has %s", name, ErrNotFound, bare.Name)
	case bare != nil:
		return open(blobs, bare.Name, bare.Class, bare.Anchor, config)
	}
	if name == "" {
		if name, err = onlyName(file); err != nil {
			return nil, err
		}
	}
	key, err := file.Find(name, anchor.ClassName, anchor.ExperimentalClassName)
	if err != nil {
		return nil, notFound(file, name, err)
	}
	object, err := readAnchor(file, key)
	if err != nil {
		return nil, fmt.Errorf("RNTuple %q: %w", name, err)
	}
	return open(blobs, name, key.Class, object, config)
}

// openContainer opens a ROOT file, or the other container that RNTuples can be in.
func openContainer(ra io.ReaderAt, size int64) (*rootfile.File, *legacy.Bare, error) {
	file, err := rootfile.Open(ra, size)
	if errors.Is(err, ErrUnsupported) {
		if bare, bareErr := legacy.ReadBare(ra, size); bare != nil || bareErr != nil {
			return nil, bare, bareErr
		}
	}
	return file, nil, err
}

// onlyName returns the name of the one RNTuple at the top level of a file.
func onlyName(file *rootfile.File) (string, error) {
	infos, err := list(file)
	if err != nil {
		return "", err
	}
	var names []string
	for _, i := range infos {
		if i.newest && !strings.Contains(i.Path, "/") {
			names = append(names, i.Path)
		}
	}
	switch {
	case len(names) == 0:
		return "", notFound(file, "", fmt.Errorf("RNTuple at the top level: %w", ErrNotFound))
	case len(names) > 1:
		return "", fmt.Errorf("the file has several RNTuples, name one of them: %s", strings.Join(names, ", "))
	}
	return names[0], nil
}

// notFound adds to err, if it says that there is no RNTuple of a name, which
// ones there are.
func notFound(file *rootfile.File, name string, err error) error {
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	infos, listErr := list(file)
	if listErr != nil || len(infos) == 0 {
		return err
	}
	var paths []string
	for _, i := range infos {
		paths = append(paths, i.Path)
	}
	return fmt.Errorf("RNTuple %q: %w; the file has %s", name, ErrNotFound, strings.Join(paths, ", "))
}

func isAnchor(k rootfile.Key) bool {
	return k.Class == anchor.ClassName || k.Class == anchor.ExperimentalClassName
}

// maxAnchor is far above the 78 bytes that anchors have today.
const maxAnchor = 1 << 16

func readAnchor(file *rootfile.File, key rootfile.Key) ([]byte, error) {
	if key.ObjLen > maxAnchor {
		return nil, &FormatError{Offset: key.SeekKey, Path: "anchor", Err: wire.Corrupt("%d bytes long", key.ObjLen)}
	}
	return file.Payload(key)
}

// open reads header and footer, which object, an anchor of the given class, leads
// to.
func open(blobs pages.Blobs, path, class string, object []byte, config *config) (*Reader, error) {
	fail := func(err error) (*Reader, error) { return nil, fmt.Errorf("RNTuple %q: %w", path, err) }
	if err := config.ctx.Err(); err != nil {
		return fail(err)
	}
	parseAnchor, parse := parseAnchor, parse
	if class == anchor.ExperimentalClassName {
		parseAnchor, parse = legacy.ParseAnchor, legacy.Parse
	}
	a, err := parseAnchor(object)
	if err != nil {
		return fail(err)
	}
	blobs.MaxKeySize, blobs.SkipChecksums = a.MaxKeySize, config.skipChecksums
	blobs.MaxPage, blobs.MaxEnvelope = config.limits.PageBytes, config.limits.EnvelopeBytes
	header, err := blobs.Envelope("header", locator.Link{Length: a.LenHeader, Locator: locator.At(a.SeekHeader, a.NBytesHeader)})
	if err != nil {
		return fail(err)
	}
	footer, err := blobs.Envelope("footer", locator.Link{Length: a.LenFooter, Locator: locator.At(a.SeekFooter, a.NBytesFooter)})
	if err != nil {
		return fail(err)
	}
	m, err := parse(a, header, footer)
	if err != nil {
		return fail(err)
	}
	for _, features := range []envelope.Features{m.Header.Features, m.Footer.Features} {
		if err := features.Supported(); err != nil {
			return fail(err)
		}
	}
	if stored := m.Footer.HeaderChecksum; stored != m.HeaderChecksum {
		return fail(&FormatError{Path: "footer.header checksum", Err: wire.Mismatch(stored, m.HeaderChecksum)})
	}
	s, err := schema.Build(m.Header, m.Footer.Extension)
	if err != nil {
		return fail(err)
	}
	src, err := pages.NewSource(blobs, s, m.HeaderChecksum, m.Footer)
	if err != nil {
		return fail(err)
	}
	src.ParsePageList = m.PageList
	src.Workers, src.Budget = config.workers, config.readAhead
	c := core{path: path, anchor: a, version: m.Version, header: m.Header, footer: m.Footer, src: src, config: config}
	return &Reader{core: c, ctx: config.ctx}, nil
}

// parseAnchor reads an anchor of the current format.
func parseAnchor(object []byte) (*anchor.Anchor, error) {
	a, err := anchor.Parse(object)
	if err != nil {
		return nil, err
	}
	return a, a.Supported()
}

// parse reads header and footer of the current format.
func parse(a *anchor.Anchor, header, footer []byte) (m *legacy.Metadata, err error) {
	m = &legacy.Metadata{Version: legacy.Version(a)}
	if m.Header, err = envelope.ParseHeader(header); err != nil {
		return nil, err
	}
	if err := m.Header.Features.Supported(); err != nil { // else the footer may be of another form
		return nil, err
	}
	m.HeaderChecksum = envelope.Checksum(header)
	m.Footer, err = envelope.ParseFooter(footer)
	return m, err
}

// Close closes the file that Open has opened. It does nothing for readers made
// by NewReader.
func (r *Reader) Close() error {
	if r.closer == nil {
		return nil
	}
	return r.closer.Close()
}

// WithContext returns a Reader of the same RNTuple whose views and other
// methods stop with the context's error once it is done: it is asked before
// every page list and page that is read. Closing either Reader closes both.
func (r *Reader) WithContext(ctx context.Context) *Reader { return &Reader{r.core, ctx} }

// Name returns the name of the RNTuple, without directories.
func (r *Reader) Name() string { return r.header.Name }

// NumEntries returns the number of entries.
func (r *Reader) NumEntries() int64 { return r.src.Entries }

// Schema returns the schema.
func (r *Reader) Schema() *schema.Schema { return r.src.Schema }

// FormatVersion returns the version of the format that the writer supported,
// such as "1.0.1.0". That of a format before 1.0.0.0 is in words, and names the
// versions of ROOT that wrote it.
func (r *Reader) FormatVersion() string { return r.version }

// An EntryRange are the entries from First to End, End excluded.
type EntryRange struct{ First, End int64 }

// Len returns the number of entries.
func (e EntryRange) Len() int64 { return e.End - e.First }

// Clusters returns the entries of every cluster, in order. No page crosses
// these borders, so they are the places to split work at. It reads the page
// lists that have not been read yet.
func (r *Reader) Clusters() ([]EntryRange, error) {
	clusters, err := r.src.Clusters(r.ctx)
	if err != nil {
		return nil, err
	}
	ranges := make([]EntryRange, len(clusters))
	for i, c := range clusters {
		ranges[i] = EntryRange{c.First, c.End}
	}
	return ranges, nil
}

// Info says where an RNTuple lies in a file.
type Info struct {
	Path  string // as Open takes it, with the cycle if it is not the newest
	Class string // of the anchor; tells pre-release formats

	newest bool
}

// List returns the RNTuples that the directories of a ROOT file list.
func List(ra io.ReaderAt, size int64) ([]Info, error) {
	file, bare, err := openContainer(ra, size)
	switch {
	case err != nil:
		return nil, err
	case bare != nil:
		return []Info{{Path: bare.Name, Class: bare.Class, newest: true}}, nil
	}
	return list(file)
}

func list(file *rootfile.File) ([]Info, error) {
	var infos []Info
	var cycles []int
	newest := map[string]int{} // cycle, by path
	err := file.Walk(func(dir string, k rootfile.Key) error {
		if isAnchor(k) {
			path := strings.TrimPrefix(dir+"/"+k.Name, "/")
			newest[path] = max(newest[path], k.CycleNumber())
			infos, cycles = append(infos, Info{Path: path, Class: k.Class}), append(cycles, k.CycleNumber())
		}
		return nil
	})
	for i := range infos {
		if infos[i].newest = cycles[i] == newest[infos[i].Path]; !infos[i].newest {
			infos[i].Path = fmt.Sprintf("%s;%d", infos[i].Path, cycles[i])
		}
	}
	return infos, err
}

// ListFile returns the RNTuples in the file at path. See List.
func ListFile(path string) ([]Info, error) {
	f, size, err := openFile(path, false)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	infos, err := List(f, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return infos, nil
}
