package rootfile

import (
	"fmt"
	"io"

	"github.com/go-rntuple/go-rntuple/internal/wire"
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
	w := &Writer{opts: opts, w: rw, header: f.Header, committed: f.Header.End}
	if err := w.readHead(f); err != nil {
		return nil, err
	}
	if err := w.readFolders(f); err != nil {
		return nil, err
	}
	if err := w.readFreeList(f); err != nil {
		return nil, err
	}
	w.readInfos(f)
	w.startAt(w.header.End)
	return w, nil
}

// readHead reads the start of the file, and refuses a file that cannot be added to.
func (w *Writer) readHead(f *File) (err error) {
	h := f.Header
	fail := func(err error) error { return &wire.FormatError{Path: "header", Err: err} }
	names := int64(h.NBytesName)
	room := int64(f.Root.Key.NBytes) - names
	switch {
	case h.End > f.size:
		return fail(wire.Corrupt("the file is truncated: it has %d bytes, expected %d", f.size, h.End))
	case h.SeekFree == 0:
		return fail(wire.Corrupt("there is no free list: the file was never closed, or its writer crashed"))
	case h.Begin < begin || f.Root.Version%BigVersion != DirectoryVersion || room < directorySize:
		return fail(wire.Unsupported("the file is too old to be written to"))
	}
	w.head, err = f.read("first record", 0, int64(h.Begin)+names+directorySize)
	return err
}

// readFolders reads all directories.
func (w *Writer) readFolders(f *File) error {
	w.folders = []*folder{{
		Directory: f.Root.Directory, at: int64(f.Header.Begin) + int64(f.Header.NBytesName),
		class: fileClass, name: f.Root.Name, title: f.Root.Title, visible: true,
	}}
	byPath := map[string]*folder{"": w.top()}
	return f.Walk(func(dir string, k Key) error {
		fail := func(err error) error {
			return &wire.FormatError{Offset: k.SeekKey, Path: fmt.Sprintf("%s %q", k.Class, join(dir, k.Name)), Err: err}
		}
		if k.NBytes < 0 || k.SeekKey > f.Header.End-int64(k.NBytes) {
			return fail(wire.Corrupt("lies beyond the end of the file that the header gives, %#x", f.Header.End))
		}
		byPath[dir].keys = append(byPath[dir].keys, k)
		if !isDirectory(k) {
			return nil
		}
		path := join(dir, k.Name)
		if byPath[path] != nil {
			return fail(wire.Unsupported("there are two directories of that name"))
		}
		record, err := f.directory(path, k)
		if err != nil {
			return err
		}
		if record.Version%BigVersion != DirectoryVersion || int64(k.NBytes)-int64(k.KeyLen) < directorySize {
			return fail(wire.Unsupported("the directory is too old to be written to"))
		}
		d := &folder{
			Directory: record, at: k.SeekKey + int64(k.KeyLen),
			path: path, class: directoryClass, name: k.Name, title: k.Title, visible: true,
		}
		byPath[path] = d
		w.folders = append(w.folders, d)
		return nil
	})
}

// readFreeList reads the gaps of the file.
func (w *Writer) readFreeList(f *File) error {
	h := f.Header
	const what = "free list"
	b, err := f.read(what, h.SeekFree, int64(h.NBytesFree))
	if err != nil {
		return err
	}
	var l FreeList
	c := reader(b, what, h.SeekFree)
	l.Wire(c)
	if c.Err() != nil {
		return c.Err()
	}
	for _, s := range l.Segments {
		// The last one is the space beyond the end, wherever it begins.
		if s.First >= int64(h.Begin) && s.First <= s.Last && s.Last < h.End {
			w.gaps.add(gap{first: s.First, end: s.Last + 1, marked: true})
		}
	}
	return nil
}
