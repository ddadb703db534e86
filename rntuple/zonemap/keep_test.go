package zonemap_test

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/schema"
)

// TestKept makes files of others that have zone maps. Their zone maps have the bounds of all
// clusters, or at least right ones.
func TestKept(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	a, b, plain := write(t, &rntuple.WriteOptions{ZoneMap: []string{"*"}}),
		write(t, &rntuple.WriteOptions{ZoneMap: []string{"*"}}), write(t, nil)
	in := func(paths ...string) (all []surgery.Input) {
		for _, p := range paths {
			all = append(all, surgery.Input{Path: p})
		}
		return all
	}
	all := slices.Collect(maps.Keys(numbers))
	for name, do := range map[string]func(out string) (*surgery.Report, error){
		"merge": func(out string) (*surgery.Report, error) { return surgery.Merge(ctx, out, in(a, b), nil) },
		"recompress": func(out string) (*surgery.Report, error) {
			return surgery.Merge(ctx, out, in(a, b),
				&surgery.MergeOptions{Options: surgery.Options{Write: rntuple.WriteOptions{Compression: 101}}})
		},
		"rewrite": func(out string) (*surgery.Report, error) {
			return surgery.Merge(ctx, out, in(a, plain),
				&surgery.MergeOptions{Options: surgery.Options{AtLeast: surgery.Rewrite}})
		},
		"join": func(out string) (*surgery.Report, error) {
			return surgery.Merge(ctx, out, in(a, b), &surgery.MergeOptions{Options: surgery.Options{JoinClusters: 1 << 20}})
		},
		"concat": func(out string) (*surgery.Report, error) {
			return surgery.Concat(ctx, out, []surgery.Piece{{Input: in(a)[0], First: 5, End: 70},
				{Input: in(b)[0], First: 10, End: 61}}, nil)
		},
		"skim": func(out string) (*surgery.Report, error) {
			return surgery.Skim(ctx, out, in(a, b),
				rntuple.WhereFunc(func(e *struct{ N int64 }) bool { return e.N%5 == 0 || e.N < -20 }), nil)
		},
		"rename": func(out string) (*surgery.Report, error) {
			return surgery.Rename(ctx, out, in(a)[0], surgery.Renaming{Name: "other"}, nil)
		},
		"repack": func(out string) (*surgery.Report, error) {
			return surgery.Repack(ctx, out, in(a)[0], &surgery.RepackOptions{EncodeAll: surgery.UnsplitEncoding})
		},
	} {
		out := filepath.Join(dir, name+".root")
		if _, err := do(out); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		t.Run(name, func(t *testing.T) {
			r, m := open(t, out)
			check(t, r, m, all...)
			if lines := verified(t, out); len(lines) > 0 {
				t.Error(lines)
			}
		})
	}
	t.Run("into", func(t *testing.T) {
		if _, err := surgery.MergeInto(ctx, in(b)[0], in(a), nil); err != nil {
			t.Fatal(err)
		}
		r, m := open(t, b)
		check(t, r, m, all...)
	})
	t.Run("slim", func(t *testing.T) {
		out := filepath.Join(dir, "slim.root")
		if _, err := surgery.Slim(ctx, out, in(a)[0],
			&surgery.SlimOptions{Keep: []string{"N", "Hits.X", "Name"}}); err != nil {
			t.Fatal(err)
		}
		_, m := open(t, out)
		if paths, _ := m.Fields(); strings.Join(paths, " ") != "N Hits Hits._0.X" || len(m.Problems) > 0 {
			t.Error(paths, m.Problems)
		}
		if z, _ := m.Zone("N", 4); z.String() != "int [10, 49]" {
			t.Error(z)
		}
	})
	t.Run("beside", func(t *testing.T) {
		out := filepath.Join(dir, "beside.root")
		if _, err := surgery.HMerge(ctx, out, in(a, plain, a),
			&surgery.HMergeOptions{Prefix: []string{"", "p_", "q_"}}); err != nil {
			t.Fatal(err)
		}
		_, m := open(t, out)
		_, before := open(t, a)
		for i := range len(clusters) - 1 {
			want, _ := before.Zone("Jets._0", i)
			first, _ := m.Zone("Jets._0", i)
			third, _ := m.Zone("q_Jets._0", i)
			if _, ok := m.Zone("p_Jets._0", i); ok || first != want || third != want || len(m.Problems) > 0 {
				t.Errorf("cluster %d: %v and %v, want %v; %v", i, first, third, want, m.Problems)
			}
		}
	})
	t.Run("some", func(t *testing.T) { // of clusters that are copied, nothing is known
		out := filepath.Join(dir, "some.root")
		if _, err := surgery.Merge(ctx, out, in(a, plain), nil); err != nil {
			t.Fatal(err)
		}
		_, m := open(t, out)
		for i := range 2 * (len(clusters) - 1) {
			if _, ok := m.Zone("N", i); ok != (i < len(clusters)-1) || len(m.Problems) > 0 {
				t.Errorf("cluster %d: %v, %v", i, ok, m.Problems)
			}
		}
	})
	t.Run("lossy", func(t *testing.T) { // values change
		out := filepath.Join(dir, "lossy.root")
		if _, err := surgery.Repack(ctx, out, in(a)[0],
			&surgery.RepackOptions{Encode: []surgery.FieldEncoding{{Path: "F",
				Column: schema.ColumnDocument{Type: "Real16"}}}}); err != nil {
			t.Fatal(err)
		}
		_, m := open(t, out)
		if z, ok := m.Zone("F", 0); ok || len(m.Problems) > 0 {
			t.Error(z, m.Problems)
		}
		if _, ok := m.Zone("N", 0); !ok {
			t.Error("no zones of other fields")
		}
	})
	t.Run("dropped", func(t *testing.T) {
		out := filepath.Join(dir, "dropped.root")
		if _, err := surgery.Merge(ctx, out, in(a),
			&surgery.MergeOptions{Options: surgery.Options{DropAttributes: true}}); err != nil {
			t.Fatal(err)
		}
		if r, _ := open(t, out); len(r.AttributeSets()) > 0 {
			t.Error(r.AttributeSets())
		}
	})
}

// TestRenameInPlace lets fields exchange their names.
func TestRenameInPlace(t *testing.T) {
	path := write(t, &rntuple.WriteOptions{ZoneMap: []string{"*"}})
	_, before := open(t, path)
	to := surgery.Renaming{Fields: map[string]string{"F": "Half", "Half": "F", "Jets": "Jots", "N": "M"}}
	if err := surgery.RenameInPlace(context.Background(), surgery.Input{Path: path}, to, nil); err != nil {
		t.Fatal(err)
	}
	_, m := open(t, path)
	for old, now := range map[string]string{"F": "Half", "Half": "F", "Jets._0": "Jots._0", "N": "M", "OK": "OK"} {
		for i := range len(clusters) - 1 {
			want, _ := before.Zone(old, i)
			if z, ok := m.Zone(now, i); !ok || z != want {
				t.Errorf("zone of %s in cluster %d: %v, want %v", now, i, z, want)
			}
		}
	}
	if lines := verified(t, path); len(m.Problems)+len(lines) > 0 {
		t.Error(m.Problems, lines)
	}
}

// TestUnion merges inputs that lack fields.
func TestUnion(t *testing.T) {
	dir := t.TempDir()
	x, y, out := filepath.Join(dir, "x.root"), filepath.Join(dir, "y.root"), filepath.Join(dir, "out.root")
	wx, err := rntuple.Create[struct{ A int32 }](x, "x", &rntuple.WriteOptions{ZoneMap: []string{"*"}})
	if err != nil {
		t.Fatal(err)
	}
	wx.Write(&struct{ A int32 }{5})
	if err := wx.Close(); err != nil {
		t.Fatal(err)
	}
	type wide struct {
		A int32
		B float32
		C []int8
	}
	wy, err := rntuple.Create[wide](y, "y", &rntuple.WriteOptions{ZoneMap: []string{"*"}})
	if err != nil {
		t.Fatal(err)
	}
	wy.Write(&wide{6, 7, []int8{8}})
	if err := wy.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = surgery.Merge(context.Background(), out, []surgery.Input{{Path: x}, {Path: y}, {Path: x}},
		&surgery.MergeOptions{Mode: surgery.Union})
	if err != nil {
		t.Fatal(err)
	}
	_, m := open(t, out)
	for path, want := range map[string][]string{
		"A": {"int [5, 5]", "int [6, 6]", "int [5, 5]"}, "B": {"unknown", "float [7, 7]", "float [0, 0]"},
		"C": {"unknown", "size [1, 1]", "size [0, 0]"}, "C._0": {"unknown", "int [8, 8]", "int []"},
	} {
		for i, want := range want {
			if z, _ := m.Zone(path, i); z.String() != want {
				t.Errorf("zone of %s in cluster %d: %v, want %s", path, i, z, want)
			}
		}
	}
	if lines := verified(t, out); len(m.Problems)+len(lines) > 0 {
		t.Error(m.Problems, lines)
	}
}
