package ntuple

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/internal/input"
	"github.com/go-rntuple/go-rntuple/internal/legacy"
	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/internal/metadata"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Reader is an RNTuple that is open for reading. It is safe for concurrent use.
type Reader struct {
	Path    string // path in the file, or the class of the anchor for NewReaderAt
	Anchor  *anchor.Anchor
	Version string // version of the format, in words if it is before 1.0.0.0
	Header  *envelope.Header
	Footer  *envelope.Footer
	Source  *pagesource.Source // source of its pages
	Options *ReadOptions       // with the limits for this file

	closer io.Closer // nil if the caller closes the file

	// How the RNTuple is found again; nil if the anchor was given, or is in a bare file.
	again func(context.Context) (*Reader, error)
	trail atomic.Pointer[rootfile.Trail] // of the anchor, or of that of the RNTuple with the set
	sum   uint64                         // checksum of the footer

	mu    sync.Mutex
	memos map[any]any // see Memo
}

// Open opens an RNTuple in a file; see rntuple.Open for the name.
func Open(at location.Location, name string, o *ReadOptions) (*Reader, error) {
	if at.IsObjects() {
		return openObjects(at, name, o)
	}
	f, size, err := input.Open(o.Context, at, !o.NoMap, o.Remote)
	if err != nil {
		return nil, err
	}
	r, err := NewReader(f, size, name, o)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	r.closer = f
	return r, nil
}

// NewReader opens an RNTuple in the file of size bytes that r reads. If a commit changes the
// file meanwhile, it begins again.
func NewReader(r io.ReaderAt, size int64, name string, o *ReadOptions) (*Reader, error) {
	return rootfile.Retry(o.Context, func() (*Reader, error) { return newReader(r, size, name, o) })
}

// newReader is NewReader without trying again.
func newReader(r io.ReaderAt, size int64, name string, o *ReadOptions) (*Reader, error) {
	file, bare, err := openContainer(r, size)
	switch {
	case err != nil:
		return nil, err
	case bare != nil && name != "" && name != bare.Name:
		return nil, fmt.Errorf("RNTuple %q: %w; the file has %s", name, rootfile.ErrNotFound, bare.Name)
	case bare != nil:
		return open(pagesource.Blobs{R: r, Size: size}, bare.Name, bare.Class, bare.Anchor, nil, o)
	}
	if name == "" {
		if name, err = onlyName(file); err != nil {
			return nil, err
		}
	}
	key, trail, err := file.Locate(name, anchor.ClassName, anchor.ExperimentalClassName)
	if err != nil {
		return nil, notFound(file, name, trail.Check(err))
	}
	object, err := readAnchor(file, key)
	if err != nil {
		return nil, fmt.Errorf("RNTuple %q: %w", name, trail.Check(err))
	}
	n, err := open(pagesource.Blobs{R: r, Size: file.Size()}, name, key.Class, object, trail, o)
	if err != nil {
		return nil, err
	}
	n.again = func(ctx context.Context) (*Reader, error) {
		return rootfile.Retry(ctx, func() (*Reader, error) { return newReader(r, size, name, o) })
	}
	return n, nil
}

// NewReaderAt opens the RNTuple that an anchor describes. The object is the anchor as
// serialized in the file, uncompressed, and class its class.
func NewReaderAt(r io.ReaderAt, size int64, class string, object []byte, o *ReadOptions) (*Reader, error) {
	return open(pagesource.Blobs{R: r, Size: size}, class, class, object, nil, o)
}

func readAnchor(file *rootfile.File, key rootfile.Key) ([]byte, error) {
	if key.ObjLen > anchor.MaxSize {
		return nil, &frame.FormatError{Offset: key.SeekKey, Path: "anchor", Err: frame.Corrupt("%d bytes long", key.ObjLen)}
	}
	return file.Payload(key)
}

// open opens the RNTuple with the given anchor, to which trail has led, and reads its header
// and footer. The trail may be nil.
func open(blobs pagesource.Blobs, path, class string, object []byte, trail *rootfile.Trail,
	o *ReadOptions) (*Reader, error) {
	r := &Reader{Path: path, Options: new(ReadOptions), memos: map[any]any{}}
	*r.Options = *o
	r.Options.Limits = o.Limits.For(blobs.Size)
	if blobs.InObjects() {
		r.Options.Limits = o.Limits.ForObjects()
	}
	r.Options.Workers = cmp.Or(o.Workers, DefaultWorkers(blobs.Far()))
	r.trail.Store(trail)
	if err := r.open(blobs, class, object); err != nil {
		return nil, fmt.Errorf("RNTuple %q: %w", path, err)
	}
	return r, nil
}

func (r *Reader) open(blobs pagesource.Blobs, class string, object []byte) error {
	o, trail := r.Options, r.trail.Load()
	if err := o.Context.Err(); err != nil {
		return err
	}
	parseAnchor, parse := parseAnchor, metadata.Parse
	if class == anchor.ExperimentalClassName {
		parseAnchor, parse = legacy.ParseAnchor, legacy.Parse
	} else if blobs.InObjects() {
		parse = parseObjects
	}
	a, err := parseAnchor(object)
	if err != nil {
		return trail.Check(err)
	}
	blobs.MaxKeySize, blobs.SkipChecksums = a.MaxKeySize, o.SkipChecksums
	blobs.MaxPage, blobs.MaxEnvelope = o.Limits.PageBytes, o.Limits.EnvelopeBytes
	header, err := blobs.Envelope(o.Context, "header", a.Header())
	if err != nil {
		return trail.Check(err)
	}
	footer, err := blobs.Envelope(o.Context, "footer", a.Footer())
	if err := trail.Check(err); err != nil { // now no commit can spoil the rest
		return err
	}
	m, err := parse(a, header, footer)
	if err != nil {
		return err
	}
	if err := cmp.Or(m.Header.Features.Supported(), m.Footer.Features.Supported()); err != nil {
		return err
	}
	if stored := m.Footer.HeaderChecksum; stored != m.HeaderChecksum {
		return &frame.FormatError{Path: "footer.header checksum", Err: frame.BadChecksum(stored, m.HeaderChecksum)}
	}
	s, err := schema.Build(m.Header, m.Footer.Extension)
	if err != nil {
		return err
	}
	src, err := pagesource.NewSource(blobs, s, m.HeaderChecksum, m.Footer)
	if err != nil {
		return err
	}
	src.ParsePageList = m.PageList
	src.Workers, src.Budget = o.Workers, o.ReadAhead
	src.Reload = r.reload
	r.Anchor, r.Version, r.Header, r.Footer, r.Source, r.sum = a, m.Version, m.Header, m.Footer, src, checksum.Sum(footer)
	return nil
}

// parseAnchor reads an anchor of the current format.
func parseAnchor(object []byte) (*anchor.Anchor, error) {
	a, err := anchor.Parse(object)
	if err != nil {
		return nil, err
	}
	return a, a.Supported()
}

// Close closes the file if Open opened it.
func (r *Reader) Close() error {
	if r.closer == nil {
		return nil
	}
	return r.closer.Close()
}

// CloseWith makes Close close c.
func (r *Reader) CloseWith(c io.Closer) { r.closer = c }

// Legacy reports whether the RNTuple has a format from before 1.0.0.0.
func (r *Reader) Legacy() bool { return r.Anchor.Epoch == 0 }

// OpenSet opens the RNTuple that stores a linked attribute set. It reads from the file of r
// and need not be closed. If a commit has changed the file since r was opened, the set may
// be that of a newer state.
//
// The error wraps rootfile.ErrNotFound if there is no such set, and
// frame.ErrUnsupported if the major version of its schema is not 1, or for objects.
func (r *Reader) OpenSet(name string) (*Reader, error) {
	set, err := r.openSet(name)
	if !errors.Is(err, rootfile.ErrStale) {
		return set, err
	}
	return r.newestSet(r.Options.Context, name)
}

// newestSet is OpenSet for the newest state of the RNTuple.
func (r *Reader) newestSet(ctx context.Context, name string) (*Reader, error) {
	return rootfile.Retry(ctx, func() (*Reader, error) {
		newest, err := r.newest(ctx)
		if err != nil {
			return nil, err
		}
		return newest.openSet(name)
	})
}

// openSet is OpenSet without trying again.
func (r *Reader) openSet(name string) (*Reader, error) {
	var names []string
	var link *envelope.AttributeSet
	for i, s := range r.Footer.AttributeSets {
		if s.Name == name {
			if link != nil {
				return nil, &frame.FormatError{Path: "footer.attribute sets", Err: frame.Corrupt("two of this name")}
			}
			link = &r.Footer.AttributeSets[i]
		}
		names = append(names, s.Name)
	}
	switch {
	case link == nil:
		return nil, fmt.Errorf("%w; the RNTuple has %q", rootfile.ErrNotFound, names)
	case r.Source.InObjects(): // the anchor has a template for their URLs, but ROOT does not read them (PR 23066)
		return nil, frame.Unsupported("attribute sets in objects: no version of ROOT reads them yet")
	case link.SchemaMajor != 1:
		return nil, frame.Unsupported("schema version %d.%d", link.SchemaMajor, link.SchemaMinor)
	case link.AnchorLength > anchor.MaxSize:
		return nil, &frame.FormatError{Path: "footer.attribute sets",
			Err: frame.Corrupt("anchor of %d bytes", link.AnchorLength)}
	}
	trail := r.trail.Load()
	blobs := r.Source.Blobs
	blobs.MaxKeySize = 0 // an anchor is never split
	object, err := blobs.Envelope(r.Options.Context, "anchor",
		locator.Link{Length: uint64(link.AnchorLength), Locator: link.Anchor})
	if err != nil {
		return nil, trail.Check(err)
	}
	set, err := open(blobs, name, anchor.ClassName, object, trail, r.Options)
	if err != nil {
		return nil, err
	}
	if err := set.checkSet(name, link.SchemaMinor); err != nil {
		return nil, err
	}
	if r.again != nil {
		set.again = func(ctx context.Context) (*Reader, error) { return r.newestSet(ctx, name) }
	}
	return set, nil
}

// SetFields are the top-level fields of an attribute set of schema version 1.0, in
// order.
var SetFields = []string{"_rangeStart", "_rangeLen", "_userData"}

// checkSet checks r against the name and the schema version in its link.
func (r *Reader) checkSet(name string, minor uint16) error {
	if r.Header.Name != name {
		return &frame.FormatError{Path: "header.name", Err: frame.Corrupt("%q, the link says %q", r.Header.Name, name)}
	}
	top := r.Source.Schema.TopLevel()
	if n := len(top); n < len(SetFields) || n > len(SetFields) && minor == 0 {
		return &frame.FormatError{Path: "header.fields",
			Err: frame.Corrupt("%d top-level fields, expected %d", n, len(SetFields))}
	}
	for i, want := range SetFields {
		if top[i].Name != want {
			return &frame.FormatError{Path: "header.fields",
				Err: frame.Corrupt("top-level field %q, expected %q", top[i].Name, want)}
		}
	}
	return nil
}

// Compression returns the first compression settings of the first cluster's columns that
// this library can write. It is not ok if there are none.
func (r *Reader) Compression(ctx context.Context) (s compress.Settings, ok bool, err error) {
	if r.Source.Entries == 0 {
		return 0, false, nil
	}
	first, err := r.Source.Find(ctx, 0)
	if err != nil {
		return 0, false, err
	}
	for _, c := range first.Columns() {
		s := compress.Settings(c.Compression)
		if _, err := compress.Append(nil, nil, s); len(c.Pages) > 0 && err == nil {
			return s, true, nil
		}
	}
	return 0, false, nil
}

// Memo returns what compute has returned for the key, which other packages keep with the
// RNTuple; the key should be of a type of theirs. Only one goroutine computes at a time, and
// errors are not kept.
func Memo[T any](r *Reader, key any, compute func() (T, error)) (T, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok := r.memos[key]; ok {
		return v.(T), nil
	}
	v, err := compute()
	if err == nil {
		r.memos[key] = v
	}
	return v, err
}
