package rootfile

import (
	"errors"
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
