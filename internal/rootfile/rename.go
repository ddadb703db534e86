package rootfile

import (
	"fmt"
	"path"
	"slices"
)

// Rename appends an object and lists it in place of the one at the path at, which
// is found like File.Find does it among the given classes. If the name differs, the
// object gets the first cycle, and the directory must not have anything of that
// name. The space of the old object is free after the next Commit.
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
	cycle := old.Cycle
	if o.Name != old.Name {
		if slices.ContainsFunc(d.keys, func(k Key) bool { return k.Name == o.Name }) {
			return Key{}, fmt.Errorf("%s has an object %q", directoryName(dir), o.Name)
		}
		cycle = 1
	}
	k, err := w.object(d, o, cycle)
	if err != nil {
		return Key{}, err
	}
	i := slices.IndexFunc(d.keys, func(k Key) bool { return k.SeekKey == old.SeekKey })
	d.keys[i], d.changed = k, true
	w.release(d, old.SeekKey, int64(old.NBytes))
	return k, nil
}
