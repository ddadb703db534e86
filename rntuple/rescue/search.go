package rescue

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/legacy"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// defaultMaxKey is the default maximum key size of all known writers. It is assumed where
// the anchor is lost.
const defaultMaxKey = 1 << 30

// evidence is everything that a scan of the file has found.
type evidence struct {
	ctx         context.Context
	r           io.ReaderAt
	size        int64
	limits      rntuple.Limits
	compression compress.Settings
	report      Report

	blobs   []extent                // payloads of RBlobs, in the order of the file
	dirs    map[int64]rootfile.Key  // records of directories, by position
	anchors []*foundAnchor          // anchors of format 1
	refused map[int64]bool          // positions of headers in other formats
	tuples  []*tuple                // in the order of their headers
	sums    map[uint64]*tuple       // the same by checksum of the header
	seen    map[int64]envelope.Type // envelopes, by position
}

// An extent is a range of bytes in the file.
type extent struct{ at, end int64 }

// A foundAnchor is an anchor with a valid checksum.
type foundAnchor struct {
	*anchor.Anchor
	key    rootfile.Key
	path   string
	listed bool // in a directory that can be read
	sure   bool // directory and record have the same name
}

// A tuple is everything that belongs to a header, or to several equal ones.
type tuple struct {
	sum     uint64
	header  *envelope.Header
	plain   []byte  // the header envelope
	homes   []int64 // positions of the header
	footers []*footer
	lists   []group // page lists that the scan found
	anchors []*foundAnchor
}

// A footer is a footer with a valid checksum.
type footer struct {
	*envelope.Footer
	at      int64
	entries int64
}

// search gathers the evidence.
func search(ctx context.Context, r io.ReaderAt, size int64, limits rntuple.Limits) (*evidence, error) {
	e := &evidence{
		ctx: ctx, r: r, size: size, limits: limits, compression: compress.Default,
		dirs: map[int64]rootfile.Key{}, refused: map[int64]bool{}, sums: map[uint64]*tuple{}, seen: map[int64]envelope.Type{},
	}
	if bare, _ := legacy.ReadBare(r, size); bare != nil {
		return nil, frame.Unsupported("a bare RNTuple without a ROOT file around it")
	}
	listed := e.walk()
	var records []rootfile.Record
	names := map[int64]string{} // of anchors, by position
	err := rootfile.Scan(ctx, r, size, func(k rootfile.Record) error {
		e.report.Records++
		switch at, n := k.Payload(); {
		case k.Class == rootfile.BlobClassName:
			records = append(records, k)
			e.blobs = append(e.blobs, extent{at, min(at+n, size)})
		case strings.HasPrefix(k.Class, "TDirectory"):
			e.dirs[k.SeekKey] = k.Key
		case anchor.IsClass(k.Class):
			names[k.SeekKey] = k.Name
			if !slices.ContainsFunc(listed, func(a listedKey) bool { return a.SeekKey == k.SeekKey }) {
				listed = append(listed, listedKey{Key: k.Key})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, k := range listed {
		e.addAnchor(k, names[k.SeekKey] == k.Name)
	}
	// Headers come first, because the other envelopes refer to them.
	var others [][]byte
	var links []locator.Link
	add := func(at int64, plain []byte, stored int64) {
		if _, ok := e.seen[at]; ok || e.refused[at] {
			return
		}
		kind := envelope.Type(binary.LittleEndian.Uint64(plain))
		e.seen[at] = kind
		if kind == envelope.TypeHeader {
			e.addHeader(at, plain)
			return
		}
		links = append(links, locator.Link{Length: uint64(len(plain)), Locator: locator.At(uint64(at), uint64(stored))})
		if kind == envelope.TypePageList {
			plain = nil // there may be many page lists: they are read again
		}
		others = append(others, plain)
	}
	for _, a := range e.anchors {
		for _, l := range []locator.Link{a.Header(), a.Footer()} {
			if plain, err := e.envelope(l, a.MaxKeySize); err == nil {
				add(int64(l.Locator.Offset), plain, int64(l.Locator.Size))
			}
		}
	}
	for _, k := range records {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		at, n := k.Payload()
		if plain, err := e.probe(at, n); err != nil {
			return nil, err
		} else if plain != nil {
			add(at, plain, n)
		}
	}
	for i, l := range links {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		e.addOther(l, others[i])
	}
	e.assign()
	return e, nil
}

// lost reports a loss that belongs to none of the RNTuples.
func (e *evidence) lost(format string, args ...any) {
	e.report.Lost = append(e.report.Lost, fmt.Sprintf(format, args...))
}

// A listedKey is the key of an anchor with its path.
type listedKey struct {
	rootfile.Key
	path string // empty if no directory is known to list it
}

// walk returns the anchors that directories list, as far as these can be read.
func (e *evidence) walk() (anchors []listedKey) {
	f, err := rootfile.Open(e.r, e.size)
	if err == nil {
		if f.Header.End > e.size {
			e.report.Container = fmt.Sprintf("the file has %d bytes of %d", e.size, f.Header.End)
		}
		if s := compress.Settings(f.Header.Compression); s.Level() == 0 || known(s) {
			e.compression = s
		}
		err = f.Walk(func(dir string, k rootfile.Key) error {
			path := strings.TrimPrefix(dir+"/"+k.Name, "/")
			switch {
			case anchor.IsClass(k.Class):
				anchors = append(anchors, listedKey{k, path})
			case !strings.HasPrefix(k.Class, "TDirectory"):
				e.report.Left = append(e.report.Left, fmt.Sprintf("%s (%s)", path, k.Class))
			}
			return nil
		})
	}
	if err != nil {
		e.report.Container = err.Error()
	}
	return anchors
}

// known reports whether this library can write with the settings.
func known(s compress.Settings) bool {
	_, err := compress.Append(nil, nil, s)
	return err == nil
}

// addAnchor adds the anchor with a key. If sure is set, its name is certain.
func (e *evidence) addAnchor(k listedKey, sure bool) {
	path := cmp.Or(k.path, e.path(k.Key))
	a, err := e.readAnchor(k.Key)
	if err != nil {
		e.lost("anchor of RNTuple %q at %#x: %v", path, k.SeekKey, err)
		return
	}
	e.anchors = append(e.anchors, &foundAnchor{Anchor: a, key: k.Key, path: path, listed: k.path != "", sure: sure})
}

// readAnchor reads the anchor with a key. If its format is not supported, its header is refused.
func (e *evidence) readAnchor(k rootfile.Key) (*anchor.Anchor, error) {
	if k.ObjLen > anchor.MaxSize {
		return nil, fmt.Errorf("the object has %d bytes", k.ObjLen)
	}
	object, err := rootfile.ReadPayload(e.r, e.size, k)
	if err != nil {
		return nil, err
	}
	old, parse := k.Class == anchor.ExperimentalClassName, anchor.Parse
	if old {
		parse = legacy.ParseAnchor
	}
	a, err := parse(object)
	if err != nil {
		return nil, err
	}
	if err = a.Supported(); err != nil {
		e.refused[int64(a.SeekHeader)] = true
		if old {
			err = frame.Unsupported("RNTuples of pre-release format %s cannot be rescued", legacy.Version(a))
		}
	}
	return a, err
}

// path returns the path of an object whose key the scan found.
func (e *evidence) path(k rootfile.Key) string {
	path := k.Name
	for range 100 { // deeper nesting is damage
		d, ok := e.dirs[k.SeekPdir]
		if !ok {
			break
		}
		path, k = d.Name+"/"+path, d
	}
	return path
}

// envelope reads an envelope of any type and verifies its checksum.
func (e *evidence) envelope(l locator.Link, maxKey uint64) ([]byte, error) {
	blobs := pagesource.Blobs{R: e.r, Size: e.size, MaxKeySize: maxKey, MaxEnvelope: e.limits.EnvelopeBytes}
	plain, err := blobs.Envelope(e.ctx, "envelope", l)
	if err != nil {
		return nil, err
	}
	if len(plain) < 16 {
		return nil, frame.Corrupt("envelope of %d bytes", len(plain))
	}
	return plain, envelope.Open(plain, envelope.Type(binary.LittleEndian.Uint64(plain)), func(*frame.Codec) {})
}

// blockHead is the size of the header of a compressed block.
const blockHead = 9

// probe returns the uncompressed envelope in an RBlob with a payload of n bytes, or nil if
// the RBlob contains something else. Errors are those of reading the file.
func (e *evidence) probe(at, n int64) ([]byte, error) {
	var head [blockHead]byte
	if n < int64(len(head)) || n > e.size-at {
		return nil, nil
	}
	if _, err := e.r.ReadAt(head[:], at); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	word := binary.LittleEndian.Uint64(head[:])
	length, maxKey := word>>16, uint64(defaultMaxKey)
	kind := envelope.Type(word)
	isType := func() bool { return kind >= envelope.TypeHeader && kind <= envelope.TypePageList }
	switch {
	case isType() && length == uint64(n):
	case isType() && length > uint64(n) && length <= uint64(e.size):
		maxKey = uint64(n) // it may continue in other keys
		n = int64(length)
	default:
		var err error
		if length, err = e.blocks(at, n); err != nil || length == 0 {
			return nil, err
		}
	}
	plain, err := e.envelope(locator.Link{Length: length, Locator: locator.At(uint64(at), uint64(n))}, maxKey)
	if err != nil {
		if isType() && length == uint64(n) {
			e.lost("%v at %#x: %v", kind, at, err)
		}
		return nil, nil
	}
	if kind = envelope.Type(binary.LittleEndian.Uint64(plain)); !isType() {
		return nil, nil
	}
	return plain, nil
}

// blocks returns the uncompressed length of the n bytes at an offset if they consist of
// compressed blocks; it returns 0 if anything else follows, such as the checksum of a page.
func (e *evidence) blocks(at, n int64) (length uint64, err error) {
	var head [blockHead]byte
	for end := at + n; at < end; {
		if end-at < blockHead {
			return 0, nil
		}
		if _, err := e.r.ReadAt(head[:], at); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if !slices.ContainsFunc([]string{"ZS", "ZL", "L4", "XZ", "CS"},
			func(m string) bool { return bytes.HasPrefix(head[:], []byte(m)) }) {
			return 0, nil
		}
		little := func(b []byte) int64 { return int64(b[0]) | int64(b[1])<<8 | int64(b[2])<<16 }
		at += blockHead + little(head[3:])
		length += uint64(little(head[6:]))
		if at > end {
			return 0, nil
		}
	}
	return length, nil
}

// addHeader adds a header.
func (e *evidence) addHeader(at int64, plain []byte) {
	sum := envelope.Checksum(plain)
	if t := e.sums[sum]; t != nil {
		t.homes = append(t.homes, at)
		return
	}
	h, err := envelope.ParseHeader(plain)
	if err == nil {
		err = h.Features.Supported()
	}
	if err == nil && preRelease(h.Writer) &&
		!slices.ContainsFunc(e.anchors, func(a *foundAnchor) bool { return int64(a.SeekHeader) == at }) {
		err = frame.Unsupported("RNTuple %q by %q, before format 1, which cannot be rescued without its anchor", h.Name,
			h.Writer)
	}
	if err != nil {
		e.lost("header at %#x: %v", at, err)
		return
	}
	t := &tuple{sum: sum, header: h, plain: plain, homes: []int64{at}}
	e.sums[sum] = t
	e.tuples = append(e.tuples, t)
}

// preRelease reports whether a writer is a version of ROOT whose headers have another
// format, which can be parsed as format 1 but has another meaning.
func preRelease(writer string) bool {
	var major, minor int
	n, _ := fmt.Sscanf(writer, "ROOT v%d.%d", &major, &minor)
	return n == 2 && (major < 6 || major == 6 && minor < 34)
}

// addOther adds a footer or, if plain is nil, a page list.
func (e *evidence) addOther(l locator.Link, plain []byte) {
	at := int64(l.Locator.Offset)
	lost := func(what string, err error) { e.lost("%s at %#x: %v", what, at, err) }
	if plain == nil {
		list, err := e.pageList(l)
		if err != nil {
			lost("page list", err)
		} else if t := e.sums[list.HeaderChecksum]; t == nil {
			lost("page list", errNoHeader)
		} else if ref, ok := reference(l, list); ok {
			t.lists = append(t.lists, ref)
		}
		return
	}
	f, err := envelope.ParseFooter(plain)
	if err == nil {
		err = f.Features.Supported()
	}
	t := (*tuple)(nil)
	if err == nil {
		if t = e.sums[f.HeaderChecksum]; t == nil {
			err = errNoHeader
		}
	}
	if err != nil {
		lost("footer", err)
		return
	}
	entries := int64(0)
	for _, g := range f.ClusterGroups {
		if end := int64(g.MinEntry + g.EntrySpan); end >= entries && int64(g.MinEntry) >= 0 {
			entries = end
		}
	}
	t.footers = append(t.footers, &footer{f, at, entries})
}

var errNoHeader = errors.New("its header is lost")

// pageList reads a page list that the scan found.
func (e *evidence) pageList(l locator.Link) (*envelope.PageList, error) {
	maxKey := uint64(defaultMaxKey)
	if i := slices.IndexFunc(e.blobs, func(b extent) bool { return b.at == int64(l.Locator.Offset) }); i >= 0 {
		maxKey = uint64(e.blobs[i].end - e.blobs[i].at)
	}
	plain, err := e.envelope(l, maxKey)
	if err != nil {
		return nil, err
	}
	return envelope.ParsePageList(plain)
}

// reference returns the cluster group of a page list. It is not ok without clusters, or if
// their entries are invalid.
func reference(l locator.Link, list *envelope.PageList) (ref group, ok bool) {
	ref = group{Link: l, clusters: len(list.Clusters)}
	for i, c := range list.Clusters {
		first, end := int64(c.FirstEntry), int64(c.FirstEntry+c.NumEntries)
		if first < 0 || end < first {
			return ref, false
		}
		if i == 0 {
			ref.first = first
		}
		ref.first, ref.end = min(ref.first, first), max(ref.end, end)
	}
	return ref, len(list.Clusters) > 0
}

// assign assigns each anchor to the header that it points to, or to that of its footer.
func (e *evidence) assign() {
	for _, a := range e.anchors {
		var owner *tuple
		for _, t := range e.tuples {
			if slices.Contains(t.homes, int64(a.SeekHeader)) ||
				slices.ContainsFunc(t.footers, func(f *footer) bool { return f.at == int64(a.SeekFooter) }) {
				owner = t
			}
		}
		if owner == nil {
			e.lost("RNTuple %q, whose anchor is at %#x: %v", a.path, a.key.SeekKey, errNoHeader)
			continue
		}
		owner.anchors = append(owner.anchors, a)
		if !slices.Contains(owner.homes, int64(a.SeekHeader)) {
			owner.homes = append(owner.homes, int64(a.SeekHeader))
		}
	}
}
