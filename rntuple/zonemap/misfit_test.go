package zonemap_test

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/rntuple/verify"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
)

// A record is an attribute of a zone map, as docs/reference/zonemaps.md describes it. It does not
// come from the package that writes zone maps, so that a change of the names in files is noticed.
type record struct {
	Version       uint16  `rntuple:"version"`
	Field         string  `rntuple:"field"`
	Kind          string  `rntuple:"kind"`
	Places        uint64  `rntuple:"places"`
	Empty         bool    `rntuple:"empty"`
	NaN           bool    `rntuple:"nan"`
	IntLeast      int64   `rntuple:"int_least"`
	IntGreatest   int64   `rntuple:"int_greatest"`
	UintLeast     uint64  `rntuple:"uint_least"`
	UintGreatest  uint64  `rntuple:"uint_greatest"`
	FloatLeast    float64 `rntuple:"float_least"`
	FloatGreatest float64 `rntuple:"float_greatest"`
}

// remade returns the file base with the zone map of a good one, changed.
func remade(t *testing.T, good, base string, change func(e *rntuple.EntryRange, a *record)) string {
	t.Helper()
	r, _ := open(t, good)
	set, err := r.OpenAttributes(zonemap.SetName)
	if err != nil {
		t.Fatal(err)
	}
	view, err := rntuple.AttributesOf[record](set)
	if err != nil {
		t.Fatal(err)
	}
	w, err := rntuple.Append[event](base, "sample", nil)
	if err != nil {
		t.Fatal(err)
	}
	to, err := rntuple.NewAttributes[record](w, zonemap.SetName, nil)
	if err != nil {
		t.Fatal(err)
	}
	for e, a := range view.All() {
		change(&e, &a)
		if err := to.Write(e, a); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return base
}

// TestMisfits has zone maps that do not fit: the set of another RNTuple, of another version,
// with other fields, or damaged. They are ignored, with a message.
func TestMisfits(t *testing.T) {
	good := write(t, &rntuple.WriteOptions{ZoneMap: []string{"*"}})
	same := func(*rntuple.EntryRange, *record) {}
	for want, change := range map[string]func(e *rntuple.EntryRange, a *record){
		"":          same,
		"version 2": func(_ *rntuple.EntryRange, a *record) { a.Version = 2 },
		`no field "Nx"`: func(_ *rntuple.EntryRange, a *record) {
			a.Field = strings.Replace(a.Field, "N", "Nx",
				1)
		},
		"no cluster":      func(e *rntuple.EntryRange, _ *record) { e.First++ },
		"has other pages": func(_ *rntuple.EntryRange, a *record) { a.Places++ },
		"is of kind uint, has int": func(_ *rntuple.EntryRange, a *record) {
			a.Kind = strings.Replace(a.Kind, "uint", "int",
				1)
		},
		"has the kind":         func(_ *rntuple.EntryRange, a *record) { a.Kind = "x" },
		"has int [1, 0] there": func(_ *rntuple.EntryRange, a *record) { a.IntLeast, a.IntGreatest = 1, 0 },
		"has float [NaN, ":     func(_ *rntuple.EntryRange, a *record) { a.FloatLeast = math.NaN() },
	} {
		// its pages lie in the same places as in the good file
		base := write(t, &rntuple.WriteOptions{ZoneMap: []string{"*"}})
		if err := surgery.RemoveIndex(context.Background(), surgery.Input{Path: base}, nil); err != nil {
			t.Fatal(err)
		}
		_, m := open(t, remade(t, good, base, change))
		if lines := verified(t, base); len(lines) > 0 != (want != "") || len(lines) > 0 &&
			!strings.Contains(strings.Join(lines, "\n"), want) {
			t.Errorf("problems of the file: %q, want %q", lines, want)
		}
		if problems := strings.Join(m.Problems, "\n"); !strings.Contains(problems, want) || want == "" && problems != "" {
			t.Errorf("got problems %q, want %q", problems, want)
		}
	}
	// Wrong bounds.
	for _, change := range []func(a *record){
		func(a *record) { a.IntGreatest-- },
		func(a *record) { a.UintLeast++ },
		func(a *record) { a.Empty = true },
		func(a *record) { a.NaN = false },
	} {
		base := write(t, &rntuple.WriteOptions{ZoneMap: []string{"*"}})
		if err := surgery.RemoveIndex(context.Background(), surgery.Input{Path: base}, nil); err != nil {
			t.Fatal(err)
		}
		lines := verified(t, remade(t, good, base, func(_ *rntuple.EntryRange, a *record) {
			if before := *a; a.IntLeast < a.IntGreatest || a.UintLeast < a.UintGreatest || a.NaN {
				if change(a); a.Empty {
					*a = record{Version: before.Version, Field: before.Field, Kind: before.Kind, Places: before.Places, Empty: true}
				}
			}
		}))
		if len(lines) == 0 || !strings.Contains(lines[0], "zone map, cluster ") ||
			!strings.Contains(lines[0], ": the bounds are ") {
			t.Errorf("problems %q", lines)
		}
	}
	// Pages in other places; of clusters without pages the zones are right.
	other := write(t, &rntuple.WriteOptions{NoSharing: true, Compression: compress.None})
	r, m := open(t, remade(t, good, other, same))
	for i := range len(clusters) - 1 {
		if z, ok := m.Zone("N", i); ok {
			t.Errorf("cluster %d has the zone %v of another file", i, z)
		}
	}
	if r.NumEntries() != 100 || len(m.Problems) == 0 {
		t.Error(m.Problems)
	}
	// A set with other fields.
	path := write(t, nil)
	w, err := rntuple.Append[event](path, "sample", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rntuple.NewAttributes[hit](w, zonemap.SetName, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, m := open(t, path); len(m.Problems) != 1 || !strings.Contains(m.Problems[0], "zone map ignored: ") {
		t.Error(m.Problems)
	}
	out := filepath.Join(t.TempDir(), "out.root")
	if _, err := surgery.Merge(context.Background(), out, []surgery.Input{{Path: path}, {Path: good}}, nil); err != nil {
		t.Error(err)
	}
	if _, err := surgery.MergeInto(context.Background(), surgery.Input{Path: path},
		[]surgery.Input{{Path: good}}, nil); err != nil {
		t.Error(err)
	}
}

// verified returns the problems of a file.
func verified(t *testing.T, path string) (lines []string) {
	t.Helper()
	_, err := verify.File(context.Background(), path, func(p verify.Problem) error {
		lines = append(lines, p.String())
		return nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// TestDamage flips bytes of a zone map: reading goes on without it.
func TestDamage(t *testing.T) {
	path := write(t, nil)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := surgery.Index(context.Background(), surgery.Input{Path: path}, nil); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ignored, opened := 0, 0
	for at := len(before); at < len(after); at += 5 {
		damaged := slices.Clone(after)
		damaged[at] ^= 0x41
		r, err := rntuple.NewReader(bytes.NewReader(damaged), int64(len(damaged)), "sample", nil)
		if err != nil {
			continue // the footer or the directory
		}
		opened++
		m, err := r.ZoneMap()
		if err != nil {
			t.Fatalf("offset %d: %v", at, err)
		}
		if len(m.Problems) > 0 {
			ignored++
		}
		if view, err := rntuple.ViewOf[int64](r, "N"); err != nil {
			t.Fatal(err)
		} else if n, err := view.At(99); n != 49 || err != nil {
			t.Fatal(n, err)
		}
	}
	if ignored < 100 || opened < ignored {
		t.Errorf("of %d damaged zone maps %d were ignored", opened, ignored)
	}
}
