package dump

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
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
	MaxMemory int64 // for a page or an envelope, uncompressed, in bytes; 0: no limit
}

// A Page names a page by its column, its cluster and its number.
type Page struct{ Column, Cluster, Page int }

// A file is a ROOT file to be shown.
type file struct {
	ctx  context.Context
	r    io.ReaderAt
	size int64
	root *rootfile.File // nil if it cannot be opened
	max  int64          // Options.MaxMemory
	emit func(*Record) error
}

// File calls emit for the records that opts selects in a file of size bytes, in the
// order of the options. Damaged records hold their error. If damage makes records
// impossible to find, File returns an error that says which.
func File(ctx context.Context, r io.ReaderAt, size int64, opts Options, emit func(*Record) error) error {
	f := &file{ctx: ctx, r: r, size: size, max: opts.MaxMemory, emit: emit}
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
	if !opts.Container || opts.NTuple != "" || opts.Anchor || opts.Header || opts.Footer || opts.PageLists ||
		opts.PageList != nil || opts.Page != nil {
		if err != nil {
			return err
		}
		return f.ntuple(opts)
	}
	return err
}

// payload describes the object with the key k. Bytes that follow it in its record
// are shown, too.
func (f *file) payload(title string, k rootfile.Key, object []byte, walk func(*frame.Codec)) *Record {
	all := object
	if stored := int64(k.NBytes) - int64(k.KeyLen); int64(len(object)) < stored {
		if b, err := f.read(k.SeekKey+int64(k.KeyLen), stored); err == nil && int64(k.ObjLen) <= stored {
			all = b
		}
	}
	return described(title, all, true, container,
		func(c *frame.Codec) { c.Window("object", len(object), func() { walk(c) }) })
}

// place returns where the payload of a key lies in the file.
func (r *Record) place(k rootfile.Key) {
	r.Offset = k.SeekKey + int64(k.KeyLen)
	r.Stored = max(0, int64(k.NBytes)-int64(k.KeyLen))
	r.Compressed = int64(k.ObjLen) > r.Stored
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
	c := frame.NewReader(b, "key", at).BigEndian()
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
	k.Wire(frame.NewReader(b, "key", at).BigEndian())
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
		return nil, &frame.FormatError{Offset: at, Path: "file",
			Err: frame.Corrupt("the offset lies beyond the end, %#x", f.size)}
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
func (f *file) raw(title string, at, n int64, m meanings, walk func(*frame.Codec)) error {
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
		h.Wire(frame.NewReader(b, "", 0).BigEndian())
		if h.Begin >= begin && h.Begin < 1<<16 {
			n = int64(h.Begin)
		}
	}
	err := f.raw("file header", 0, n, fileHeader, func(c *frame.Codec) {
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
	if err := f.raw("first record, with the top directory", n, int64(top.NBytes), container,
		new(rootfile.Root).Wire); err != nil || f.root == nil {
		return err
	}
	list := func(path string, d rootfile.Directory) error {
		if d.SeekKeys == 0 {
			return nil
		}
		return f.raw("list of keys of the "+rootfile.DirectoryPath(path), d.SeekKeys, int64(d.NBytesKeys), container,
			new(rootfile.KeyList).Wire)
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
		d, _ := f.directory(k) // as far as it can be read
		return list(path, d)
	})
	h = f.root.Header
	if h.SeekFree != 0 {
		if err := f.raw("list of free segments", h.SeekFree, int64(h.NBytesFree), container,
			new(rootfile.FreeList).Wire); err != nil {
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

// directory reads the directory in the record of k.
func (f *file) directory(k rootfile.Key) (d rootfile.Directory, err error) {
	b, err := f.read(k.SeekKey+int64(k.KeyLen), int64(k.NBytes)-int64(k.KeyLen))
	if err != nil {
		return d, err
	}
	c := frame.NewReader(b, "", 0).BigEndian()
	d.Wire(c)
	return d, c.Err()
}

// walkDirectory reads the record of a directory other than the top one.
func walkDirectory(c *frame.Codec) {
	c.Within("key", func() { new(rootfile.Key).Wire(c) })
	new(rootfile.Directory).Wire(c)
}

// infos shows the record of the streamer information.
func (f *file) infos(at int64) error {
	if err := f.key(at); err != nil {
		return err
	}
	k, _ := f.readKey(at)
	return f.object("streamer infos", k, func(c *frame.Codec) { rootfile.WalkInfos(c, k.KeyLen) })
}

// object shows the object with a key, uncompressed.
func (f *file) object(title string, k rootfile.Key, walk func(*frame.Codec)) error {
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
