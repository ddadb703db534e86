package rntgroot_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go-hep.org/x/hep/groot"
	"go-hep.org/x/hep/groot/riofs"

	"github.com/go-rntuple/go-rntuple/bridge/rntgroot"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestDamagedObjects changes every byte of objects that groot has no part in,
// and cuts them: what comes is an error or some value, in moderate memory.
func TestDamagedObjects(t *testing.T) {
	r := open(t, "objects.root")
	d, err := rntgroot.NewDecoder(r)
	if err != nil {
		t.Fatal(err)
	}
	for path, class := range map[string]string{
		"basic": "OBasic", "stds": "OStd", "tree": "OTree", "holder.obj": "SStreamed", "named": "TNamed",
	} {
		v, err := rntuple.ViewOf[[]byte](r, path)
		if err != nil {
			t.Fatal(err)
		}
		for entry := range int64(2) {
			object, err := v.At(entry)
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			decode := func(what string, at int, data []byte) bool {
				_, err := d.Decode(class, data)
				if err != nil && !errors.Is(err, rntuple.ErrCorrupt) && !errors.Is(err, rntuple.ErrUnsupported) {
					t.Errorf("%s of entry %d, %s %d: %v", path, entry, what, at, err)
				}
				return err == nil
			}
			if !decode("whole", 0, object) {
				t.Errorf("%s of entry %d cannot be decoded", path, entry)
			}
			for i := range object {
				if decode("cut at", i, object[:i]) {
					t.Errorf("%s of entry %d, cut at %d: no error", path, entry, i)
				}
				for _, flip := range []byte{0x41, 0x80, 0xff} {
					changed := slices.Clone(object)
					changed[i] ^= flip
					decode("changed at", i, changed)
				}
				before = after
				if runtime.ReadMemStats(&after); i > 0 && after.TotalAlloc-before.TotalAlloc > 4<<20 {
					t.Errorf("%s of entry %d, around %d: %d bytes allocated for %d", path, entry, i,
						after.TotalAlloc-before.TotalAlloc, len(object))
				}
			}
			if decode("longer", 0, append(slices.Clip(object), 0)) {
				t.Errorf("%s of entry %d, longer: no error", path, entry)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	r := open(t, "objects.root")
	d, err := rntgroot.NewDecoder(r)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		err  func() error
		want error
		text string
	}{
		{"unknown class", func() error { _, err := d.Decode("Nobody", []byte{0x40, 0, 0, 2, 0, 1}); return err },
			rntuple.ErrUnsupported, `no streamer information about class "Nobody" of version 1`},
		{"unknown version", func() error { _, err := d.Decode("OBase", []byte{0x40, 0, 0, 6, 0, 9, 0, 0, 0, 1}); return err },
			rntuple.ErrUnsupported, `class "OBase" of version 9`},
		{"class of groot, newer", func() error { _, err := d.Decode("TH1D", []byte{0x40, 0, 0, 2, 0, 99}); return err },
			rntuple.ErrUnsupported, "groot: "},
		{"class of groot, cut", func() error { _, err := d.Decode("TObjString", []byte{0x40, 0, 0, 2, 0, 1}); return err },
			rntuple.ErrUnsupported, "groot: "},
		{"no objects", func() error { _, err := rntgroot.ViewOf[any](r, "nothing"); return err },
			rntuple.ErrNoField, "nothing"},
		{"another type", func() error {
			v, err := rntgroot.ViewOf[*rntgroot.Object](r, "h")
			if err == nil {
				_, err = v.At(0)
			}
			return err
		}, nil, `entry 0: field "h" is a *rhist.H1D, not a *rntgroot.Object`},
		{"behind the end", func() error {
			v, err := rntgroot.ViewOf[any](r, "h")
			if err == nil {
				_, err = v.At(20)
			}
			return err
		}, io.EOF, ""},
	}
	for _, test := range tests {
		err := test.err()
		if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v, expected %v and %q", test.name, err, test.want, test.text)
		}
	}
}

// TestOpen opens RNTuples in files of all kinds that groot opens, by name and
// through the object that groot's Get returns.
func TestOpen(t *testing.T) {
	path := good + "special_dirs.root"
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	inMemory, err := riofs.NewReader(riofs.RMemFile(content)) // knows no size
	if err != nil {
		t.Fatal(err)
	}
	local, err := groot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*groot.File{local, inMemory} {
		for name, entries := range map[string]int64{"top": 9, "top;1": 5, "dir/sub/ntuple": 7, "dir/other": 3, "dir/top": 2} {
			r, err := rntgroot.Open(f, name, nil)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			obj, err := riofs.Dir(f).Get(name)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			anchor, ok := obj.(*rntgroot.RNTuple)
			if !ok || anchor.Class() != "ROOT::RNTuple" || anchor.RVersion() != 2 {
				t.Errorf("%s: %v", name, obj)
				continue
			}
			again, err := anchor.Open(nil)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			for _, r := range []*rntuple.Reader{r, again} {
				v, err := rntuple.ViewOf[int32](r, "i")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := v.At(entries - 1); err != nil || r.NumEntries() != entries {
					t.Errorf("%s: %d entries, expected %d; %v", name, r.NumEntries(), entries, err)
				}
			}
		}
		if _, err := rntgroot.Open(f, "dir/h", nil); !errors.Is(err, rntuple.ErrNotFound) {
			t.Errorf("no such RNTuple: %v", err)
		}
		if _, err := riofs.Dir(f).Get("h"); err != nil { // other classes as before
			t.Error(err)
		}
		f.Close()
	}
	if _, err := rntgroot.Open(local, "top", nil); err == nil {
		t.Error("opened in a closed file")
	}
	written, err := groot.Create(filepath.Join(t.TempDir(), "new.root"))
	if err != nil {
		t.Fatal(err)
	}
	defer written.Close()
	if _, err := rntgroot.Open(written, "", nil); err == nil {
		t.Error("opened in a file for writing")
	}
	if _, err := new(rntgroot.RNTuple).Open(nil); err == nil {
		t.Error("opened without a file")
	}
}

// TestOpenLegacy gets RNTuples of pre-release formats from groot.
func TestOpenLegacy(t *testing.T) {
	files, err := filepath.Glob("../../../shared/testdata/legacy/*.root")
	if err != nil || len(files) == 0 {
		t.Skip("no files of pre-release formats here")
	}
	opened := 0
	for _, file := range files {
		f, err := groot.Open(file)
		if err != nil {
			continue // not a ROOT file that groot reads
		}
		for _, k := range f.Keys() {
			obj, _ := f.Get(k.Name())
			n, ok := obj.(*rntgroot.RNTuple)
			if !ok {
				continue
			}
			opened++
			r, err := n.Open(nil)
			if err != nil {
				t.Errorf("%s, %s: %v", file, k.Name(), err)
				continue
			}
			want, err := rntuple.Open(file, k.Name(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if r.NumEntries() != want.NumEntries() || n.Class() != k.ClassName() {
				t.Errorf("%s, %s: %s with %d entries, expected %d", file, k.Name(), n.Class(), r.NumEntries(), want.NumEntries())
			}
			want.Close()
		}
		f.Close()
	}
	if opened == 0 {
		t.Error("no RNTuple opened")
	}
}
