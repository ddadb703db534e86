package rootfile

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-rntuple/go-rntuple/frame"
)

// ErrNotFound reports that a file has no object of a given name.
var ErrNotFound = errors.New("not found")

// maxDepth limits the nesting of directories.
const maxDepth = 100

// maxPath limits the length in bytes of a directory's path that Walk visits.
const maxPath = 4096

// isDirectory reports whether k is the key of a directory. ROOT writes the first of
// these names.
func isDirectory(k Key) bool { return k.Class == "TDirectory" || k.Class == "TDirectoryFile" }

// Walk calls visit for all keys in the directories of the file, in the order
// of their lists; the keys of a directory follow its own key. dir is the path
// of the directory that k is in, without slashes around it, "" for the top
// one. Walk stops at the first error, of the file or of visit, and returns it.
//
// If a commit changes the file meanwhile, the keys of each directory are still those
// of a committed state, or the error wraps ErrStale; see Retry.
//
// Keys that no directory lists are not visited: those of pages and envelopes,
// and the file's own records.
func (f *File) Walk(visit func(dir string, k Key) error) error {
	w := walker{file: f, visit: visit, budget: f.size, seen: make(map[int64]bool)}
	return w.walk("", f.Root.Directory, &Trail{f, f.start}, 0)
}

type walker struct {
	file  *File
	visit func(dir string, k Key) error
	// budget is the number of bytes of key lists that may still be read. In a sound
	// file lists do not overlap, so together they are not longer than the file.
	budget int64
	seen   map[int64]bool // key lists, by position
}

// walk visits the keys of d, to which t leads.
func (w *walker) walk(dir string, d Directory, t *Trail, depth int) error {
	if d.SeekKeys == 0 {
		return nil
	}
	fail := func(err error) error {
		return t.Check(&frame.FormatError{Offset: d.SeekDir, Path: directoryName(dir), Err: err})
	}
	w.budget -= int64(d.NBytesKeys)
	switch {
	case w.seen[d.SeekKeys]:
		return fail(frame.Corrupt("the list of keys at %#x also belongs to another directory", d.SeekKeys))
	case w.budget < 0:
		return fail(frame.Corrupt("lists of keys overlap: with this one of %d bytes they are longer than the file",
			d.NBytesKeys))
	case depth > maxDepth:
		return fail(frame.Unsupported("directories are nested more than %d deep", maxDepth))
	case len(dir) > maxPath:
		return fail(frame.Unsupported("paths of directories are longer than %d bytes", maxPath))
	}
	w.seen[d.SeekKeys] = true
	keys, err := w.file.keys(dir, d)
	if err != nil {
		return t.Check(err)
	}
	if err := t.last().Check(nil); err != nil { // the others do not matter for this list
		return err
	}
	for _, k := range keys {
		if err := w.visit(dir, k); err != nil {
			return err
		}
		if !isDirectory(k) {
			continue
		}
		path := join(dir, k.Name)
		sub, raw, err := w.file.readDirectory(path, k)
		if err != nil {
			return t.Check(err)
		}
		if err := w.walk(path, sub, t.with(raw), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// Find returns the key of the object at path, "name" or "dir/sub/name". Of
// keys with the same name it takes the one with the highest cycle, or the one
// that path names: "dir/name;2". If classes are given, objects of other
// classes are passed over.
//
// Lists of keys have no checksum, but records begin with the same keys. Find
// compares those that could be the object, so that damage to a list does not lead
// to another object.
//
// The error wraps ErrNotFound if there is no such object, and ErrStale if a commit has
// changed the file since it was opened, so that there may be one.
func (f *File) Find(path string, class ...string) (Key, error) {
	k, t, err := f.Locate(path, class...)
	return k, t.Check(err)
}

// Locate is Find without a check whether a commit came in between: the caller must
// call Check of the Trail with the error, or after having read the object.
func (f *File) Locate(path string, class ...string) (Key, *Trail, error) {
	d, dir, t := f.Root.Directory, "", &Trail{f, f.start}
	for rest := strings.Trim(path, "/"); ; {
		element, below, deeper := strings.Cut(rest, "/")
		keys, err := f.keys(dir, d)
		if err != nil {
			return Key{}, t, err
		}
		match := func(k Key) bool { return len(class) == 0 || slices.Contains(class, k.Class) }
		if deeper {
			match = isDirectory
		}
		k, err := choose(keys, element, match)
		if err != nil {
			return Key{}, t, fmt.Errorf("%q: %w in %s", path, err, directoryName(dir))
		}
		if err := f.confirm(keys, k, class); err != nil {
			return Key{}, t, err
		}
		if !deeper {
			return k, t, nil
		}
		dir = join(dir, k.Name)
		var raw rawRecord
		if d, raw, err = f.readDirectory(dir, k); err != nil {
			return Key{}, t, err
		}
		t = t.with(raw)
		rest = below
	}
}

// choose returns the key that match accepts and that is called name, which may
// include a cycle. If there is none, the error says why.
func choose(keys []Key, name string, match func(Key) bool) (Key, error) {
	name, cycle := SplitCycle(name)
	var best *Key
	var others []string // keys of that name that match does not accept
	for i := range keys {
		k := &keys[i]
		switch {
		case k.Name != name:
		case !match(*k) || cycle >= 0 && k.CycleNumber() != cycle:
			others = append(others, fmt.Sprintf("%s;%d (%s)", k.Name, k.CycleNumber(), k.Class))
		case best == nil || k.CycleNumber() > best.CycleNumber():
			best = k
		}
	}
	switch {
	case best != nil:
		return *best, nil
	case len(others) > 0:
		const enough = 5
		if len(others) > enough {
			others = append(others[:enough], "...")
		}
		return Key{}, fmt.Errorf("%w, only %s is", ErrNotFound, strings.Join(others, ", "))
	}
	return Key{}, fmt.Errorf("%w: no key is called %q", ErrNotFound, name)
}

// confirm makes sure that no other key of the list should have been chosen: that of
// the keys with the same name, or of the given classes, no record says that it is
// the one asked for.
func (f *File) confirm(keys []Key, chosen Key, class []string) error {
	for _, k := range keys {
		if k == chosen || k.Name != chosen.Name && !slices.Contains(class, k.Class) {
			continue
		}
		b, err := f.readUpTo("key", k.SeekKey, int64(k.KeyLen))
		if err != nil {
			continue // missing, but not asked for
		}
		own, err := k.own(b)
		if err != nil || own.Name != chosen.Name && k.Name != chosen.Name {
			continue
		}
		if err := k.same(own); err != nil {
			return err
		}
	}
	return nil
}

// SplitCycle splits "name;2"; without a cycle it returns -1.
func SplitCycle(s string) (name string, cycle int) {
	if i := strings.LastIndexByte(s, ';'); i >= 0 {
		if n, err := strconv.ParseUint(s[i+1:], 10, 16); err == nil {
			return s[:i], int(n)
		}
	}
	return s, -1
}

// readDirectory reads the directory record whose key is k, and also returns the bytes.
func (f *File) readDirectory(path string, k Key) (d Directory, raw rawRecord, err error) {
	what := directoryName(path)
	b, err := f.readUpTo(what, k.SeekKey, int64(k.KeyLen)+directorySize)
	if err != nil {
		return d, raw, err
	}
	if err := k.confirm(b); err != nil {
		return d, raw, err
	}
	head := min(int(k.KeyLen), len(b))
	d, err = decoded[Directory](b[head:], what, k.SeekKey+int64(head))
	return d, rawRecord{k.SeekKey, b}, err
}

// TopKeys returns the keys of the top directory.
func (f *File) TopKeys() ([]Key, error) {
	keys, err := f.keys("", f.Root.Directory)
	t := Trail{f, f.start}
	return keys, t.Check(err)
}

// keys reads the list of keys of d, whose path is dir.
func (f *File) keys(dir string, d Directory) ([]Key, error) {
	if d.SeekKeys == 0 {
		return nil, nil
	}
	what := directoryName(dir)
	b, err := f.read(what, d.SeekKeys, int64(d.NBytesKeys))
	if err != nil {
		return nil, err
	}
	var l KeyList
	c := reader(b, what, d.SeekKeys)
	l.Wire(c)
	if c.Err() == nil {
		if err := l.check(d, f.Root.SeekDir); err != nil {
			c.Fail("keys", err)
		} else if err := f.CheckCount(&l); err != nil {
			c.Fail("number of keys", err)
		}
	}
	return l.Keys, c.Err()
}

// check makes sure that l is the list of the keys of d, and not that of another
// directory or an earlier one. It may be longer than its keys need.
func (l *KeyList) check(d Directory, top int64) error {
	k := &l.Key
	if k.SeekKey == d.SeekKeys && l.Of(d, top) {
		return nil
	}
	return frame.Corrupt("the list of keys gives its position as %#x and its directory as %#x, but the directory at %#x gives %#x",
		k.SeekKey, k.SeekPdir, d.SeekDir, d.SeekKeys)
}

// Of reports whether l can be the list of keys of d. Its key gives the directory, but
// in files of uproot the parent of the directory, or the top one; then the keys that it
// lists give the directory.
func (l *KeyList) Of(d Directory, top int64) bool {
	at := l.Key.SeekPdir
	return at == d.SeekDir || (at == top || at == d.SeekParent) &&
		!slices.ContainsFunc(l.Keys, func(k Key) bool { return k.SeekPdir != d.SeekDir })
}

// CheckCount returns an error if l has more keys than it says: if the bytes after its
// keys begin with the key of an object that is there, is not listed, and is not in free
// space. Otherwise these bytes mean nothing: uproot allocates longer lists than it needs,
// and leaves in them what was there before, such as keys of deleted objects.
func (f *File) CheckCount(l *KeyList) error {
	k, err := decoded[Key](l.Extra, "key", 0)
	if err != nil || slices.ContainsFunc(l.Keys, func(listed Key) bool { return listed.SeekKey == k.SeekKey }) {
		return nil
	}
	b, err := f.readUpTo("key", k.SeekKey, int64(k.KeyLen))
	if err != nil {
		return nil // nothing is there
	}
	own, err := k.own(b)
	if err != nil || own.SeekKey != k.SeekKey || k.same(own) != nil || f.isFree(k.SeekKey) {
		return nil
	}
	return frame.Corrupt("%d bytes follow the last of %d keys, and begin with the key of %s %q, an object that is not deleted", len(l.Extra), len(l.Keys), k.Class, k.Name)
}

// isFree reports whether the free list says that nothing is at an offset.
func (f *File) isFree(at int64) bool {
	l, err := f.freeList()
	return err == nil && slices.ContainsFunc(l.Segments, func(s Segment) bool { return s.First <= at && at <= s.Last })
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// directoryName returns the name that messages use for a directory.
func directoryName(path string) string {
	if path == "" {
		return "top directory"
	}
	return fmt.Sprintf("directory %q", path)
}
