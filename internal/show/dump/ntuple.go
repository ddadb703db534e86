package dump

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/internal/legacy"
	"github.com/go-rntuple/go-rntuple/internal/legacy/rc1"
	"github.com/go-rntuple/go-rntuple/internal/legacy/rc2"
	"github.com/go-rntuple/go-rntuple/internal/legacy/v0"
	"github.com/go-rntuple/go-rntuple/internal/metadata"
	inside "github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/locator"
)

// An ntuple holds what leads to the parts of an RNTuple.
type ntuple struct {
	path    string
	key     rootfile.Key
	object  []byte         // the anchor
	anchor  *anchor.Anchor // nil if it is damaged
	dialect dialect
	err     error // why there is no anchor
}

// A dialect is a version of the metadata's layout.
type dialect int

const (
	format1 dialect = iota
	release2
	release1
	before
)

// ntuple shows the parts of an RNTuple.
func (f *file) ntuple(opts Options) error {
	n, err := f.find(opts.NTuple)
	if err != nil {
		return err
	}
	all := !(opts.Anchor || opts.Header || opts.Footer || opts.PageLists || opts.PageList != nil || opts.Page != nil)
	if all || opts.Anchor {
		if err := f.anchor(n); err != nil {
			return err
		}
	}
	if n.err != nil {
		return fmt.Errorf("RNTuple %q: %w", n.path, n.err)
	}
	if all || opts.Header {
		if err := f.link(n, envelope.TypeHeader, "header", n.anchor.Header()); err != nil {
			return err
		}
	}
	if all || opts.Footer {
		if err := f.link(n, envelope.TypeFooter, "footer", n.anchor.Footer()); err != nil {
			return err
		}
	}
	if opts.Page != nil {
		if err := f.page(n, *opts.Page); err != nil {
			return err
		}
	}
	if !all && !opts.PageLists && opts.PageList == nil {
		return nil
	}
	m, err := f.metadata(n)
	if err != nil {
		return fmt.Errorf("RNTuple %q: %w", n.path, err)
	}
	if n.dialect == before {
		return nil // the footer holds everything
	}
	wanted := opts.PageList
	if all || opts.PageLists {
		wanted = wanted[:0]
		for i := range m.Footer.ClusterGroups {
			wanted = append(wanted, i)
		}
	}
	for _, i := range wanted {
		if i < 0 || i >= len(m.Footer.ClusterGroups) {
			return fmt.Errorf("RNTuple %q has %d cluster groups, no group %d", n.path, len(m.Footer.ClusterGroups), i)
		}
		if err := f.link(n, envelope.TypePageList, fmt.Sprintf("page list of cluster group %d", i),
			m.Footer.ClusterGroups[i].PageList); err != nil {
			return err
		}
	}
	return nil
}

// ntuples returns the RNTuples that directories list.
func (f *file) ntuples() (list []*ntuple, err error) {
	err = f.root.Walk(func(dir string, k rootfile.Key) error {
		if anchor.IsClass(k.Class) {
			list = append(list, f.open(strings.TrimPrefix(dir+"/"+k.Name, "/"), k))
		}
		return nil
	})
	return list, err
}

// find returns the RNTuple at a path.
func (f *file) find(path string) (*ntuple, error) {
	if path == "" {
		list, err := f.ntuples()
		if err != nil {
			return nil, err
		}
		var names []string
		for _, n := range list {
			if n.path == n.key.Name && !slices.Contains(names, n.path) {
				names = append(names, n.path)
			}
		}
		if len(list) == 0 {
			return nil, inside.None(f.root)
		}
		if len(names) != 1 {
			return nil, fmt.Errorf("the file has %d RNTuples at the top level; choose one of %s", len(names),
				strings.Join(names, ", "))
		}
		path = names[0]
	}
	k, err := f.root.Find(path, anchor.ClassName, anchor.ExperimentalClassName)
	if err != nil {
		return nil, err
	}
	return f.open(path, k), nil
}

// open reads an anchor.
func (f *file) open(path string, k rootfile.Key) *ntuple {
	n := &ntuple{path: path, key: k}
	if k.ObjLen > anchor.MaxSize {
		n.err = frame.Corrupt("anchor of %d bytes", k.ObjLen)
		return n
	}
	if n.object, n.err = f.root.Payload(k); n.err != nil {
		return n
	}
	parse := anchor.Parse
	if k.Class == anchor.ExperimentalClassName {
		parse = legacy.ParseAnchor
	}
	if n.anchor, n.err = parse(n.object); n.err != nil {
		return n
	}
	switch a := n.anchor; {
	case k.Class == anchor.ClassName || a.Epoch > 0 || a.Major > 2:
	case a.Major == 2:
		n.dialect = release2
	default:
		n.dialect = release1
		var version [4]byte // 0 in files before release candidate 1
		if _, err := f.r.ReadAt(version[:], int64(a.SeekHeader)); err == nil &&
			a.NBytesHeader == a.LenHeader && version == [4]byte{} {
			n.dialect = before
		} else if plain, err := f.envelope(n, n.anchor.Header()); err == nil && len(plain) >= 4 &&
			binary.LittleEndian.Uint32(plain) == 0 {
			n.dialect = before
		}
	}
	return n
}

func (f *file) blobs(n *ntuple) pagesource.Blobs {
	return pagesource.Blobs{R: f.r, Size: f.size, MaxKeySize: n.anchor.MaxKeySize,
		MaxPage: cmp.Or(f.max, 1<<40), MaxEnvelope: f.max}
}

// envelope returns the uncompressed envelope that a link points to.
func (f *file) envelope(n *ntuple, l locator.Link) ([]byte, error) {
	b := f.blobs(n)
	return b.Envelope(f.ctx, "envelope", l)
}

// metadata parses header and footer.
func (f *file) metadata(n *ntuple) (*metadata.Metadata, error) {
	header, err := f.envelope(n, n.anchor.Header())
	if err != nil {
		return nil, err
	}
	footer, err := f.envelope(n, n.anchor.Footer())
	if err != nil {
		return nil, err
	}
	if n.dialect != format1 {
		return legacy.Parse(n.anchor, header, footer)
	}
	m := &metadata.Metadata{HeaderChecksum: envelope.Checksum(header)}
	if m.Header, err = envelope.ParseHeader(header); err != nil {
		return nil, err
	}
	m.Footer, err = envelope.ParseFooter(footer)
	return m, err
}

// anchor shows the key and the object of an anchor.
func (f *file) anchor(n *ntuple) error {
	if err := f.key(n.key.SeekKey); err != nil {
		return err
	}
	return f.anchorObject(n)
}

func (f *file) anchorObject(n *ntuple) error {
	r := &Record{Title: fmt.Sprintf("anchor of RNTuple %q, class %s", n.path, n.key.Class), Lines: []Line{}}
	if n.object == nil {
		r.Error = n.err.Error()
	} else {
		walk := anchor.Walk
		if n.key.Class == anchor.ExperimentalClassName {
			walk = func(c *frame.Codec) { legacy.WalkAnchor(c, n.object) }
		}
		r = f.payload(r.Title, n.key, n.object, walk)
		last := &r.Lines[len(r.Lines)-1]
		switch {
		case n.err != nil && r.Error == "":
			r.Error = n.err.Error()
		case n.err == nil && last.Path == "checksum":
			last.Meaning = "right"
		}
	}
	r.place(n.key)
	return f.emit(r)
}

// link shows the envelope that a link points to, and the key before it.
func (f *file) link(n *ntuple, t envelope.Type, what string, l locator.Link) error {
	if err := f.blobKey(int64(l.Locator.Offset)); err != nil {
		return err
	}
	title := fmt.Sprintf("%s of RNTuple %q", what, n.path)
	plain, err := f.envelope(n, l)
	if err != nil {
		return f.emit(&Record{Title: title, Offset: int64(l.Locator.Offset), Stored: int64(l.Locator.Size),
			Lines: []Line{}, Error: err.Error()})
	}
	return f.emit(describeEnvelope(title, n, t, l, plain))
}

// describeEnvelope describes an envelope of any dialect.
func describeEnvelope(title string, n *ntuple, t envelope.Type, l locator.Link, plain []byte) *Record {
	r := described(title, plain, false, n.dialect.meanings(), n.dialect.walk(t))
	r.Offset, r.Stored = int64(l.Locator.Offset), int64(l.Locator.Size)
	r.Compressed = l.Length != l.Locator.Size
	r.Chunked = n.anchor.MaxKeySize != 0 && l.Locator.Size > n.anchor.MaxKeySize
	if n.dialect == format1 || n.dialect == release2 {
		r.verify(checksum.Size, func(b []byte) uint64 { return checksum.Sum(b) })
	} else {
		r.verify(crc32.Size, func(b []byte) uint64 { return uint64(crc32.ChecksumIEEE(b)) })
	}
	return r
}

// verify adds whether the checksum at the end of the record, of size bytes, is right.
func (r *Record) verify(size int, sum func([]byte) uint64) {
	if len(r.Lines) == 0 {
		return
	}
	last := &r.Lines[len(r.Lines)-1]
	if last.Path != "checksum" || len(last.Bytes) != size {
		return
	}
	var all []byte
	for _, l := range r.Lines[:len(r.Lines)-1] {
		all = append(all, l.Bytes...)
	}
	var stored [8]byte
	copy(stored[:], last.Bytes)
	if got := sum(all); got == binary.LittleEndian.Uint64(stored[:]) {
		last.Meaning = "right"
	} else {
		last.Meaning = fmt.Sprintf("wrong: that of the bytes is %#x", got)
		if r.Error == "" {
			r.Error = last.Meaning
		}
	}
}

func (d dialect) meanings() meanings {
	if d == format1 {
		return current
	}
	return older
}

// walk returns the walk over an envelope.
func (d dialect) walk(t envelope.Type) func(*frame.Codec) {
	if d == format1 || d == release2 && t == envelope.TypePageList {
		return func(c *frame.Codec) { envelope.Walk(c, t) }
	}
	body := map[dialect]map[envelope.Type]func(*frame.Codec){
		release2: {envelope.TypeHeader: new(rc2.Header).Wire, envelope.TypeFooter: new(rc2.Footer).Wire},
		release1: {envelope.TypeHeader: new(rc1.Header).Wire, envelope.TypeFooter: new(rc1.Footer).Wire,
			envelope.TypePageList: new(rc1.PageList).Wire},
		before: {envelope.TypeHeader: new(v0.Header).Wire, envelope.TypeFooter: new(v0.Footer).Wire},
	}[d][t]
	if d == release2 {
		return func(c *frame.Codec) { envelope.WalkBody(c, body) }
	}
	return func(c *frame.Codec) {
		if d == release1 {
			var version, least uint16
			frame.Int(c, "version", &version)
			frame.Int(c, "minimum version", &least)
		}
		c.Window("envelope", c.Left()-crc32.Size, func() { body(c) })
		var sum uint32
		frame.Int(c, "checksum", &sum)
	}
}
