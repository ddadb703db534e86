package rootfile

import (
	"fmt"
	"math"
	"slices"
)

// The classes of directories, and of their key lists.
const (
	fileClass      = "TFile"
	directoryClass = "TDirectory"
)

// A folder is a directory that is being written.
type folder struct {
	Directory
	parent             *folder // nil of the top directory
	at                 int64   // of the directory record
	record             []byte  // that the file has there, if visible; not of the top directory
	path               string
	class, name, title string
	keys               []Key
	changed            bool // keys differ from those that the file lists
	visible            bool // the file shows the directory as it was at the last commit
}

// folder returns the directory at path, which it creates if necessary.
func (w *Writer) folder(path string) (*folder, error) {
	if w.err != nil {
		return nil, w.err
	}
	d := w.top()
	for _, name := range splitPath(path) {
		below := join(d.path, name)
		i := slices.IndexFunc(w.folders, func(d *folder) bool { return d.path == below })
		if i >= 0 {
			d = w.folders[i]
			continue
		}
		sub, err := w.makeFolder(d, name)
		if err != nil {
			return nil, fmt.Errorf("directory %q: %w", below, err)
		}
		d = sub
	}
	return d, nil
}

// makeFolder appends a directory and lists it in its parent. The record has to be
// there first, because keys give its position; Commit overwrites it.
func (w *Writer) makeFolder(in *folder, name string) (*folder, error) {
	if err := checkNames(name); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(in.keys, func(k Key) bool { return k.Name == name }) {
		return nil, fmt.Errorf("%s has an object of that name", directoryName(in.path))
	}
	now := w.now()
	d := &folder{
		parent: in, path: join(in.path, name), class: directoryClass, name: name, title: name, changed: true,
		Directory: Directory{
			Version: DirectoryVersion, Created: now, Modified: now,
			SeekParent: in.SeekDir, UUIDVersion: 1, UUID: w.nextUUID(),
		},
	}
	k, err := w.allotDirectory(d, Key{SeekPdir: in.SeekDir, Class: d.class, Name: name, Title: d.title})
	if err != nil {
		return nil, err
	}
	in.insert(k)
	w.folders = append(w.folders, d)
	return d, nil
}

// allotDirectory appends a record for the directory d, whose key is k. The part that later
// commits overwrite does not cross a sector.
func (w *Writer) allotDirectory(d *folder, k Key) (Key, error) {
	for crossing := true; crossing; {
		w.place(&k, w.end)
		at := w.end + int64(k.KeyLen)
		if crossing = crosses(at); crossing {
			n := max(sector-at%sector, minGap)
			if _, err := w.tail.Write(append(markOf(n), make([]byte, n-minGap)...)); err != nil {
				return k, w.fail(err)
			}
			w.freed = append(w.freed, gap{first: w.end, end: w.end + n, marked: true})
			w.end += n
		}
	}
	k, err := w.record(k, directorySize, false, make([]byte, directorySize))
	d.SeekDir, d.NBytesName, d.at = k.SeekKey, uint32(k.KeyLen), k.SeekKey+int64(k.KeyLen)
	return k, err
}

// crosses reports whether a directory record at the offset at lies in two sectors, so that
// a power cut may leave half of it written.
func crosses(at int64) bool { return at/sector != (at+directorySize-1)/sector }

// move gives the directory d, which has changed, another record if its own crosses a sector
// and the file shows it. The keys of its objects keep what they say where they are stored.
func (w *Writer) move(d *folder) error {
	if d.parent == nil || !d.visible || !crosses(d.at) {
		return nil
	}
	if slices.ContainsFunc(d.keys, func(k Key) bool { return !k.Big() && w.end+sector > math.MaxUint32 }) {
		return nil // their copies in the list could not say where the directory is
	}
	in := d.parent
	i := slices.IndexFunc(in.keys, func(k Key) bool { return k.SeekKey == d.SeekDir })
	old := in.keys[i]
	w.release(d, old.SeekKey, int64(old.NBytes))
	if d.SeekKeys != 0 { // writeKeys must not release it: the directory is no longer visible
		w.release(d, d.SeekKeys, int64(d.NBytesKeys))
		d.SeekKeys = 0
	}
	k, err := w.allotDirectory(d, Key{SeekPdir: in.SeekDir, Cycle: old.Cycle, Class: old.Class,
		Name: old.Name, Title: old.Title})
	if err != nil {
		return err
	}
	in.keys[i], in.changed = k, true
	for i := range d.keys {
		d.keys[i].SeekPdir = d.SeekDir
	}
	d.visible = false
	return nil
}

// nextCycle returns the cycle of the next object called name.
func (d *folder) nextCycle(name string) (int16, error) {
	last := 0
	for i := range d.keys {
		if d.keys[i].Name == name {
			last = max(last, d.keys[i].CycleNumber())
		}
	}
	if last >= math.MaxInt16 {
		return 0, fmt.Errorf("%q: cycle %d is the last possible one", join(d.path, name), last)
	}
	return int16(last + 1), nil
}

// insert lists k: before older cycles of its name, because ROOT's RNTuple reader
// takes the first one, otherwise at the end.
func (d *folder) insert(k Key) {
	i := slices.IndexFunc(d.keys, func(old Key) bool { return old.Name == k.Name })
	if i < 0 {
		i = len(d.keys)
	}
	d.keys = slices.Insert(d.keys, i, k)
	d.changed = true
}

// directoryKey returns the key of a record that belongs to the directory d itself.
func (w *Writer) directoryKey(d *folder) Key {
	return Key{SeekPdir: d.SeekDir, Class: d.class, Name: d.name, Title: d.title}
}

// release makes a gap of the n bytes at first, which the directory d does not need once it
// is committed, if a record of that length is there.
func (w *Writer) release(d *folder, first, n int64) {
	if !w.holds(first, n) {
		return
	}
	for !d.visible && d.parent != nil {
		d = d.parent // what is in a new directory is reached by way of its parent
	}
	g := gap{first: first, end: first + n}
	if d.parent == nil && (w.headFits() || !d.visible) {
		w.freed = append(w.freed, g)
	} else {
		w.waiting = append(w.waiting, g)
	}
}

// holds reports whether the n bytes at first are a record. The lengths that directories and
// the header give may be wrong, and what follows a record must not be overwritten.
func (w *Writer) holds(first, n int64) bool {
	if w.r == nil || first >= w.committed {
		return true // w has written it
	}
	own, ok := w.keyAt(first, int(min(n, longestKey)))
	return ok && own.SeekKey == first && int64(own.NBytes) == n
}

// keyAt returns the key in the n bytes at an offset, if there is one.
func (w *Writer) keyAt(at int64, n int) (k Key, ok bool) {
	b, err := w.readAt(at, n)
	if err != nil {
		return k, false
	}
	k, err = decoded[Key](b, "record", at)
	return k, err == nil
}

// freeOwn makes a gap of a record of the file itself, which the header gives.
func (w *Writer) freeOwn(first int64, n uint32) {
	if first != 0 && w.holds(first, int64(n)) {
		w.freed = append(w.freed, gap{first: first, end: first + int64(n)})
	}
}

// Free makes the space of a record free after the next Commit, if a record with just the
// payload of n bytes at the offset is there, of the given class and name and without a
// title. Until then, a directory needs it. The record must have been committed.
func (w *Writer) Free(dir, class, name string, offset, n int64) error {
	d, err := w.folder(dir)
	if err != nil || w.r == nil {
		return err
	}
	for _, version := range []uint16{KeyVersion, KeyVersion + BigVersion} {
		size := (&Key{Version: version, Class: class, Name: name}).Size()
		at := offset - int64(size)
		if at < int64(w.header.Begin) {
			continue
		}
		if own, ok := w.keyAt(at, size); ok && own.Class == class && own.Name == name && own.SeekKey == at &&
			int(own.KeyLen) == size && int64(own.NBytes) == int64(size)+n && !w.isFree(at, offset+n) {
			w.release(d, at, int64(own.NBytes))
			return nil
		}
	}
	return nil
}

// isFree reports whether a part of the bytes from first up to end is free, or going to be.
func (w *Writer) isFree(first, end int64) bool {
	return slices.ContainsFunc(slices.Concat(w.gaps, w.foreign, w.freed, w.waiting, w.settled),
		func(g gap) bool { return g.first < end && first < g.end })
}

// writeKeys appends the list of the keys of d, and points the record of d to it.
func (w *Writer) writeKeys(d *folder) error {
	l := KeyList{Key: w.directoryKey(d), Keys: d.keys}
	n := 4
	for i := range d.keys {
		n += d.keys[i].Size()
	}
	i, err := w.allot(l.Key, int64(n), true, d.SeekKeys != 0)
	if err != nil {
		return err
	}
	w.place(&l.Key, w.positionOf(i))
	l.Key.Datime = w.now()
	l.Key.ObjLen, l.Key.NBytes = uint32(n), int32(int(l.Key.KeyLen)+n)
	if n > math.MaxInt32-int(l.Key.KeyLen) {
		return fmt.Errorf("%s: the list of %d keys is too long", directoryName(d.path), len(d.keys))
	}
	if d.SeekKeys != 0 {
		w.release(d, d.SeekKeys, int64(d.NBytesKeys))
	}
	d.SeekKeys, d.NBytesKeys, d.Modified = l.Key.SeekKey, uint32(l.Key.NBytes), l.Key.Datime
	if max(d.SeekDir, d.SeekParent, d.SeekKeys) > w.opts.BigFrom && !d.Big() {
		d.Version += BigVersion
	}
	return w.write(i, &l, l.Key)
}
