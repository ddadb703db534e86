package rootfile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/internal/test/oddity"
)

// A disk is a file in memory.
type disk struct{ b []byte }

func (d *disk) ReadAt(b []byte, at int64) (int, error) { return bytes.NewReader(d.b).ReadAt(b, at) }

func (d *disk) WriteAt(b []byte, at int64) (int, error) {
	if grow := at + int64(len(b)) - int64(len(d.b)); grow > 0 {
		d.b = append(d.b, make([]byte, grow)...)
	}
	return copy(d.b[at:], b), nil
}

// objects returns what a file holds.
func objects(b []byte) (map[string]string, error) {
	f, err := rootfile.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	return all, f.Walk(func(dir string, k rootfile.Key) error {
		object, err := f.Payload(k)
		if k.Class == "TDirectory" {
			object = nil // gives positions
		}
		all[dir+"/"+k.Name] = string(object)
		return err
	})
}

// TestOddities reads files that are unusual in a way that does no harm, and appends to them.
func TestOddities(t *testing.T) {
	d := new(disk)
	w, err := rootfile.Create(d, rootfile.Options{Name: "odd.root"})
	if err != nil {
		t.Fatal(err)
	}
	add := func(w *rootfile.Writer, dir, name string) {
		t.Helper()
		content := []byte("content of " + name)
		if _, err := w.Object(dir, rootfile.Object{Class: "TNamed", Name: name, Stored: content,
			Len: len(content)}); err != nil {
			t.Fatal(err)
		}
	}
	add(w, "dir", "deep")
	add(w, "", "x")
	add(w, "", "y")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want, err := objects(d.b)
	if err != nil || len(want) != 4 {
		t.Fatal(want, err)
	}
	for _, c := range oddity.Cases(t, d.b) {
		got, err := objects(c.File)
		if c.Hidden {
			if !errors.Is(err, frame.ErrCorrupt) || !strings.Contains(err.Error(), c.Says) {
				t.Errorf("%s: %v, %v", c.Name, got, err)
			}
			continue
		}
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("%s: %v, %v", c.Name, got, err)
		}
		file := &disk{bytes.Clone(c.File)}
		w, err := rootfile.Append(file, int64(len(file.b)), rootfile.Options{})
		if c.Fixed != "" {
			if err == nil || !strings.Contains(err.Error(), c.Fixed) || !bytes.Equal(file.b, c.File) {
				t.Errorf("%s: append: %v", c.Name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: append: %v", c.Name, err)
			continue
		}
		more := maps.Clone(want)
		for _, name := range []string{"a", "b", "c"} {
			add(w, "", name)
			more["/"+name] = "content of " + name
			if err := w.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := objects(file.b); err != nil || !maps.Equal(got, more) {
			t.Errorf("%s: after append: %v, %v", c.Name, got, err)
		}
	}
}

// TestLongList appends to a file whose directory says that its list of keys is longer than it
// is. What follows the list stays.
func TestLongList(t *testing.T) {
	d := new(disk)
	w, err := rootfile.Create(d, rootfile.Options{Name: "odd.root"})
	if err != nil {
		t.Fatal(err)
	}
	object := rootfile.Object{Class: "TNamed", Name: "x", Stored: make([]byte, 3500), Len: 3500} // would fit what follows
	if _, err := w.Object("", object); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := rootfile.Open(d, int64(len(d.b)))
	if err != nil {
		t.Fatal(err)
	}
	put := func(at, v int) { d.WriteAt(binary.BigEndian.AppendUint32(nil, uint32(v)), int64(at)) }
	list, at := bytes.Clone(d.b[f.Root.SeekKeys:][:f.Root.NBytesKeys]), len(d.b)
	live := bytes.Repeat([]byte("live"), 1000)
	d.b = append(append(d.b, list...), live...)
	put(at+18, at) // where the list is
	directory := int(f.Header.Begin + f.Header.NBytesName)
	put(directory+10, len(list)+len(live))
	put(directory+26, at)
	put(12, len(d.b)) // the end of the file
	if w, err = rootfile.Append(d, int64(len(d.b)), rootfile.Options{}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := w.Object("", object); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(d.b[at+len(list):][:len(live)], live) {
		t.Error("what follows the list is overwritten")
	}
}
