package interop

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/value"
)

// surgeryFields lists fields that every reader must find in the outputs. One begins
// in the middle of a cluster.
var surgeryFields = slices.Concat(mergeBase, []mergeField{
	plain("d", "double"), plain("i", "std::vector<std::int32_t>"), plain("o", "std::optional<float>"),
	plain("vv", "std::vector<std::vector<float>>"), projected("view", "std::int32_t", "x"), late(7, plain("l", "float")),
	late(7, plain("ls", "std::string")),
})

// An operated is an output of package surgery, with what it must hold.
type operated struct {
	what, path, name string
	want             []string // entries
	groups           int      // number of cluster groups that ROOT finds
}

// An operation makes outputs.
type operation struct {
	what string
	do   func(s *surgeon)
}

// A surgeon makes outputs of two inputs, a and b, and a third one with other
// fields.
type surgeon struct {
	t           *testing.T
	dir, writer string
	a, b, other mergeFile

	what string
	done []operated
}

func (s *surgeon) in(f mergeFile) surgery.Input { return surgery.Input{Path: f.Path, Name: "n"} }

// out returns the path of the next output.
func (s *surgeon) out() string {
	return filepath.Join(s.dir, fmt.Sprintf("%s_out%d.root", s.writer, len(s.done)))
}

// is adds an output to those that are read.
func (s *surgeon) is(err error, path, name string, want []string) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("%s of %s: %v", s.what, s.writer, err)
	}
	s.done = append(s.done, operated{what: s.what + " of " + s.writer, path: path, name: name, want: want})
}

// copied returns a copy of the first input.
func (s *surgeon) copied() string {
	b, err := os.ReadFile(s.a.Path)
	if err == nil {
		err = os.WriteFile(s.out(), b, 0o666)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return s.out()
}

func (s *surgeon) merge(o surgery.Options) {
	out := s.out()
	_, err := surgery.Merge(s.t.Context(), out, []surgery.Input{s.in(s.a), s.in(s.b)}, &surgery.MergeOptions{Options: o})
	s.is(err, out, "n", s.both())
}

// compressed returns options with one of ROOT's compression settings.
func compressed(setting int) rntuple.WriteOptions {
	return rntuple.WriteOptions{Compression: settingOf(setting)}
}

func (s *surgeon) both() []string {
	return append(s.a.lines(surgeryFields), s.b.lines(surgeryFields)...)
}

var operations = []operation{
	{"nothing", func(s *surgeon) { s.is(nil, s.a.Path, "n", s.a.lines(surgeryFields)) }},
	{"merge by copying", func(s *surgeon) { s.merge(surgery.Options{AtMost: new(surgery.Copy)}) }},
	{"merge with recompression", func(s *surgeon) {
		s.merge(surgery.Options{AtLeast: surgery.Recompress,
			Write: compressed(404)})
	}},
	{"merge with resealing", func(s *surgeon) {
		s.merge(surgery.Options{AtLeast: surgery.Reseal,
			Write: compressed(101)})
	}},
	{"merge with rewriting", func(s *surgeon) {
		s.merge(surgery.Options{AtLeast: surgery.Rewrite,
			Write: compressed(0)})
	}},
	{"merge of small clusters", func(s *surgeon) { s.merge(surgery.Options{JoinClusters: 1000}) }},
	{"merge in place", func(s *surgeon) {
		out := s.copied()
		_, err := surgery.MergeInto(s.t.Context(), surgery.Input{Path: out, Name: "n"}, []surgery.Input{s.in(s.b)}, nil)
		s.is(err, out, "n", s.both())
	}},
	{"slim", func(s *surgeon) {
		out := s.out()
		_, err := surgery.Slim(s.t.Context(), out, s.in(s.a), &surgery.SlimOptions{Keep: []string{"x", "vv", "l", "view"}})
		s.is(err, out, "n", s.a.lines([]mergeField{surgeryFields[0], *s.a.field("vv"), *s.a.field("view"), *s.a.field("l")}))
	}},
	{"skim", func(s *surgeon) {
		type entry struct {
			X int32 `rntuple:"x"`
		}
		keep := func(x int32) bool { return x < 6 || x%2 == 0 }
		out := s.out()
		_, err := surgery.Skim(s.t.Context(), out, []surgery.Input{s.in(s.a), s.in(s.b)},
			rntuple.WhereFunc(func(e *entry) bool { return keep(e.X) }), nil)
		var want []string
		for _, line := range s.both() {
			var e entry
			if json.Unmarshal([]byte(line), &e) == nil && keep(e.X) {
				want = append(want, line)
			}
		}
		s.is(err, out, "n", want)
	}},
	{"concat", func(s *surgeon) {
		out := s.out()
		_, err := surgery.Concat(s.t.Context(), out, []surgery.Piece{
			{Input: s.in(s.b)}, {Input: s.in(s.a), First: 3, End: 9}, {Input: s.in(s.a), First: 1, End: 2, Clusters: true},
		}, nil)
		a := s.a.lines(surgeryFields)
		s.is(err, out, "n", slices.Concat(s.b.lines(surgeryFields), a[3:9], a[5:10]))
	}},
	{"split", func(s *surgeon) {
		parts, err := surgery.Split(s.t.Context(), s.out()+"_%d.root", s.in(s.a), surgery.PartSize{Entries: 7}, nil)
		for _, p := range parts {
			s.is(err, p.Path, "n", s.a.lines(surgeryFields)[p.Entries.First:p.Entries.End])
		}
		if len(parts) != 2 {
			s.t.Errorf("%d parts: %v", len(parts), err)
		}
	}},
	{"hmerge", func(s *surgeon) {
		out := s.out()
		_, err := surgery.HMerge(s.t.Context(), out, []surgery.Input{s.in(s.a), s.in(s.other)},
			&surgery.HMergeOptions{Prefix: []string{"", "r_"}})
		want := s.a.lines(surgeryFields)
		for i, right := range s.other.lines(s.other.Fields) {
			want[i] = strings.TrimSuffix(want[i], "}") + "," + strings.ReplaceAll(right[1:], `"m_`, `"r_m_`)
		}
		s.is(err, out, "n", want)
	}},
	{"append", func(s *surgeon) {
		out := s.copied()
		w, err := rntuple.AppendRecords(out, "n", nil)
		if err != nil {
			s.t.Fatal(err)
		}
		for i := range s.b.Entries {
			var r value.Record
			for _, f := range s.b.Fields {
				if f.Source == "" {
					v := f.of(s.b.x(f, i))
					if f.Late > i {
						v = f.zero()
					}
					r.Names, r.Values = append(r.Names, f.Name), append(r.Values, v)
				}
			}
			err = errors.Join(err, w.Write(&r))
		}
		s.is(errors.Join(err, w.Close()), out, "n", s.both())
	}},
	{"repack", func(s *surgeon) {
		out := s.out()
		_, err := surgery.Repack(s.t.Context(), out, s.in(s.a),
			&surgery.RepackOptions{Options: surgery.Options{Write: compressed(404)}, EncodeAll: surgery.UnsplitEncoding})
		s.is(err, out, "n", s.a.lines(surgeryFields))
	}},
	{"rename", func(s *surgeon) {
		out := s.out()
		_, err := surgery.Rename(s.t.Context(), out, s.in(s.a), surgeryNames, nil)
		s.is(err, out, "renamed", s.renamed())
	}},
	{"rename in place", func(s *surgeon) {
		out := s.copied()
		err := surgery.RenameInPlace(s.t.Context(), surgery.Input{Path: out, Name: "n"}, surgeryNames, nil)
		s.is(err, out, "renamed", s.renamed())
	}},
}

var surgeryNames = surgery.Renaming{Name: "renamed", Fields: map[string]string{"x": "y", "vv": "nested", "l": "late"}}

func (s *surgeon) renamed() (lines []string) {
	r := strings.NewReplacer(`"x":`, `"y":`, `"vv":`, `"nested":`, `"l":`, `"late":`)
	for _, line := range s.a.lines(surgeryFields) {
		lines = append(lines, r.Replace(line))
	}
	return lines
}

// surgeryJsrootFaults are faults that jsroot also has with ROOT's files, some of
// which it reads here.
var surgeryJsrootFaults = []readerFault{
	fault("optional: it gives the offsets", "o"),
	fault("projected fields", "view"),
	fault("offsets below the top level do not begin again with a cluster", "vv", "nested"),
	fault("deferred columns: it takes what is stored for the first entries", "l", "late", "ls", "r_m_s"),
	fault("cluster groups after the first one", `groups\..*`),
}

// TestSurgery has ROOT, uproot and jsroot read what the functions of package
// surgery make of files that this library and ROOT wrote.
func TestSurgery(t *testing.T) {
	needed(t)
	dir := t.TempDir()
	var all []operated
	for _, writer := range []string{"ours", "ROOT"} {
		file := func(name string, f mergeFile) mergeFile {
			f.Path = filepath.Join(dir, writer+"_"+name+".root")
			f.Compression, f.Cluster = 505, 5
			return f
		}
		s := &surgeon{
			t: t, dir: dir, writer: writer,
			a: file("a", mergeFile{Entries: 12, Fields: surgeryFields}),
			b: file("b", mergeFile{Entries: 11, Fields: surgeryFields, Start: 40}),
			other: file("other", mergeFile{Entries: 12,
				Fields: []mergeField{plain("m_f", "float"), plain("m_i", "std::vector<std::int32_t>"),
					late(8, plain("m_s", "std::string"))}, Start: 70}),
		}
		if files := []mergeFile{s.a, s.b, s.other}; writer == "ROOT" {
			mergedByROOT(t, map[string]any{"files": files, "jobs": []mergeJob{}})
		} else {
			for _, f := range files {
				f.write(t)
			}
		}
		for _, o := range operations {
			s.what = o.what
			o.do(s)
		}
		all = append(all, s.done...)
	}
	var ntuples []string
	for _, o := range all {
		ntuples = append(ntuples, o.path+":"+o.name)
	}
	t.Logf("%d outputs", len(all))
	t.Run("ROOT", func(t *testing.T) {
		for i, v := range rootViews(t, ntuples...) {
			sameEntries(t, all[i].what, v, all[i].want...)
			all[i].groups = v.Groups
		}
	})
	t.Run("uproot", func(t *testing.T) {
		wrong := map[string]string{}
		lines := bytes.Split(bytes.TrimSpace(script(t, "merge.py", append([]string{"uproot"}, ntuples...)...)), []byte("\n"))
		if len(lines) != len(all) {
			t.Fatalf("uproot reads %d files of %d", len(lines), len(all))
		}
		for i, line := range lines {
			for name, what := range wrongFields(t, line, all[i].want) {
				note(wrong, name, all[i].what, what)
			}
		}
		judgeReader(t, "uproot", nil, wrong, wrong)
	})
	t.Run("jsroot", func(t *testing.T) {
		modules, err := jsroot()
		if errors.Is(err, errNoNode) {
			t.Skip("skipped: ", err)
		} else if err != nil {
			t.Fatal(err)
		}
		wrong := map[string]string{}
		for _, o := range all {
			for name, what := range jsrootFinds(t, modules, o) {
				if o.groups > 1 {
					name = "groups." + name
				}
				note(wrong, name, o.what, what)
			}
		}
		judgeReader(t, "jsroot", surgeryJsrootFaults, wrong, wrong)
	})
}

// note records the first error in a field.
func note(wrong map[string]string, name, where, what string) {
	if what != "" && wrong[name] == "" {
		wrong[name] = where + ": " + what
	} else if _, ok := wrong[name]; !ok {
		wrong[name] = ""
	}
}

// wrongFields compares a JSON array of entries with JSON Lines, and returns for
// each field what is wrong, or "".
func wrongFields(t *testing.T, got []byte, want []string) map[string]string {
	t.Helper()
	var entries []map[string]any
	if err := json.Unmarshal(got, &entries); err != nil || len(entries) != len(want) {
		return map[string]string{"*": fmt.Sprintf("%d entries, want %d: %.300s", len(entries), len(want), got)}
	}
	wrong := map[string]string{}
	for i, line := range want {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		for name, w := range entry {
			if g, ok := entries[i][name]; !ok || !reflect.DeepEqual(g, w) {
				note(wrong, name, fmt.Sprint("entry ", i), fmt.Sprintf("%v, want %v", g, w))
			} else {
				note(wrong, name, "", "")
			}
		}
	}
	return wrong
}

// jsrootFinds returns what jsroot finds wrong with the fields of an output.
func jsrootFinds(t *testing.T, modules string, o operated) map[string]string {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, strings.Join(o.want, "\n"))
	z.Close()
	values := filepath.Join(t.TempDir(), "values.jsonl.gz")
	if err := os.WriteFile(values, packed.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("node", "jsroot_read.mjs", modules, o.name, values, o.path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var report struct{ Files []map[string]string }
	if err := json.Unmarshal(out, &report); err != nil || len(report.Files) != 1 {
		t.Fatalf("%s: %v", out, err)
	}
	return report.Files[0]
}
