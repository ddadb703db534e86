package dump

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/internal/legacy"
	"github.com/go-rntuple/go-rntuple/internal/legacy/rc1"
	"github.com/go-rntuple/go-rntuple/internal/legacy/rc2"
	"github.com/go-rntuple/go-rntuple/internal/legacy/v0"
	inside "github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/internal/wire"
	"github.com/go-rntuple/go-rntuple/locator"
)

// Options says what to show of a file.
type Options struct {
	// NTuple is the path of the RNTuple. If it is empty, the only one at the top
	// level is shown.
	NTuple string

	Container bool // header, directories, lists of keys, free list, streamer infos
	Anchor    bool // with its key, as are the following
	Header    bool
	Footer    bool
	PageLists bool   // all
	PageList  []int  // those of these cluster groups
	At        *int64 // the record that holds this byte
	Page      *Page
}

// A Page names a page by its column, its cluster and its number.
type Page struct{ Column, Cluster, Page int }

// A file is a ROOT file to be shown.
type file struct {
	ctx  context.Context
	r    io.ReaderAt
	size int64
	root *rootfile.File // nil if it cannot be opened
	emit func(*Record) error
}

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

// File calls emit for the records that opts selects in a file of size bytes, in the
// order of the options. Damaged records hold their error. If damage makes records
// impossible to find, File returns an error that says which.
func File(ctx context.Context, r io.ReaderAt, size int64, opts Options, emit func(*Record) error) error {
	f := &file{ctx: ctx, r: r, size: size, emit: emit}
	root, err := rootfile.Open(r, size)
	if err == nil {
		f.root = root
	}
	if opts.At != nil {
		return f.at(*opts.At)
	}
	if opts.Container {
		if shown := f.container(); shown != nil {
			return shown
		}
	}
	if !opts.Container || opts.NTuple != "" || opts.Anchor || opts.Header || opts.Footer || opts.PageLists || opts.PageList != nil || opts.Page != nil {
		if err != nil {
			return err
		}
		return f.ntuple(opts)
	}
	return err
}

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
		if err := f.link(n, envelope.TypeHeader, "header", n.header()); err != nil {
			return err
		}
	}
	if all || opts.Footer {
		if err := f.link(n, envelope.TypeFooter, "footer", n.footer()); err != nil {
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
		if err := f.link(n, envelope.TypePageList, fmt.Sprintf("page list of cluster group %d", i), m.Footer.ClusterGroups[i].PageList); err != nil {
			return err
		}
	}
	return nil
}

// ntuples returns the RNTuples that directories list.
func (f *file) ntuples() (list []*ntuple, err error) {
	err = f.root.Walk(func(dir string, k rootfile.Key) error {
		if k.Class == anchor.ClassName || k.Class == anchor.ExperimentalClassName {
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
			return nil, fmt.Errorf("the file has %d RNTuples at the top level; choose one of %s", len(names), strings.Join(names, ", "))
		}
		path = names[0]
	}
	k, err := f.root.Find(path, anchor.ClassName, anchor.ExperimentalClassName)
	if err != nil {
		return nil, err
	}
	return f.open(path, k), nil
}

// maxAnchor far exceeds the 78 bytes of today's anchors.
const maxAnchor = 1 << 16

// open reads an anchor.
func (f *file) open(path string, k rootfile.Key) *ntuple {
	n := &ntuple{path: path, key: k}
	if k.ObjLen > maxAnchor {
		n.err = wire.Corrupt("anchor of %d bytes", k.ObjLen)
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
		if _, err := f.r.ReadAt(version[:], int64(a.SeekHeader)); err == nil && a.NBytesHeader == a.LenHeader && version == [4]byte{} {
			n.dialect = before
		} else if plain, err := f.envelope(n, n.header()); err == nil && len(plain) >= 4 && binary.LittleEndian.Uint32(plain) == 0 {
			n.dialect = before
		}
	}
	return n
}

func (n *ntuple) header() locator.Link {
	return locator.Link{Length: n.anchor.LenHeader, Locator: locator.At(n.anchor.SeekHeader, n.anchor.NBytesHeader)}
}

func (n *ntuple) footer() locator.Link {
	return locator.Link{Length: n.anchor.LenFooter, Locator: locator.At(n.anchor.SeekFooter, n.anchor.NBytesFooter)}
}

func (f *file) blobs(n *ntuple) pagesource.Blobs {
	return pagesource.Blobs{R: f.r, Size: f.size, MaxKeySize: n.anchor.MaxKeySize, MaxPage: 1 << 40}
}

// envelope returns the uncompressed envelope that a link points to.
func (f *file) envelope(n *ntuple, l locator.Link) ([]byte, error) {
	b := f.blobs(n)
	return b.Envelope("envelope", l)
}

// metadata parses header and footer.
func (f *file) metadata(n *ntuple) (*legacy.Metadata, error) {
	header, err := f.envelope(n, n.header())
	if err != nil {
		return nil, err
	}
	footer, err := f.envelope(n, n.footer())
	if err != nil {
		return nil, err
	}
	if n.dialect != format1 {
		return legacy.Parse(n.anchor, header, footer)
	}
	m := &legacy.Metadata{HeaderChecksum: envelope.Checksum(header)}
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
			walk = func(c *wire.Codec) { legacy.WalkAnchor(c, n.object) }
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

// payload describes the object with the key k. Bytes that follow it in its record
// are shown, too.
func (f *file) payload(title string, k rootfile.Key, object []byte, walk func(*wire.Codec)) *Record {
	all := object
	if stored := int64(k.NBytes) - int64(k.KeyLen); int64(len(object)) < stored {
		if b, err := f.read(k.SeekKey+int64(k.KeyLen), stored); err == nil && int64(k.ObjLen) <= stored {
			all = b
		}
	}
	return described(title, all, true, container, func(c *wire.Codec) { c.Window("object", len(object), func() { walk(c) }) })
}

// place returns where the payload of a key lies in the file.
func (r *Record) place(k rootfile.Key) {
	r.Offset = k.SeekKey + int64(k.KeyLen)
	r.Stored = max(0, int64(k.NBytes)-int64(k.KeyLen))
	r.Compressed = int64(k.ObjLen) > r.Stored
}

// link shows the envelope that a link points to, and the key before it.
func (f *file) link(n *ntuple, t envelope.Type, what string, l locator.Link) error {
	if err := f.blobKey(int64(l.Locator.Offset)); err != nil {
		return err
	}
	title := fmt.Sprintf("%s of RNTuple %q", what, n.path)
	plain, err := f.envelope(n, l)
	if err != nil {
		return f.emit(&Record{Title: title, Offset: int64(l.Locator.Offset), Stored: int64(l.Locator.Size), Lines: []Line{}, Error: err.Error()})
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
func (d dialect) walk(t envelope.Type) func(*wire.Codec) {
	if d == format1 || d == release2 && t == envelope.TypePageList {
		return func(c *wire.Codec) { envelope.Walk(c, t) }
	}
	body := map[dialect]map[envelope.Type]func(*wire.Codec){
		release2: {envelope.TypeHeader: new(rc2.Header).Wire, envelope.TypeFooter: new(rc2.Footer).Wire},
		release1: {envelope.TypeHeader: new(rc1.Header).Wire, envelope.TypeFooter: new(rc1.Footer).Wire, envelope.TypePageList: new(rc1.PageList).Wire},
		before:   {envelope.TypeHeader: new(v0.Header).Wire, envelope.TypeFooter: new(v0.Footer).Wire},
	}[d][t]
	if d == release2 {
		return func(c *wire.Codec) { envelope.WalkBody(c, body) }
	}
	return func(c *wire.Codec) {
		if d == release1 {
			var version, least uint16
			wire.Int(c, "version", &version)
			wire.Int(c, "minimum version", &least)
		}
		c.Window("envelope", c.Left()-crc32.Size, func() { body(c) })
		var sum uint32
		wire.Int(c, "checksum", &sum)
	}
}

// blobKey shows the key of the RBlob whose payload begins at an offset, if there is
// one. Such keys have 34 bytes, or 42 in the big form.
func (f *file) blobKey(at int64) error {
	for _, n := range []int64{42, 34} {
		if k, ok := f.readKey(at - n); ok && int64(k.KeyLen) == n {
			return f.key(at - n)
		}
	}
	return nil
}

// readKey returns the key at an offset, if there is one.
func (f *file) readKey(at int64) (k rootfile.Key, ok bool) {
	b, err := f.read(at, keyMost)
	if err != nil || at < 0 {
		return k, false
	}
	c := wire.NewReader(b, "key", at).BigEndian()
	k.Wire(c)
	return k, c.Err() == nil && k.SeekKey == at
}

// keyMost exceeds the size of ROOT's keys.
const keyMost = 1 << 10

// key shows the key at an offset.
func (f *file) key(at int64) error {
	b, err := f.read(at, keyMost)
	if err != nil {
		return err
	}
	var k rootfile.Key
	k.Wire(wire.NewReader(b, "key", at).BigEndian())
	n := min(int64(len(b)), int64(max(k.KeyLen, 18)))
	r := described(fmt.Sprintf("key of %s %q", k.Class, k.Name), b[:n], true, container, new(rootfile.Key).Wire)
	r.Offset = at
	return f.emit(r)
}

// read returns n bytes of the file, or fewer at its end.
func (f *file) read(at, n int64) ([]byte, error) {
	if err := f.ctx.Err(); err != nil {
		return nil, err
	}
	if at < 0 || n < 0 || at > f.size {
		return nil, &wire.FormatError{Offset: at, Path: "file", Err: wire.Corrupt("the offset lies beyond the end, %#x", f.size)}
	}
	b := make([]byte, min(n, f.size-at))
	if n, err := f.r.ReadAt(b, at); n < len(b) {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return b, nil
}

// raw shows n bytes of the file, which walk reads. An error says what is missing.
func (f *file) raw(title string, at, n int64, m meanings, walk func(*wire.Codec)) error {
	b, err := f.read(at, n)
	if err != nil {
		return f.emit(&Record{Title: title, Offset: at, Lines: []Line{}, Error: err.Error()})
	}
	r := described(title, b, true, m, walk)
	r.Offset = at
	if int64(len(b)) < n && r.Error == "" {
		r.Error = fmt.Sprintf("the file ends after %d of %d bytes", len(b), n)
	}
	return f.emit(r)
}

const begin = 100

// container shows the records of the ROOT file.
func (f *file) container() error {
	n := int64(begin)
	var h rootfile.Header
	if b, err := f.read(0, n); err == nil {
		h.Wire(wire.NewReader(b, "", 0).BigEndian())
		if h.Begin >= begin && h.Begin < 1<<16 {
			n = int64(h.Begin)
		}
	}
	err := f.raw("file header", 0, n, fileHeader, func(c *wire.Codec) {
		new(rootfile.Header).Wire(c)
		if c.Err() == nil {
			padding := []byte(nil)
			c.Raw("padding", c.Left(), &padding)
		}
	})
	if err != nil {
		return err
	}
	top, ok := f.readKey(n)
	if !ok {
		top.NBytes = keyMost
	}
	if err := f.raw("first record, with the top directory", n, int64(top.NBytes), container, new(rootfile.Root).Wire); err != nil || f.root == nil {
		return err
	}
	list := func(path string, d rootfile.Directory) error {
		if d.SeekKeys == 0 {
			return nil
		}
		return f.raw("list of keys of the "+rootfile.DirectoryPath(path), d.SeekKeys, int64(d.NBytesKeys), container, new(rootfile.KeyList).Wire)
	}
	if err := list("", f.root.Root.Directory); err != nil {
		return err
	}
	damage := f.root.Walk(func(dir string, k rootfile.Key) error {
		if !strings.HasPrefix(k.Class, "TDirectory") {
			return nil
		}
		path := strings.TrimPrefix(dir+"/"+k.Name, "/")
		err := f.raw(rootfile.DirectoryPath(path), k.SeekKey, int64(k.NBytes), container, walkDirectory)
		if err != nil {
			return err
		}
		var d rootfile.Directory
		if b, err := f.read(k.SeekKey+int64(k.KeyLen), int64(k.NBytes)-int64(k.KeyLen)); err == nil {
			d.Wire(wire.NewReader(b, "", 0).BigEndian())
		}
		return list(path, d)
	})
	h = f.root.Header
	if h.SeekFree != 0 {
		if err := f.raw("list of free segments", h.SeekFree, int64(h.NBytesFree), container, new(rootfile.FreeList).Wire); err != nil {
			return err
		}
	}
	if h.SeekInfo != 0 {
		if err := f.infos(h.SeekInfo); err != nil {
			return err
		}
	}
	return damage
}

// walkDirectory reads the record of a directory other than the top one.
func walkDirectory(c *wire.Codec) {
	c.Within("key", func() { new(rootfile.Key).Wire(c) })
	new(rootfile.Directory).Wire(c)
}

// infos shows the record of the streamer information.
func (f *file) infos(at int64) error {
	if err := f.key(at); err != nil {
		return err
	}
	k, _ := f.readKey(at)
	return f.object("streamer infos", k, func(c *wire.Codec) { rootfile.WalkInfos(c, k.KeyLen) })
}

// object shows the object with a key, uncompressed.
func (f *file) object(title string, k rootfile.Key, walk func(*wire.Codec)) error {
	b, err := rootfile.ReadPayload(f.r, f.size, k)
	r := &Record{Title: title, Lines: []Line{}}
	if err != nil {
		r.Error = err.Error()
	} else {
		r = f.payload(title, k, b, walk)
	}
	r.place(k)
	return f.emit(r)
}
