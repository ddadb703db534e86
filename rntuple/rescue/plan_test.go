package rescue_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/rescue"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

// TestAnchorGone destroys what leads to the RNTuples of every good file, as much
// as a writer that crashes: all entries are saved.
func TestAnchorGone(t *testing.T) {
	files, err := filepath.Glob(good + "*.root")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		file := read(t, path)
		original := contents(t, file)
		if strings.Contains(path, "attributes") {
			maps.Copy(original, attributeSets()) // they become RNTuples
		} else if len(original) > 1 || strings.Contains(path, "chunks") {
			continue // several RNTuples with one header, and the size of chunks, which anchors tell
		}
		clear(file[:100]) // the header of the file
		for _, anchors := range []bool{false, true} {
			for _, k := range records(t, file) {
				if anchors && k.Class == anchor.ClassName {
					clear(file[k.SeekKey:][:k.NBytes])
				}
			}
			report := saved(t, path, original, file, nil)
			if report == nil || report.Container == "" {
				t.Errorf("%s: %+v", path, report)
				continue
			}
			n := report.NTuples[0]
			lost := len(n.Notes) > 0 && !strings.Contains(path, "nochecksum") && !strings.Contains(path, "attributes")
			if n.Entries != n.Saved || lost || len(n.Lost) > 0 {
				t.Errorf("%s, anchors gone %v: %+v", path, anchors, n)
			}
		}
	}
}

// TestTwins has two RNTuples with the same header in one file, one entry behind
// the other: without footers nobody can tell which page list is whose.
func TestTwins(t *testing.T) {
	var m memory
	f, err := rntuple.NewFile(&m, "in.root", &rntuple.FileOptions{Compression: plain.Compression})
	if err != nil {
		t.Fatal(err)
	}
	var writers []*rntuple.Writer[event]
	for _, path := range []string{"a/n", "b/n"} {
		w, err := rntuple.NewWriter[event](f, path, plain)
		if err != nil {
			t.Fatal(err)
		}
		writers = append(writers, w)
	}
	for i := range 20 {
		w := writers[i/5%2]
		e := eventOf(i)
		if err := errors.Join(w.Write(&e)); err != nil {
			t.Fatal(err)
		}
		if i%5 == 4 {
			w.CommitClusterGroup()
		}
	}
	for _, w := range writers {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	original := contents(t, m.b)
	some := 0
	for n := 0; n <= len(m.b); n += 3 {
		if report := saved(t, fmt.Sprintf("%d bytes", n), original, m.b[:n], nil); report != nil {
			some++
		}
	}
	if report := saved(t, "all", original, m.b, &rescue.Options{Only: "b/n"}); report == nil || len(report.NTuples) != 1 ||
		report.NTuples[0].Saved != 10 {
		t.Errorf("one of two: %+v", report)
	}
	if some == 0 || some > len(m.b)/2 {
		t.Errorf("something was saved of %d lengths, of %d", some, len(m.b))
	}
}

// TestRenamed saves an RNTuple that was renamed and appended to, from a file whose directory cannot
// be found: what has the last names is the newest cycle again.
func TestRenamed(t *testing.T) {
	dir := t.TempDir()
	in, more, out := filepath.Join(dir, "in.root"), filepath.Join(dir, "more.root"), filepath.Join(dir, "out.root")
	w, err := rntuple.Create[event](in, "m", plain)
	if err != nil {
		t.Fatal(err)
	}
	e := eventOf(1)
	if err := errors.Join(w.Write(&e), w.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := surgery.Index(t.Context(), surgery.Input{Path: in}, nil); err != nil {
		t.Fatal(err)
	}
	rename := func(field, to string) {
		if err := surgery.RenameInPlace(t.Context(), surgery.Input{Path: in},
			surgery.Renaming{Name: "n", Fields: map[string]string{field: to}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	rename("N", "A")
	if err := os.WriteFile(more, read(t, in), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := surgery.MergeInto(t.Context(), surgery.Input{Path: in}, []surgery.Input{{Path: more}}, nil); err != nil {
		t.Fatal(err)
	}
	rename("A", "B")
	rename("B", "C")
	b := read(t, in)
	clear(b[8:20])
	if err := os.WriteFile(in, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := rescue.File(t.Context(), out, in, nil); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.Open(out, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if name := r.Schema().Fields[0].Name; name != "C" || r.NumEntries() != 2 {
		t.Errorf("the newest cycle has the field %q and %d entries", name, r.NumEntries())
	}
}
