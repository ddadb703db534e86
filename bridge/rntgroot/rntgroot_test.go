package rntgroot_test

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"go-hep.org/x/hep/groot/rbase"
	"go-hep.org/x/hep/groot/rhist"
	"go-hep.org/x/hep/groot/riofs"
	"go-hep.org/x/hep/groot/rphys"

	"github.com/go-rntuple/go-rntuple/bridge/rntgroot"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/value"
)

const good = "../../testdata/good/"

func open(t *testing.T, name string) *rntuple.Reader {
	t.Helper()
	r, err := rntuple.Open(good+name, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// TestObjects compares objects with what ROOT made of them: of all member types,
// in records and collections, of groot's classes and others.
func TestObjects(t *testing.T) {
	for _, file := range []struct {
		root, values string
		fields       int
	}{
		{"objects.root", "objects.jsonl.gz", 8},
		{"special_streamer.root", "objects_special.jsonl.gz", 2},
	} {
		r := open(t, file.root)
		fields := 0
		for _, f := range r.Schema().Fields {
			want := column(t, good+file.values, f.Name)
			if want[0] == nil {
				continue // not of streamed objects
			}
			fields++
			t.Run(file.root+"/"+f.Name, func(t *testing.T) {
				v, err := rntgroot.ViewOf[any](r, f.Name)
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				for i, x := range v.All() {
					if got := form(nil, x); !bytes.Equal(got, want[i]) {
						t.Fatalf("entry %d:\n%s\nwant\n%s", i, got, want[i])
					}
					n++
				}
				if v.Err() != nil || n != len(want) {
					t.Errorf("%d of %d entries, %v", n, len(want), v.Err())
				}
			})
		}
		if fields != file.fields {
			t.Errorf("%s: %d fields of objects, expected %d", file.root, fields, file.fields)
		}
	}
}

// TestContainer decodes what ROOT 6.40 wrote for the field
// ROOT::RStreamerField("points", "std::vector<SPoint>").
func TestContainer(t *testing.T) {
	d, err := rntgroot.NewDecoder(open(t, "objects.root"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := d.Decode("std::vector<SPoint>",
		[]byte("\x00\x00\x00\x01@\x00\x00 \x00\x00\xb8\x94\x9fO\x80\x00\x00\x00\x7f\x7f\xff\xff@\x00\x00\x0e\x00\n\vhello world"))
	if got, want := string(form(nil, v)), `[{"a":-2147483648,"b":"0x7f7fffff","s":"hello world"}]`; err != nil ||
		got != want {
		t.Errorf("%s, %v, expected %s", got, err, want)
	}
}

// Goroutines share a Decoder.
func TestConcurrent(t *testing.T) {
	r := open(t, "objects.root")
	d, err := rntgroot.NewDecoder(r)
	if err != nil {
		t.Fatal(err)
	}
	v, err := rntuple.ViewOf[[]byte](r, "tree")
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	want := column(t, good+"objects.jsonl.gz", "tree")
	for i, object := range v.All() {
		for range 4 {
			wait.Go(func() {
				if x, err := d.Decode("OTree", object); err != nil || !bytes.Equal(form(nil, x), want[i]) {
					t.Errorf("entry %d: %v", i, err)
				}
			})
		}
	}
	wait.Wait()
}

// column returns the values of a field in a file of JSON Lines.
func column(t *testing.T, path, field string) (values []json.RawMessage) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewReader(z); ; {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return values
		}
		var entry map[string]json.RawMessage
		if err == nil {
			err = json.Unmarshal(line, &entry)
		}
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, entry[field])
	}
}

// form appends v as testdata/gen/objects.C prints it: as package golden has it,
// objects by their members, those of ROOT's classes by their values.
func form(dst []byte, v any) []byte {
	record := func(names []string, values []any) []byte {
		dst = append(dst, '{')
		for i, name := range names {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(value.AppendJSON(dst, name), ':')
			dst = form(dst, values[i])
		}
		return append(dst, '}')
	}
	switch v := v.(type) {
	case float32:
		return fmt.Appendf(dst, `"0x%08x"`, math.Float32bits(v))
	case float64:
		return fmt.Appendf(dst, `"0x%016x"`, math.Float64bits(v))
	case []any:
		dst = append(dst, '[')
		for i, x := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = form(dst, x)
		}
		return append(dst, ']')
	case value.Map:
		var names []string
		var values, pairs []any
		for _, e := range v.Elements {
			pairs, values = append(pairs, []any{e.Key, e.Value}), append(values, e.Value)
			if v.StringKeys {
				names = append(names, e.Key.(string))
			}
		}
		if v.StringKeys {
			return record(names, values)
		}
		slices.SortFunc(pairs, func(a, b any) int { return cmp.Compare(a.([]any)[0].(int32), b.([]any)[0].(int32)) })
		return form(dst, pairs)
	case value.Record:
		return record(v.Names, v.Values)
	case *rntgroot.Object:
		if slices.Equal(v.Names, []string{"first", "second"}) {
			return form(dst, v.Values)
		}
		return record(v.Names, v.Values)
	case *rbase.Object:
		return fmt.Append(dst, v.ID)
	case *rbase.Named:
		return record([]string{"name", "title"}, []any{v.Name(), v.Title()})
	case *rbase.ObjString:
		return form(dst, v.String())
	case *rphys.LorentzVector:
		return form(dst, []any{v.Px(), v.Py(), v.Pz(), v.E()})
	case *rhist.H1D:
		axis := v.XAxis()
		all := []any{v.Title(), axis.XMin(), axis.XMax(), v.Entries()}
		for i := range 7 {
			all = append(all, v.Array().Data[i])
		}
		return form(dst, all)
	}
	return value.AppendJSON(dst, v)
}

// TestZoneMaps opens a file that groot may have from anywhere: its zone map is used if that is
// wanted.
func TestZoneMaps(t *testing.T) {
	type event struct{ N int32 }
	path := filepath.Join(t.TempDir(), "zoned.root")
	w, err := rntuple.Create[event](path, "events", &rntuple.WriteOptions{ZoneMap: []string{"*"}})
	if err == nil {
		err = w.Write(&event{1})
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := riofs.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	object, err := f.Get("events")
	if err != nil {
		t.Fatal(err)
	}
	for want, opts := range []*rntuple.ReadOptions{nil, {ZoneMaps: rntuple.TrustAll}} {
		for name, open := range map[string]func() (*rntuple.Reader, error){
			"Open":         func() (*rntuple.Reader, error) { return rntgroot.Open(f, "events", opts) },
			"RNTuple.Open": func() (*rntuple.Reader, error) { return object.(*rntgroot.RNTuple).Open(opts) },
		} {
			r, err := open()
			if err != nil {
				t.Fatal(err)
			}
			m, err := r.ZoneMap()
			if err != nil {
				t.Fatal(err)
			}
			if fields, _ := m.Fields(); len(fields) != want {
				t.Errorf("%s, %+v: zones of %q", name, opts, fields)
			}
		}
	}
}
