package rootfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
)

// A changing file calls a function after each read. It tells its size, so that readers expect it
// to grow.
type changing struct {
	*target
	after func(at int64)
}

func (c *changing) Size() int64 { return int64(len(c.b)) }

func (c *changing) ReadAt(b []byte, at int64) (int, error) {
	n, err := c.target.ReadAt(b, at)
	if c.after != nil {
		c.after(at)
	}
	return n, err
}

// TestStale changes the record of a directory once the list of its keys was read: this list may
// be of another state.
func TestStale(t *testing.T) {
	for _, path := range []string{"", "dir", "dir/sub"} {
		m := new(target)
		w := create(t, m, fixed("f"))
		_, err := w.Object("dir/sub", plain("x", "x"))
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		c := &changing{target: m}
		f, err := Open(c, c.Size())
		if err != nil {
			t.Fatal(err)
		}
		d, record := f.Root.Directory, int64(f.Header.Begin)+int64(f.Root.NBytesName)
		for dir := ""; dir != path; {
			name := path[:min(3, len(path))]
			if dir != "" {
				name = path
			}
			k, err := f.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			sub, _, err := f.readDirectory(name, k)
			if err != nil {
				t.Fatal(err)
			}
			dir, d, record = name, sub, k.SeekKey+int64(k.KeyLen)
		}
		visited := 0
		c.after = func(at int64) {
			if at == d.SeekKeys {
				m.b[record+8] ^= 1 // the time of the change
				c.after = nil
			}
		}
		err = f.Walk(func(dir string, _ Key) error {
			if dir == path {
				visited++
			}
			return nil
		})
		if c.after != nil || !errors.Is(err, ErrStale) || visited > 0 {
			t.Errorf("directory %q: %d keys, error %v", path, visited, err)
		}
	}
}

// TestRetry reads again as long as the file is being changed, and no longer.
func TestRetry(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		ctx   context.Context
		stale int // how often the file is being changed
		err   error
		want  int // reads
	}{
		{t.Context(), 0, nil, 1}, {t.Context(), 3, nil, 4}, {t.Context(), 0, errStopped, 1}, {t.Context(), 2, errStopped, 3},
		{done, 3, context.Canceled, 1}, {done, 0, nil, 1},
	} {
		reads := 0
		n, err := Retry(test.ctx, func() (int, error) {
			if reads++; reads <= test.stale {
				return reads, fmt.Errorf("read %d: %w", reads, ErrStale)
			}
			return reads, test.err
		})
		if n != test.want || reads != test.want || !errors.Is(err, test.err) {
			t.Errorf("%d times stale: %d reads, error %v, want %d and %v", test.stale, reads, err, test.want, test.err)
		}
	}
}

// TestReadFails has each read fail when a file is opened for update, and when it is scanned.
func TestReadFails(t *testing.T) {
	m := new(target)
	w := create(t, m, fixed("f"))
	if err := errors.Join(fill(w), w.Close()); err != nil {
		t.Fatal(err)
	}
	errRead := errors.New("read")
	for name, open := range map[string]func(f *failingRead) error{
		"update": func(f *failingRead) error { _, err := Append(f, int64(len(m.b)), fixed("")); return err },
		"scan": func(f *failingRead) error {
			return Scan(t.Context(), f, int64(len(m.b)), func(Record) error { return nil })
		},
	} {
		all := &failingRead{target: m, failAt: -1}
		if err := open(all); err != nil || all.reads < 3 {
			t.Fatalf("%s: %d reads, error %v", name, all.reads, err)
		}
		for i := range all.reads {
			f := &failingRead{target: m, failAt: i, err: errRead}
			// The streamer infos stay as they are if they cannot be read.
			if err := open(f); !errors.Is(err, errRead) && (err != nil || name == "scan") {
				t.Errorf("%s: read %d of %d fails: %v", name, i, all.reads, err)
			}
		}
	}
	short := func(Record) error { return nil }
	if err := Scan(t.Context(), m, int64(len(m.b))+100, short); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("scanning a file that is shorter: %v", err)
	}
}

// A failingRead fails at a read.
type failingRead struct {
	*target
	reads, failAt int
	err           error
}

func (f *failingRead) ReadAt(b []byte, at int64) (int, error) {
	if f.reads++; f.reads-1 == f.failAt {
		return 0, f.err
	}
	return f.target.ReadAt(b, at)
}

// TestScanGap scans a gap in which there is a record that is not used any more.
func TestScanGap(t *testing.T) {
	m := new(target)
	w := create(t, m, fixed("f"))
	var old []Key
	for _, name := range []string{"a", "b", "c"} {
		k, err := w.Object("", plain(name, "old content of "+name))
		if err != nil {
			t.Fatal(err)
		}
		old = append(old, k)
	}
	_, err := w.Object("", plain("last", ""))
	if err := errors.Join(err, w.Commit()); err != nil {
		t.Fatal(err)
	}
	for _, k := range old {
		_, err = w.Replace("", k, plain(k.Name, "the new content, which needs more space than the old one of "+k.Name))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, r := range scanned(t, m.b) {
		for _, k := range old {
			if r.SeekKey == k.SeekKey {
				t.Errorf("%q at %#x is not used any more", r.Name, r.SeekKey)
			}
		}
		found[r.Name]++
	}
	if found["a"] != 1 || found["b"] != 1 || found["c"] != 1 || found["last"] != 1 {
		t.Errorf("%v", found)
	}
}
