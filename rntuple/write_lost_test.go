package rntuple_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

func oneField() *schema.Document {
	return &schema.Document{Fields: []*schema.FieldDocument{{Name: "x", Type: "std::int32_t"},
		{Name: "v", Type: "std::vector<std::int32_t>"}}}
}

// TestNoReplace creates files where there is one already, and where one appears before the new one
// is complete.
func TestNoReplace(t *testing.T) {
	type closer interface{ Close() error }
	type entry struct{ X int32 }
	for name, create := range map[string]func(path string) (closer, error){
		"CreateFile": func(path string) (closer, error) {
			return rntuple.CreateFile(path, &rntuple.FileOptions{NoReplace: true})
		},
		"Create": func(path string) (closer, error) {
			return rntuple.Create[entry](path, "n", &rntuple.WriteOptions{File: rntuple.FileOptions{NoReplace: true}})
		},
		"CreateColumns": func(path string) (closer, error) {
			return rntuple.CreateColumns(path, "n", oneField(),
				&rntuple.WriteOptions{File: rntuple.FileOptions{NoReplace: true}})
		},
		"CreateRecords": func(path string) (closer, error) {
			return rntuple.CreateRecords(path, "n", oneField(),
				&rntuple.WriteOptions{File: rntuple.FileOptions{NoReplace: true}})
		},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "a.root")
		for _, appears := range []string{"", "meanwhile", "first"} {
			if appears == "first" {
				if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			w, err := create(path)
			if err == nil {
				if appears == "meanwhile" {
					if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				err = w.Close()
			}
			if errors.Is(err, fs.ErrExist) != (appears != "") || appears == "" && err != nil {
				t.Errorf("%s, a file is there %s: %v", name, appears, err)
			}
			if b, err := os.ReadFile(path); appears != "" && string(b) != "mine" {
				t.Errorf("%s: the file was replaced, %v", name, err)
			}
			if left, err := os.ReadDir(dir); len(left) != 1 {
				t.Errorf("%s: %v are left, %v", name, left, err)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		// A link that leads nowhere is a name that is taken, as for O_EXCL.
		if err := os.Symlink("nowhere", path); err != nil {
			continue
		}
		if _, err := create(path); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: a link is followed: %v", name, err)
		}
	}
}

// TestFailedPut makes sure that Close returns the error of each call that lost values.
func TestFailedPut(t *testing.T) {
	bad := &columnar.Array{}
	for name, put := range map[string]func(w *rntuple.ColumnWriter, c rntuple.Columns) error{
		"no such field": func(_ *rntuple.ColumnWriter, c rntuple.Columns) error { return rntuple.Put(c, "y", []int32{1}) },
		"another type":  func(_ *rntuple.ColumnWriter, c rntuple.Columns) error { return rntuple.Put(c, "x", []string{"a"}) },
		"jagged, no field": func(_ *rntuple.ColumnWriter, c rntuple.Columns) error {
			return rntuple.PutJagged(c, "y", []int64{0, 1}, []int32{1})
		},
		"jagged, type": func(_ *rntuple.ColumnWriter, c rntuple.Columns) error {
			return rntuple.PutJagged(c, "v", []int64{0, 1}, []string{""})
		},
		"offsets": func(_ *rntuple.ColumnWriter, c rntuple.Columns) error {
			return rntuple.PutJagged(c, "v", []int64{0, 2}, []int32{1})
		},
		"array, no field": func(_ *rntuple.ColumnWriter, c rntuple.Columns) error {
			return rntuple.PutArray(c, "y", bad, 0,
				1)
		},
		"array, shape": func(_ *rntuple.ColumnWriter, c rntuple.Columns) error {
			return rntuple.PutArray(c, "x", bad, 0,
				1)
		},
		"attribute": func(w *rntuple.ColumnWriter, _ rntuple.Columns) error {
			a, err := rntuple.NewAttributes[struct{ S string }](w, "set", nil)
			if err != nil {
				return nil
			}
			return a.Write(rntuple.EntryRange{First: -1, End: 1}, struct{ S string }{"a"})
		},
	} {
		for _, filler := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "a.root")
			w, err := rntuple.CreateColumns(path, "n", oneField(), nil)
			if err != nil {
				t.Fatal(err)
			}
			c, end := rntuple.Columns(w), func() error { return nil }
			if filler {
				f := w.Filler()
				c, end = f, f.Close
			}
			err = put(w, c)
			end()
			if closed := w.Close(); err == nil || !errors.Is(closed, err) && closed.Error() != "RNTuple \"n\": "+err.Error() {
				t.Errorf("%s, filler %t: the error is %v, that of Close %v", name, filler, err, closed)
			}
			if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s, filler %t: there is a file: %v", name, filler, err)
			}
		}
	}
}
