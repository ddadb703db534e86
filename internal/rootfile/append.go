package rootfile

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/go-rntuple/go-rntuple/frame"
)

// A ReadWriterAt is an existing file that a Writer adds to.
type ReadWriterAt interface {
	io.ReaderAt
	io.WriterAt
}

// Append returns a Writer that adds to a ROOT file of size bytes. The contents of
// the file do not change before the first Commit or Close, except for bytes beyond
// the end that the header gives, which are overwritten. The name, title and
// compression of the file stay as they are.
func Append(rw ReadWriterAt, size int64, opts Options) (*Writer, error) {
	if err := opts.complete(); err != nil {
		return nil, err
	}
	f, err := Open(rw, size)
	if err != nil {
		return nil, err
	}
	w := &Writer{opts: opts, w: rw, r: rw, header: f.Header, committed: f.Header.End}
	for _, read := range []func(*File) error{w.readHead, w.readFolders, w.readFreeList} {
		if err := read(f); err != nil {
			return nil, err
		}
	}
	w.readInfos(f)
	w.startAt(w.header.End)
	return w, nil
}

// readHead reads the start of the file, and refuses a file that cannot be added to.
func (w *Writer) readHead(f *File) (err error) {
	h := f.Header
	fail := func(err error) error { return &frame.FormatError{Path: "header", Err: err} }
	names := int64(h.NBytesName)
	room := int64(f.Root.Key.NBytes) - names
	switch {
	case h.End > f.size:
		return fail(frame.Corrupt("the file is truncated: it has %d bytes, expected %d", f.size, h.End))
	case h.SeekFree == 0:
		return fail(frame.Corrupt("there is no free list: the file %s", notClosed))
	case h.Begin < begin || f.Root.Version%BigVersion != DirectoryVersion || room < directorySize:
		return fail(frame.Unsupported("the file is too old to be written to"))
	}
	w.head, err = f.read("first record", 0, int64(h.Begin)+names+directorySize)
	return err
}

// readFolders reads all directories.
func (w *Writer) readFolders(f *File) error {
	h := f.Header
	root := f.Root
	if len(w.head) > sector && f.Misnamed == nil {
		root.setName(shortened(&root, root.Name))
		if int64(h.Begin)+int64(root.Directory.NBytesName)+directorySize <= sector {
			root.Key.ObjLen = uint32(root.Key.NBytes) - uint32(root.Key.KeyLen)
			w.header.NBytesName = root.Directory.NBytesName
			w.renamed = &root
		} else {
			root = f.Root
		}
	}
	w.folders = []*folder{{
		Directory: root.Directory, at: int64(h.Begin) + int64(w.header.NBytesName),
		class: fileClass, name: root.Name, title: root.Title, visible: true,
	}}
	byPath := map[string]*folder{"": w.top()}
	return f.Walk(func(dir string, k Key) error {
		fail := func(err error) error {
			return &frame.FormatError{Offset: k.SeekKey, Path: fmt.Sprintf("%s %q", k.Class, join(dir, k.Name)), Err: err}
		}
		if k.NBytes < 0 || k.SeekKey > f.Header.End-int64(k.NBytes) {
			return fail(frame.Corrupt("lies beyond the end of the file that the header gives, %#x", f.Header.End))
		}
		byPath[dir].keys = append(byPath[dir].keys, k)
		if !isDirectory(k) {
			return nil
		}
		path := join(dir, k.Name)
		if byPath[path] != nil {
			return fail(frame.Unsupported("there are two directories of that name"))
		}
		record, _, err := f.readDirectory(path, k)
		if err != nil {
			return err
		}
		if record.Version%BigVersion != DirectoryVersion || int64(k.NBytes)-int64(k.KeyLen) < directorySize {
			return fail(frame.Unsupported("the directory is too old to be written to"))
		}
		at := k.SeekKey + int64(k.KeyLen)
		b, err := f.read("directory", at, directorySize)
		if err != nil {
			return err
		}
		d := &folder{
			Directory: record, parent: byPath[dir], at: at, record: b,
			path: path, class: directoryClass, name: k.Name, title: k.Title, visible: true,
		}
		byPath[path] = d
		w.folders = append(w.folders, d)
		return nil
	})
}

// readFreeList reads the gaps of the file. It does not believe the list: a gap is used only
// if it has a mark, and if no directory lists a record that begins there.
func (w *Writer) readFreeList(f *File) error {
	h := f.Header
	l, err := f.freeList()
	if err != nil {
		return err
	}
	for _, s := range l.Segments {
		// The last one is the space beyond the end, wherever it begins.
		if s.First >= int64(h.Begin) && s.First <= s.Last && s.Last < h.End {
			g := gap{first: s.First, end: s.Last + 1, marked: true}
			mark, err := f.readUpTo("free list", g.first, minGap)
			if err != nil {
				return err
			}
			if g.size() >= minGap && bytes.Equal(mark, markOf(g.size())) && !w.inUse(g) {
				w.gaps.add(g)
			} else {
				w.foreign.add(g)
			}
		}
	}
	return nil
}

// inUse reports whether one of the records that w knows has a part of the gap.
func (w *Writer) inUse(g gap) bool {
	overlaps := func(at, n int64) bool { return at < g.end && g.first < at+n }
	h := &w.header
	return overlaps(0, int64(len(w.head))) || overlaps(h.SeekFree, int64(h.NBytesFree)) ||
		overlaps(h.SeekInfo, int64(h.NBytesInfo)) ||
		slices.ContainsFunc(w.folders, func(d *folder) bool {
			return overlaps(d.SeekKeys, int64(d.NBytesKeys)) ||
				slices.ContainsFunc(d.keys, func(k Key) bool { return overlaps(k.SeekKey, int64(k.NBytes)) })
		})
}
