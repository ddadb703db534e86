package surgery

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestRename renames in a copy and in place.
func TestRename(t *testing.T) {
	type inner struct{ A, B int32 }
	type entry struct {
		X     float32
		Inner inner
		Names []string
	}
	dir := t.TempDir()
	in := filepath.Join(dir, "in.root")
	f, err := rntuple.CreateFile(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"d/old", "d/other"} {
		w, err := rntuple.NewWriter[entry](f, name,
			&rntuple.WriteOptions{Projections: []rntuple.Projection{{Name: "view", CppType: "float", Source: "X"}}})
		if err != nil {
			t.Fatal(err)
		}
		a, err := rntuple.NewAttributes[struct{ S string }](w, "set", nil)
		if err != nil {
			t.Fatal(err)
		}
		a.Write(rntuple.EntryRange{End: 2}, struct{ S string }{"both"})
		for i := range int32(2) {
			w.Write(&entry{float32(i), inner{i, -i}, []string{"a", "b"}[:i]})
			w.CommitClusterGroup()
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	old := lines(t, in, "d/old")
	check := func(path, name string) {
		t.Helper()
		got := lines(t, path, name)
		for i, line := range old {
			want := strings.NewReplacer(`"X"`, `"Y"`, `"Names"`, `"Tags"`, `"A"`, `"Z"`).Replace(line)
			for _, part := range strings.SplitAfter(strings.Trim(want, "{}"), ",\"") {
				if !strings.Contains(got[i], strings.Trim(part, `",`)) {
					t.Errorf("%s, want %s", got[i], want)
				}
			}
		}
		r := openReader(t, path, name)
		set, err := r.OpenAttributes("set")
		if err != nil || set.Len() != 1 || r.NumEntries() != 2 {
			t.Error(set, err)
		}
		chain, err := r.Schema().Lookup("view")
		if err != nil || chain[0].Source.Name != "Y" {
			t.Error(chain, err)
		}
	}
	to := Renaming{"new", map[string]string{"X": "Y", "Names": "Tags", "Inner.A": "Z"}}
	out := filepath.Join(dir, "out.root")
	report, err := Rename(t.Context(), out, Input{in, "d/old"}, to, nil)
	if err != nil || report.Levels[Copy].Pages == 0 || report.Levels[Copy] != sum(report) {
		t.Fatal(report, err)
	}
	check(out, "new")
	for _, bad := range []Renaming{
		{Fields: map[string]string{"X": "Inner"}}, {Fields: map[string]string{"X": "a.b"}},
		{Fields: map[string]string{"X": ""}},
		{Fields: map[string]string{"Nope": "a"}}, {Fields: map[string]string{"Names._0": "a"}},
		{Fields: map[string]string{"Inner.A": "B"}},
		{Name: "a.b\x00"}, {Name: "other"},
	} {
		before, _ := os.ReadFile(in)
		if err := RenameInPlace(t.Context(), Input{in, "d/old"}, bad, nil); err == nil {
			t.Errorf("%v is done", bad)
		}
		if now, _ := os.ReadFile(in); !slices.Equal(now, before) {
			t.Errorf("%v: the file has changed", bad)
		}
		none := filepath.Join(t.TempDir(), "none")
		if _, err := Rename(t.Context(), none, Input{in, "d/old"}, bad, nil); err == nil && bad.Name != "other" {
			t.Errorf("%v is done", bad)
		} else if err != nil {
			noFile(t, none)
		}
	}
	info, _ := os.Stat(in)
	if err := RenameInPlace(t.Context(), Input{in, "d/old"}, to, nil); err != nil {
		t.Fatal(err)
	}
	check(in, "d/new")
	compareLines(t, "the other", lines(t, in, "d/other"), old)
	if _, err := rntuple.Open(in, "d/old", nil); !errors.Is(err, rntuple.ErrNotFound) {
		t.Error(err)
	}
	if now, _ := os.Stat(in); now.Size() > info.Size()+8000 {
		t.Errorf("%d bytes, %d before", now.Size(), info.Size())
	}
}

// TestRenameCycles renames an RNTuple that was appended to twice, and makes sure that no older
// cycle turns up where it was not asked for.
func TestRenameCycles(t *testing.T) {
	type entry struct{ X int32 }
	dir := t.TempDir()
	in := filepath.Join(dir, "in.root")
	f, err := rntuple.CreateFile(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"d/old", "d/other"}
	for i := range 3 * len(names) {
		open := func() (*rntuple.Writer[entry], error) { return rntuple.NewWriter[entry](f, names[i], nil) }
		if i >= len(names) {
			open = func() (*rntuple.Writer[entry], error) { return rntuple.Append[entry](in, names[i%len(names)], nil) }
		}
		w, err := open()
		if err != nil {
			t.Fatal(err)
		}
		w.Write(&entry{int32(i)})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if i == len(names)-1 {
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	check := func(what string, want map[string]int64) {
		t.Helper()
		infos, err := rntuple.ListFile(context.Background(), in, nil)
		if err != nil || len(infos) != len(want) {
			t.Fatalf("%s: %v, %v", what, infos, err)
		}
		newest := map[string]int64{}
		for _, i := range infos {
			if n := openReader(t, in, i.Path).NumEntries(); n != want[i.Path] || i.Newest == strings.Contains(i.Path, ";") {
				t.Errorf("%s: %+v has %d entries, want %d", what, i, n, want[i.Path])
			}
			if i.Newest {
				newest[i.Path] = want[i.Path]
			}
			out := filepath.Join(t.TempDir(), "out.root")
			plain, _, _ := strings.Cut(i.Path, ";")
			if _, err := Merge(t.Context(), out, []Input{{in, i.Path}}, nil); err != nil {
				t.Fatal(err)
			}
			if got, err := rntuple.ListFile(context.Background(), out, nil); err != nil || len(got) != 1 ||
				got[0].Path != filepath.Base(plain) {
				t.Errorf("%s: a copy of %s is %v, %v", what, i.Path, got, err)
			}
		}
		out := filepath.Join(t.TempDir(), "out.root")
		merged, err := MergeAll(t.Context(), out, []string{in}, nil)
		if err != nil || len(merged) != len(newest) {
			t.Errorf("%s: merged %v, %v", what, merged, err)
		}
		for name, n := range newest {
			if got := openReader(t, out, name).NumEntries(); got != n {
				t.Errorf("%s: %s has %d entries once merged, want %d", what, name, got, n)
			}
		}
	}
	others := func(more map[string]int64) map[string]int64 {
		for name, n := range map[string]int64{"d/other": 3, "d/other;2": 2, "d/other;1": 1} {
			more[name] = n
		}
		return more
	}
	for _, step := range []struct {
		of, to string
		fails  bool
		want   map[string]int64
	}{
		{"d/old", "new", false, map[string]int64{"d/new": 3, "d/new;2": 2, "d/new;1": 1}},
		{"d/new", "other", true, map[string]int64{"d/new": 3, "d/new;2": 2, "d/new;1": 1}},
		{"d/new", "new", false, map[string]int64{"d/new": 3, "d/new;2": 2, "d/new;1": 1}},
		{"d/new", "old", false, map[string]int64{"d/old": 3, "d/old;2": 2, "d/old;1": 1}},
		{"d/old;2", "two", false, map[string]int64{"d/old": 3, "d/old;1": 1, "d/two": 2}},
		{"d/old", "three", false, map[string]int64{"d/three": 3, "d/three;1": 1, "d/two": 2}},
		{"d/three;3", "", false, map[string]int64{"d/three": 3, "d/three;1": 1, "d/two": 2}},
	} {
		what := fmt.Sprintf("%s to %s", step.of, step.to)
		err := RenameInPlace(t.Context(), Input{in, step.of}, Renaming{Name: step.to}, nil)
		if (err != nil) != step.fails {
			t.Fatalf("%s: %v", what, err)
		}
		check(what, others(step.want))
	}
}

// TestRenameFiles renames the first field of files that ROOT wrote.
func TestRenameFiles(t *testing.T) {
	for _, in := range goodFiles(t) {
		r := openReader(t, in.Path, in.Name)
		if len(r.Schema().Fields) == 0 {
			continue
		}
		want := lines(t, in.Path, in.Name)
		name := r.Schema().Fields[0].Name
		path := filepath.Join(t.TempDir(), "copy.root")
		copyFile(t, in.Path, path)
		err := RenameInPlace(t.Context(), Input{path, in.Name}, Renaming{"renamed", map[string]string{name: name + "_"}}, nil)
		if strings.Contains(in.Path, "legacy") && errors.Is(err, rntuple.ErrUnsupported) {
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", in, err)
			continue
		}
		dir, _ := filepath.Split(in.Name)
		if r := openReader(t, path, dir+"renamed"); r.Schema().Fields[0].Name != name+"_" {
			t.Errorf("%v: the first field is %q", in, r.Schema().Fields[0].Name)
		}
		if err := RenameInPlace(t.Context(), Input{path, dir + "renamed"},
			Renaming{"renamed", map[string]string{name + "_": name}}, nil); err != nil {
			t.Errorf("%v: %v", in, err)
		}
		compareLines(t, in.String(), lines(t, path, dir+"renamed"), want)
	}
}

// TestRenameInterrupted stops renaming in place at every write.
func TestRenameInterrupted(t *testing.T) {
	dir := t.TempDir()
	old, path := filepath.Join(dir, "old"), filepath.Join(dir, "new")
	points(t, old, 0, 300, nil)
	for calls := 0; ; calls++ {
		copyFile(t, old, path)
		disk, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		err = renameInPlace(t.Context(), updateDying(disk, calls), Input{Path: path},
			Renaming{Fields: map[string]string{"X": "Y"}}, nil)
		disk.Close()
		fields := openReader(t, path, "n").Schema().Fields
		if err == nil {
			if calls < 4 || fields[0].Name != "Y" {
				t.Errorf("done after %d writes: %v", calls, fields[0].Name)
			}
			break
		}
		if !errors.Is(err, errDead) {
			t.Fatalf("stopped at write %d: %v", calls, err)
		}
		if fields[0].Name == "X" {
			checkPoints(t, path, 300)
		} else if got := lines(t, path, "n"); fields[0].Name != "Y" || len(got) != 300 {
			t.Fatalf("stopped at write %d: %v", calls, fields[0].Name)
		}
	}
}
