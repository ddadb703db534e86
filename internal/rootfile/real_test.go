package rootfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/frame"
)

// realFiles returns the contents of ROOT files by name: those of the repository,
// except the bad ones, and the collection beside it if there is one.
func realFiles(t testing.TB) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	for _, root := range []string{"../../testdata", "../../../shared/testdata"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == "bad" {
				return fs.SkipDir
			}
			if err != nil || filepath.Ext(path) != ".root" {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			b, err := os.ReadFile(path)
			files[filepath.ToSlash(name)] = b
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return files
}

// TestRealFiles lists every file, compares its lists with the records, and finds
// and reads every anchor.
func TestRealFiles(t *testing.T) {
	files := realFiles(t)
	if len(files) == 0 {
		t.Skip("no ROOT files in testdata of the repository or beside it")
	}
	for name, b := range files {
		t.Run(name, func(t *testing.T) {
			f, err := Open(bytes.NewReader(b), int64(len(b)))
			if strings.Contains(name, "bare") {
				if !errors.Is(err, frame.ErrUnsupported) {
					t.Errorf("bare container: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			err = f.Walk(func(dir string, k Key) error {
				n++
				checkKey(t, f, b, join(dir, k.Name), k)
				return nil
			})
			if err != nil || n == 0 {
				t.Errorf("%d keys, %v", n, err)
			}
		})
	}
}

// checkKey compares the key of an object and its payload with the bytes of the
// file.
func checkKey(t *testing.T, f *File, file []byte, path string, k Key) {
	t.Helper()
	if image := encode(t, &k); !bytes.HasPrefix(file[k.SeekKey:], image) || len(image) != int(k.KeyLen) {
		t.Errorf("%s: the list has key %x, the record another", path, image)
	}
	object, err := f.Payload(k)
	if err != nil || len(object) != int(k.ObjLen) {
		t.Errorf("%s: %d bytes of %d, %v", path, len(object), k.ObjLen, err)
		return
	}
	if found, err := f.Find(path, k.Class); err != nil || found.Name != k.Name || found.CycleNumber() < k.CycleNumber() {
		t.Errorf("%s: found %+v, %v", path, found, err)
	}
	switch k.Class {
	case anchor.ClassName:
		a, err := anchor.Parse(object)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return
		}
		header := make([]byte, a.NBytesHeader)
		if err := anchor.ReadBlob(bytes.NewReader(file), header, int64(a.SeekHeader), a.MaxKeySize); err != nil {
			t.Errorf("%s: header: %v", path, err)
		}
		// Format 0.3 has the class name of 1.0, but another epoch.
		if err := a.Supported(); err != nil && a.Epoch != 0 {
			t.Errorf("%s: %v", path, err)
		}
	case anchor.ExperimentalClassName:
		if a, err := anchor.Parse(object); err == nil {
			err = a.Supported()
			if !errors.Is(err, frame.ErrUnsupported) {
				t.Errorf("%s: %+v: %v", path, a, err)
			}
		} else if !errors.Is(err, frame.ErrUnsupported) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestRealRecordsRoundTrip writes ROOT's records as they were read.
func TestRealRecordsRoundTrip(t *testing.T) {
	files := realFiles(t)
	if len(files) == 0 {
		t.Skip("no ROOT files in testdata of the repository or beside it")
	}
	for name, b := range files {
		f, err := Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			continue
		}
		if got := encode(t, &f.Header); !bytes.HasPrefix(b, got) {
			t.Errorf("%s: header %x", name, got)
		}
		if got := encode(t, &f.Root); !bytes.HasPrefix(b[f.Header.Begin:], got) {
			t.Errorf("%s: first record %x", name, got)
		}
		var l KeyList
		at := b[f.Root.SeekKeys:][:f.Root.NBytesKeys]
		if err := decode(at, &l); err != nil || !bytes.Equal(encode(t, &l), at) {
			t.Errorf("%s: key list %+v, %v", name, l, err)
		}
	}
}

// TestRealListings compares the listings of some files with those that ROOT prints.
func TestRealListings(t *testing.T) {
	files := realFiles(t)
	for name, want := range map[string][]string{
		"root/test_int_float_rntuple_v1-0-0-0.root": {"ntuple;1 ROOT::RNTuple"},
		"legacy/rc1_min1.root":                      {"ntuple;1 ROOT::Experimental::RNTuple"},
		"ttree/uproot-HZZ.root":                     {"events;1 TTree"},
	} {
		b, ok := files[name]
		if !ok {
			t.Logf("%s is not there", name)
			continue
		}
		f, err := Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := list(t, f); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func FuzzOpen(f *testing.F) {
	for _, b := range realFiles(f) {
		if len(b) < 10000 { // longer ones slow the fuzzer down and have nothing new
			f.Add(b)
		}
	}
	bad, err := filepath.Glob("../../testdata/bad/*.root")
	if err != nil || len(bad) == 0 {
		f.Fatalf("%d files, %v", len(bad), err)
	}
	for _, path := range bad {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add(nested(f).close().bytes())
	big := newFile(f, "big.root")
	big.big = BigVersion
	big.top().mkdir("dir").add("TH1D", "x", 1, []byte("x"))
	f.Add(big.close().bytes())
	f.Fuzz(func(t *testing.T, b []byte) { exercise(t, b) })
}
