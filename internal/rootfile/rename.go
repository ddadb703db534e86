package rootfile

import (
	"fmt"
	"path"
	"slices"

	"github.com/go-rntuple/go-rntuple/frame"
)

// Rename appends an object and lists it in place of the one at the path at, which
// is found like File.Find does it among the given classes. If the name differs, the
// directory must not have anything of that name. Older cycles get the new name as well,
// so that none of them becomes the newest one of the old name; if at names a cycle, it
// alone gets the name, and the first cycle. The space of what is replaced is free after
// the next Commit.
func (w *Writer) Rename(at string, o Object, class ...string) (Key, error) {
	dir, name := path.Split(at)
	d, err := w.folder(dir)
	if err != nil {
		return Key{}, err
	}
	old, err := choose(d.keys, name, func(k Key) bool { return slices.Contains(class, k.Class) })
	if err != nil {
		return Key{}, fmt.Errorf("%q: %w in %s", at, err, directoryName(dir))
	}
	if o.Name == old.Name {
		return w.replace(d, old, o, old.Cycle)
	}
	if slices.ContainsFunc(d.keys, func(k Key) bool { return k.Name == o.Name }) {
		return Key{}, fmt.Errorf("%s has an object %q", directoryName(dir), o.Name)
	}
	if _, cycle := SplitCycle(name); cycle >= 0 {
		return w.replace(d, old, o, 1)
	}
	for _, k := range slices.Clone(d.keys) {
		if k.Name != old.Name || k.SeekKey == old.SeekKey || !slices.Contains(class, k.Class) {
			continue
		}
		older, err := w.stored(k)
		if err == nil {
			older.Name = o.Name
			_, err = w.replace(d, k, older, k.Cycle)
		}
		if err != nil {
			return Key{}, fmt.Errorf("cycle %d: %w", k.CycleNumber(), err)
		}
	}
	return w.replace(d, old, o, old.Cycle)
}

// stored returns the object with the key k, as the file has it.
func (w *Writer) stored(k Key) (Object, error) {
	b, err := w.readAt(k.SeekKey, int(k.NBytes)) // the record lies within the file
	if err == nil {
		err = k.confirm(b)
	}
	if err != nil {
		return Object{}, err
	}
	if int(k.KeyLen) > len(b) {
		return Object{}, &frame.FormatError{Offset: k.SeekKey, Path: "key",
			Err: frame.Corrupt("%d bytes long, the record has %d", k.KeyLen, len(b))}
	}
	return Object{Class: k.Class, Name: k.Name, Title: k.Title, Stored: b[k.KeyLen:], Len: int(k.ObjLen)}, nil
}
