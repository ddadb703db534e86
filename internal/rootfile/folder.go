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
	at                 int64 // of the directory record
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
		path: join(in.path, name), class: directoryClass, name: name, title: name, changed: true,
		Directory: Directory{
			Version: DirectoryVersion, Created: now, Modified: now,
			SeekParent: in.SeekDir, UUIDVersion: 1, UUID: w.nextUUID(),
		},
	}
	k, err := w.record(Key{SeekPdir: in.SeekDir, Class: d.class, Name: name, Title: d.title}, directorySize, make([]byte, directorySize))
	if err != nil {
		return nil, err
	}
	d.SeekDir, d.NBytesName, d.at = k.SeekKey, uint32(k.KeyLen), k.SeekKey+int64(k.KeyLen)
	in.insert(k)
	w.folders = append(w.folders, d)
	return d, nil
}

// free returns an error if a directory has the name.
func (d *folder) free(name string) error {
	if slices.ContainsFunc(d.keys, func(k Key) bool { return k.Name == name && isDirectory(k) }) {
		return fmt.Errorf("%q is a directory", join(d.path, name))
	}
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

// release makes a gap of the n bytes at first, which d does not need once it is
// committed.
func (w *Writer) release(d *folder, first, n int64) {
	g := gap{first: first, end: first + n}
	if d == w.top() || !d.visible {
		w.gaps.add(g)
	} else {
		w.waiting = append(w.waiting, g)
	}
}

// writeKeys appends the list of the keys of d, and points the record of d to it.
func (w *Writer) writeKeys(d *folder) error {
	l := KeyList{Key: w.directoryKey(d), Keys: d.keys}
	w.place(&l.Key)
	n := 4
	for i := range d.keys {
		n += d.keys[i].Size()
	}
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
	return w.write(&l, l.Key)
}
