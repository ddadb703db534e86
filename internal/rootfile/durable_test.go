package rootfile

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// disk is a target that knows which writes have been synced.
type disk struct {
	target
	log []written // since the last call of take
}

// written is a write, or a sync if n is 0.
type written struct{ at, n int64 }

func (d *disk) WriteAt(b []byte, at int64) (int, error) {
	d.log = append(d.log, written{at, int64(len(b))})
	return d.target.WriteAt(b, at)
}

func (d *disk) Sync() error {
	d.log = append(d.log, written{})
	return nil
}

func (d *disk) take() []written {
	log := d.log
	d.log = nil
	return log
}

// overwrites returns the bytes in the log that were in use before: neither free nor beyond
// the end of the file before, which is a copy of the target.
func overwrites(t *testing.T, before *target, log []written) (used []written) {
	t.Helper()
	f := before.open(t)
	free := freeListOf(t, f).Segments
	for _, w := range log {
		if w.n > 0 && !slices.ContainsFunc(free, func(s Segment) bool { return s.First <= w.at && w.at+w.n-1 <= s.Last }) {
			used = append(used, w)
		}
	}
	return used
}

// TestOrder commits to files with names and directories of all lengths. What the file needs
// is overwritten between syncs only, and never in two sectors at once.
func TestOrder(t *testing.T) {
	for n := range maxName + 1 {
		d := new(disk)
		name := strings.Repeat("ä", n/2) + strings.Repeat("n", n%2)
		w := create(t, d, fixed(name))
		_, err := w.Blob(make([]byte, 3*n)) // so that directories begin anywhere in a sector
		_, topErr := w.Object("", plain("x", "first"))
		_, subErr := w.Object("dir/sub", plain("x", "first"))
		if err := errors.Join(err, topErr, subErr, w.Close()); err != nil {
			t.Fatal(err)
		}
		if f := d.open(t); !strings.HasPrefix(name, f.Root.Name) || n < 150 && f.Root.Name != name {
			t.Errorf("name %q, want %q", f.Root.Name, name)
		}
		for i := range 3 {
			before := &target{b: bytes.Clone(d.b)}
			w, err := Append(d, int64(len(d.b)), fixed(""))
			if err != nil {
				t.Fatal(err)
			}
			d.take()
			dir, syncs := []string{"", "dir", "dir/sub"}[i], 2+min(i, 1)
			if _, err := w.Object(dir, plain("y", "second")); err != nil {
				t.Fatal(err)
			}
			if err := w.Commit(); err != nil {
				t.Fatal(err)
			}
			log := d.take()
			parts := slices.Collect(func(yield func([]written) bool) {
				for part := log; ; {
					i := slices.Index(part, written{})
					if i < 0 {
						yield(part)
						return
					}
					yield(part[:i])
					part = part[i+1:]
				}
			})
			if len(parts) != syncs+1 {
				t.Fatalf("name of %d bytes, %q: %d syncs, want %d", n, dir, len(parts)-1, syncs)
			}
			for i, part := range parts[:syncs] {
				used := overwrites(t, before, part)
				if len(used) != min(i, 1) {
					t.Fatalf("name of %d bytes, %q: before sync %d are overwritten %v", n, dir, i, used)
				}
				for _, u := range used {
					if u.at/sector != (u.at+u.n-1)/sector {
						t.Errorf("name of %d bytes, %q: %d bytes at %d are in two sectors", n, dir, u.n, u.at)
					}
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			checkChain(t, d.open(t))
		}
		want := map[string]string{"x;1": "first", "y;1": "second", "dir/sub/x;1": "first", "dir/y;1": "second",
			"dir/sub/y;1": "second"}
		if got := contents(t, d.open(t)); !maps.Equal(got, want) {
			t.Errorf("name of %d bytes: %v", n, got)
		}
	}
}

// TestOtherDirectory commits to one directory: what the file has of the others is not overwritten.
func TestOtherDirectory(t *testing.T) {
	d := new(disk)
	w := create(t, d, fixed("f"))
	_, err := w.Object("dir", plain("x", "first"))
	if err := errors.Join(err, w.Commit()); err != nil {
		t.Fatal(err)
	}
	used := &target{b: bytes.Clone(d.b)}
	d.take()
	_, err = w.Object("", plain("y", "second"))
	if err := errors.Join(err, w.Commit()); err != nil {
		t.Fatal(err)
	}
	for _, u := range overwrites(t, used, d.take()) {
		if u.n != minGap && u.at != 0 {
			t.Errorf("%d bytes at %d are overwritten", u.n, u.at)
		}
	}
}

// A breaking is a disk where one write to an offset fails in the middle.
type breaking struct {
	disk
	at int64
}

func (d *breaking) WriteAt(b []byte, at int64) (int, error) {
	if at != d.at {
		return d.disk.WriteAt(b, at)
	}
	d.at = -1
	n, _ := d.disk.WriteAt(b[:len(b)/2], at)
	return n, errStopped
}

// TestBrokenDirectory has the write of a directory fail in the middle: it stays as it was, also the
// one at the top if it is written after the head.
func TestBrokenDirectory(t *testing.T) {
	m := new(target)
	w := create(t, m, fixed("f"))
	_, err := w.Object("dir", plain("old", "old"))
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	for dir, file := range map[string][]byte{"dir": m.b, "": careless(t, "f", strings.Repeat("t", 200))} {
		d := &breaking{at: -1}
		d.b = bytes.Clone(file)
		w, err := Append(d, int64(len(file)), fixed(""))
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(w.folders, func(f *folder) bool { return f.path == dir })
		at := w.folders[i].at
		if dir == "" && w.headFits() {
			t.Fatal("the top directory is a part of the head")
		}
		if _, err := w.Object(dir, plain("new", "new")); err != nil {
			t.Fatal(err)
		}
		d.at = at
		if err := w.Commit(); !errors.Is(err, errStopped) || d.at >= 0 {
			t.Errorf("%q: error %v", dir, err)
		}
		if !bytes.Equal(d.b[at:][:directorySize], file[at:][:directorySize]) {
			t.Errorf("%q: the directory is not what it was", dir)
		}
		if log := d.take(); log[len(log)-1] != (written{}) {
			t.Errorf("%q: what was put back is not synced", dir)
		}
	}
}

// TestForeign updates files whose heads and directories lie as ROOT may place them: across
// sectors. Names are shortened for it and directories moved, titles are kept.
func TestForeign(t *testing.T) {
	for n := 100; n <= maxName; n += 3 {
		for _, title := range []string{"", strings.Repeat("t", 60), strings.Repeat("t", 200)} {
			d := new(disk)
			file := careless(t, strings.Repeat("n", n), title)
			d.b = file
			before := d.open(t)
			want := contents(t, before)
			for i := range 2 {
				w, err := Append(d, int64(len(d.b)), fixed(""))
				if err != nil {
					t.Fatal(err)
				}
				d.take()
				for _, dir := range []string{"", "dir", "dir/sub"} {
					if _, err := w.Object(dir, plain(fmt.Sprint("new", i), "new")); err != nil {
						t.Fatal(err)
					}
					want[join(dir, fmt.Sprintf("new%d;1", i))] = "new"
				}
				used := &target{b: bytes.Clone(d.b)}
				if err := w.Commit(); err != nil {
					t.Fatal(err)
				}
				log := d.take()
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				for _, u := range overwrites(t, used, log) {
					// A mark in free space does not matter, nor does the directory behind a long title.
					if u.n != minGap && u.at/sector != (u.at+u.n-1)/sector && (len(title) < 200 || u.at == 0) {
						t.Errorf("name of %d bytes, title of %d: %d bytes at %d are in two sectors", n, len(title), u.n, u.at)
					}
				}
				f := d.open(t)
				checkChain(t, f)
				if got := contents(t, f); !maps.Equal(got, want) {
					t.Errorf("name of %d bytes, title of %d: %v, want %v", n, len(title), got, want)
				}
				if f.Root.Title != title || f.Root.Key.Title != title {
					t.Errorf("title %q", f.Root.Title)
				}
			}
		}
	}
}

// careless returns a file with the given name, whose directory "dir" crosses a sector, as
// does "dir/sub".
func careless(t *testing.T, name, title string) []byte {
	t.Helper()
	m := new(target)
	w := create(t, m, fixed(""))
	// What Create does, without the care for sectors.
	root := Root{Title: title, Directory: w.top().Directory}
	root.Key = Key{Version: KeyVersion, Cycle: 1, SeekKey: begin, Class: fileClass, Title: title}
	root.setName(name)
	root.Key.NBytes = int32(root.NBytesName + directorySize)
	root.Key.ObjLen = uint32(root.Key.NBytes) - uint32(root.Key.KeyLen)
	w.header.NBytesName = root.NBytesName
	record, err := encoded(&root)
	if err != nil {
		t.Fatal(err)
	}
	w.head = append(w.head[:begin], record...)
	w.folders[0].Directory, w.folders[0].at, w.folders[0].name, w.folders[0].title = root.Directory,
		begin+int64(root.NBytesName), name, title
	w.startAt(int64(len(w.head)))
	in := w.top()
	for _, sub := range []string{"dir", "sub"} {
		key := Key{SeekPdir: in.SeekDir, Class: directoryClass, Name: sub, Title: sub}
		w.place(&key, w.end)
		// The payload begins 20 bytes before the end of a sector.
		pad := (sector + sector - 20 - (w.end+int64(key.KeyLen)+int64(blobKey().Size()))%sector) % sector
		if _, err := w.Blob(make([]byte, pad)); err != nil {
			t.Fatal(err)
		}
		d := &folder{parent: in, path: join(in.path, sub), class: directoryClass, name: sub, title: sub, changed: true}
		d.Directory = Directory{Version: DirectoryVersion, SeekParent: in.SeekDir, UUIDVersion: 1}
		k, err := w.record(key, directorySize, false, make([]byte, directorySize))
		if err != nil {
			t.Fatal(err)
		}
		d.SeekDir, d.NBytesName, d.at = k.SeekKey, uint32(k.KeyLen), k.SeekKey+int64(k.KeyLen)
		if !crosses(d.at) {
			t.Fatalf("%s is at %d", sub, d.at)
		}
		in.insert(k)
		w.folders = append(w.folders, d)
		if _, err := w.Object(d.path, plain("old", "old")); err != nil {
			t.Fatal(err)
		}
		in = d
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return m.b
}

// TestMovedDirectory commits to a directory that is moved. Its old list of keys becomes free once:
// what a later commit writes there is not free again.
func TestMovedDirectory(t *testing.T) {
	m := new(disk)
	m.b = careless(t, "f", "")
	w, err := Append(m, int64(len(m.b)), fixed(""))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(w.folders, func(d *folder) bool { return d.path == "dir" })
	at, list, n := w.folders[i].at, w.folders[i].SeekKeys, int64(w.folders[i].NBytesKeys)
	if _, err := w.Object("dir", plain("new", "new")); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil || w.folders[i].at == at {
		t.Fatalf("the directory is not moved: %v", err)
	}
	m.take()
	for _, size := range []int64{0, n / 4, n / 2} { // there may be other space for some of them
		_, err := w.SmallBlob(make([]byte, size))
		if err := errors.Join(err, w.Commit()); err != nil {
			t.Fatal(err)
		}
		checkChain(t, m.open(t))
	}
	if !slices.ContainsFunc(m.take(), func(u written) bool { return u.n > minGap && u.at < list+n && list < u.at+u.n }) {
		t.Errorf("%d bytes at %d are not used again", n, list)
	}
	want := map[string]string{"dir/old;1": "old", "dir/new;1": "new", "dir/sub/old;1": "old"}
	if s := missing(t, m.open(t), want); s != "" {
		t.Error(s)
	}
}

// TestReuse replaces an object a thousand times. The file grows by what stays.
func TestReuse(t *testing.T) {
	for _, dir := range []string{"", "a/b"} {
		m := new(target)
		w := create(t, m, fixed("f"))
		key, err := w.Object(dir, plain("x", "0"))
		if err := errors.Join(err, w.Commit()); err != nil {
			t.Fatal(err)
		}
		const blob = 100
		var size, offset, n int64
		for i := range 1000 {
			if err := w.Free(dir, BlobClassName, "", offset, n); err != nil {
				t.Fatal(err)
			}
			n = int64(50 + i%50)
			if offset, err = w.SmallBlob(make([]byte, n)); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Blob(make([]byte, blob-blobKey().Size())); err != nil {
				t.Fatal(err)
			}
			if key, err = w.Replace(dir, key, plain("x", fmt.Sprint(i))); err != nil {
				t.Fatal(err)
			}
			if err := w.Commit(); err != nil {
				t.Fatal(err)
			}
			if i == 100 {
				size = w.Size()
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if grown := w.Size() - size; grown != 899*blob {
			t.Errorf("%q: 899 commits add %d bytes", dir, grown)
		}
		f := m.open(t)
		checkChain(t, f)
		if s := missing(t, f, map[string]string{join(dir, "x;1"): "999"}); s != "" {
			t.Error(s)
		}
	}
}

// TestFreeRefuses gives Free what is not a record, or is free already.
func TestFreeRefuses(t *testing.T) {
	m := new(target)
	w := create(t, m, fixed("f"))
	offset, err := w.Blob(make([]byte, 100))
	if err := errors.Join(err, w.Commit()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		class     string
		offset, n int64
	}{{BlobClassName, offset, 99}, {BlobClassName, offset + 1, 100}, {BlobClassName, 5, 100},
		{BlobClassName, 1 << 40, 100}, {"x", offset, 100}} {
		if err := w.Free("", c.class, "", c.offset, c.n); err != nil || len(w.freed) > 0 {
			t.Errorf("%v: %v, %v", c, w.freed, err)
		}
	}
	for range 2 {
		if err := w.Free("", BlobClassName, "", offset, 100); err != nil || len(w.freed) != 1 {
			t.Errorf("%v, %v", w.freed, err)
		}
	}
}

// TestDistrust appends to a file whose free list names bytes that are in use, or are not
// marked as free. They are not overwritten.
func TestDistrust(t *testing.T) {
	m := new(target)
	w := create(t, m, fixed("f"))
	key, err := w.Object("", plain("old", strings.Repeat("o", 1000)))
	offset, blobErr := w.Blob(bytes.Repeat([]byte("b"), 2000))
	if err := errors.Join(err, blobErr); err != nil {
		t.Fatal(err)
	}
	w.freed = append(w.freed, gap{first: key.SeekKey, end: key.SeekKey + int64(key.NBytes)},
		gap{first: offset, end: offset + 2000})
	if err := w.commit(); err != nil {
		t.Fatal(err)
	}
	copy(m.b[key.SeekKey:], "\x00\x00") // the marks
	f := m.open(t)
	if got := freeListOf(t, f).Segments; len(got) < 2 {
		t.Fatalf("free are %v", got)
	}
	copy(m.b[offset:], "bbbb")
	before := bytes.Clone(m.b)
	w, err = Append(m, int64(len(m.b)), fixed(""))
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Object("", plain("new", "new"))
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	for _, s := range [][2]int64{{key.SeekKey, int64(key.NBytes)}, {offset, 2000}} {
		if !bytes.Equal(m.b[s[0]:s[0]+s[1]], before[s[0]:s[0]+s[1]]) {
			t.Errorf("%d bytes at %d were overwritten", s[1], s[0])
		}
	}
}

// TestChanged has somebody else change the file between two commits.
func TestChanged(t *testing.T) {
	for _, dir := range []string{"", "dir"} {
		m := new(target)
		w := create(t, m, fixed("f"))
		_, err := w.Object("dir", plain("x", "x"))
		if err := errors.Join(err, w.Commit()); err != nil {
			t.Fatal(err)
		}
		other, err := Append(m, int64(len(m.b)), fixed(""))
		if err != nil {
			t.Fatal(err)
		}
		_, err = other.Object(dir, plain("other", "other"))
		if err := errors.Join(err, other.Close()); err != nil {
			t.Fatal(err)
		}
		_, err = w.Object("dir", plain("late", "late"))
		if err := errors.Join(err, w.Commit()); !errors.Is(err, ErrChanged) {
			t.Error(err)
		}
		if s := missing(t, m.open(t), map[string]string{"dir/x;1": "x", join(dir, "other;1"): "other"}); s != "" {
			t.Error(s)
		}
	}
}

// TestCloneInChanged clones into a file that somebody else has changed: nothing is cloned over what may
// be there now.
func TestCloneInChanged(t *testing.T) {
	m := new(cloning)
	w := create(t, m, fixed("f"))
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := w.Clone(w.End(), nil, 0, 1); err != nil || m.clones != 1 {
		t.Errorf("%d clones, error %v", m.clones, err)
	}
	m.b[begin-1] ^= 1
	if err := w.Clone(w.End(), nil, 0, 1); !errors.Is(err, ErrChanged) || m.clones != 1 {
		t.Errorf("%d clones, error %v", m.clones, err)
	}
}

// A cloning counts what is cloned.
type cloning struct {
	target
	clones int
}

func (c *cloning) Clone(int64, *os.File, int64, int64) error {
	c.clones++
	return nil
}

// TestChangedDirectory has somebody else change the record of a directory alone.
func TestChangedDirectory(t *testing.T) {
	for _, name := range []string{"", "dir"} {
		m := new(target)
		w := create(t, m, fixed("f"))
		_, err := w.Object("dir", plain("x", "x"))
		if err := errors.Join(err, w.Commit()); err != nil {
			t.Fatal(err)
		}
		_, err = w.Object("dir", plain("late", "late"))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range w.folders {
			if (d == w.top()) == (name == "") {
				m.b[int(d.at)+len(d.record)-1] ^= 1
			}
		}
		if err := w.Commit(); !errors.Is(err, ErrChanged) {
			t.Errorf("directory %q: error %v", name, err)
		}
	}
}

// TestSyncFails makes each sync fail. The file is as before, or has the commit.
func TestSyncFails(t *testing.T) {
	for n := 1; n <= 3; n++ {
		d := &failing{n: n}
		w := create(t, d, fixed("f"))
		_, err := w.Object("dir", plain("x", "x"))
		if err != nil {
			t.Fatal(err)
		}
		err = w.Commit()
		if err == nil {
			_, err = w.Object("dir", plain("y", "y"))
			err = errors.Join(err, w.Commit())
		}
		if !errors.Is(err, errStopped) || !errors.Is(w.Close(), errStopped) || d.calls != n {
			t.Errorf("sync %d of %d fails: %v, then %v", n, d.calls, err, w.Close())
		}
	}
}

type failing struct {
	target
	n, calls int
}

func (f *failing) Sync() error {
	if f.calls++; f.calls == f.n {
		return errStopped
	}
	return nil
}

// TestNameLengthLies appends to a file whose top directory says that it is elsewhere. The
// header decides.
func TestNameLengthLies(t *testing.T) {
	m := new(target)
	w := create(t, m, fixed("f"))
	_, err := w.Object("", plain("old", "old"))
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	copy(m.b[w.top().at+14:], "\xff\xff\x00\x6c") // behind version, times and length of the list
	if w, err = Append(m, int64(len(m.b)), fixed("")); err != nil {
		t.Fatal(err)
	}
	_, err = w.Object("", plain("new", "new"))
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	if got, want := contents(t, m.open(t)), map[string]string{"old;1": "old", "new;1": "new"}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
