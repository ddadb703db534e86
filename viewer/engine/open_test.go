package engine

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/internal/show/draw"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
	"github.com/go-rntuple/go-rntuple/schema"
)

// TestNewest has a list of keys that has an older cycle before the newest. The latter is the
// default.
func TestNewest(t *testing.T) {
	b := read(t, good+"/special_dirs.root")
	f, err := rootfile.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	list := b[f.Root.SeekKeys:][:f.Root.NBytesKeys]
	var keys rootfile.KeyList
	keys.Wire(frame.NewReader(list, "", 0).BigEndian())
	slices.Reverse(keys.Keys)
	c := frame.NewWriter(nil, "").BigEndian()
	keys.Wire(c)
	reversed, err := c.Bytes()
	if copy(list, reversed) != len(list) || err != nil {
		t.Fatal(err)
	}
	e := new(Engine)
	o := ask[Opened](t, e, "open", map[string]any{"url": serve(t, &backend{b: b})})
	var older []string
	for _, n := range o.NTuples {
		if n.Older {
			older = append(older, n.Name)
		}
	}
	i := slices.IndexFunc(o.NTuples, func(n NTuple) bool { return n.Name == "top" })
	if !slices.Equal(older, []string{"top;1"}) || i < 1 || o.NTuples[i-1].Name != "top;1" {
		t.Fatalf("%+v", o.NTuples)
	}
	open, err := e.current()
	if err != nil {
		t.Fatal(err)
	}
	defer open.use.Done()
	open.infos = open.infos[i-1:]
	if r, err := open.reader(""); err != nil || r.NumEntries() != 9 {
		t.Error(r.NumEntries(), err)
	}
}

// TestOpen opens all files, and compares the fields with those of package schema. Every expression
// that it gives for a field is one.
func TestOpen(t *testing.T) {
	paths, err := filepath.Glob(good + "/*.root")
	if err != nil || len(paths) < 15 {
		t.Fatal(paths, err)
	}
	drawable := 0
	for _, path := range append(paths, dimuon) {
		e, o := opened(t, path)
		if o.Name != filepath.Base(path) || int(o.Size) != len(read(t, path)) || len(o.Warnings) > 0 {
			t.Errorf("%s: %+v", path, o)
		}
		infos, err := rntuple.ListFile(context.Background(), path, nil)
		if err != nil || len(infos) != len(o.NTuples) {
			t.Fatalf("%s: %d RNTuples, want %d, %v", path, len(o.NTuples), len(infos), err)
		}
		for i, n := range o.NTuples {
			r, err := rntuple.Open(path, infos[i].Path, nil)
			if err != nil {
				t.Fatal(err)
			}
			in, err := r.Inspect(nil)
			if err != nil {
				t.Fatal(err)
			}
			if n.Name != infos[i].Path || int64(n.Entries) != r.NumEntries() || int(n.Clusters) != in.Clusters ||
				n.Groups != in.ClusterGroups ||
				n.Columns != len(in.Columns) || int64(*n.Compressed) != in.Total.OwnDisk() ||
				int64(*n.Uncompressed) != in.Total.Packed || n.Version != r.FormatVersion() {
				t.Errorf("%s: %+v", path, n)
			}
			var fields []*schema.Field
			var all func([]*schema.Field)
			all = func(some []*schema.Field) {
				for _, f := range some {
					fields = append(fields, f)
					all(f.Children)
				}
			}
			all(r.Schema().TopLevel())
			s := ask[struct{ Fields []*Field }](t, e, "schema", map[string]any{"ntuple": n.Name})
			at := 0
			var check func([]*Field)
			check = func(some []*Field) {
				for _, got := range some {
					want := fields[at]
					at++
					if got.Path != want.Path() || got.Name != want.Name || got.Type != want.CppType() ||
						got.Description != want.Description ||
						int64(got.Compressed) != in.Field(want).OwnDisk() || int64(got.Uncompressed) != in.Field(want).Packed {
						t.Errorf("%s: %+v, want %v", path, got, want)
					}
					if got.Drawable {
						drawable++
						x, err := expression.Parse(got.Expression)
						if err != nil {
							t.Errorf("%s: %s: %v", path, got.Path, err)
							continue
						}
						p, err := expression.Compile(r, x)
						if err != nil {
							t.Errorf("%s: %s: %s: %v", path, got.Path, got.Expression, err)
							continue
						}
						plan := draw.Plan{Program: p, Names: []string{got.Expression},
							Curves: []draw.Curve{{Y: -1, Weight: -1, Where: -1}}, X: draw.Binning{Most: 10, Range: draw.Auto}}
						if err := plan.Check(); err != nil {
							t.Errorf("%s: %s: %v", path, got.Path, err)
						}
					}
					check(got.Fields)
				}
			}
			check(s.Fields)
			if at != len(fields) {
				t.Errorf("%s: %d fields, want %d", path, at, len(fields))
			}
			r.Close()
		}
	}
	if drawable < 500 {
		t.Errorf("only %d fields can be drawn", drawable)
	}
}
