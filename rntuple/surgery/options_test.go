package surgery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// operands are inputs for all operations. They have several clusters each, of zstd
// pages.
type operands struct {
	dir    string
	first  Input // points with an attribute set
	second Input // of the same kind as first, or as the option needs it
	beside Input // other fields
}

func makeOperands(t *testing.T) operands {
	t.Helper()
	dir := t.TempDir()
	file := func(name string) Input { return Input{Path: filepath.Join(dir, name), Name: "n"} }
	o := operands{dir, file("first"), file("second"), file("beside")}
	points(t, o.second.Path, 100, 100, &rntuple.WriteOptions{ClusterSize: 500})
	writeAs(t, o.beside.Path, 100, func(i int) struct{ B int32 } { return struct{ B int32 }{int32(i)} }, nil)
	w, err := rntuple.Create[point](o.first.Path, "n",
		&rntuple.WriteOptions{ClusterSize: 500, File: rntuple.FileOptions{NoSync: true}})
	if err != nil {
		t.Fatal(err)
	}
	set, err := rntuple.NewAttributes[struct{ Where string }](w, "set", nil)
	if err != nil {
		t.Fatal(err)
	}
	set.Write(rntuple.EntryRange{End: 100}, struct{ Where string }{"all"})
	for i := range 100 {
		w.Write(&point{int32(i), make([]float32, i%5), fmt.Sprint(i)})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return o
}

func writeAs[T any](t *testing.T, path string, n int, entry func(i int) T, opts *rntuple.WriteOptions) {
	t.Helper()
	w, err := rntuple.Create[T](path, "n", unsynced(opts))
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		e := entry(i)
		w.Write(&e)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// everyOption has the options of all operations.
type everyOption struct {
	Options
	Name         string
	Keep, Drop   []string
	Mode         Mode
	ConvertTypes bool
	Define       []Definition
	Prefix       []string
	EncodeAll    Encoding
	Encode       []FieldEncoding
}

func (e everyOption) merge() *MergeOptions {
	return &MergeOptions{e.Options, e.Name, e.Keep, e.Drop, e.Mode, e.ConvertTypes}
}

func (e everyOption) slim() *SlimOptions {
	return &SlimOptions{e.Options, e.Name, e.Keep, e.Drop, e.Define}
}

func (e everyOption) skim() *SkimOptions {
	return &SkimOptions{e.Options, e.Name, e.Keep, e.Drop, e.Mode, e.ConvertTypes, e.Define}
}

func (e everyOption) split() *SplitOptions {
	return &SplitOptions{e.Options, e.Name, e.Keep, e.Drop}
}

// operations maps the name of each operation to a call of it, with the options that it has, that
// makes a file, or changes the one that is there, of the RNTuple called n unless an option names
// it.
var operations = map[string]func(ctx context.Context, out string, o operands, e everyOption) (*Report, error){
	"Merge": func(ctx context.Context, out string, o operands, e everyOption) (*Report, error) {
		return Merge(ctx, out, []Input{o.first, o.second}, e.merge())
	},
	"MergeAll": func(ctx context.Context, out string, o operands, e everyOption) (*Report, error) {
		all, err := MergeAll(ctx, out, []string{o.first.Path, o.second.Path}, e.merge())
		if err != nil {
			return nil, err
		}
		return all[0].Report, nil
	},
	"MergeInto": func(ctx context.Context, out string, o operands, e everyOption) (*Report, error) {
		b, err := os.ReadFile(o.second.Path)
		if err == nil {
			err = os.WriteFile(out, b, 0o666)
		}
		if err != nil {
			return nil, err
		}
		return MergeInto(ctx, Input{out, "n"}, []Input{o.first}, e.merge())
	},
	"Slim": func(ctx context.Context, out string, o operands, e everyOption) (*Report, error) {
		return Slim(ctx, out, o.first, e.slim())
	},
	"Skim": func(ctx context.Context, out string, o operands, e everyOption) (*Report, error) {
		return Skim(ctx, out, []Input{o.first, o.second}, rntuple.WhereFunc(func(*struct{ S string }) bool { return true }),
			e.skim())
	},
	"Concat": func(ctx context.Context, out string, o operands, e everyOption) (*Report, error) {
		return Concat(ctx, out, []Piece{{Input: o.first}, {Input: o.second}}, e.merge())
	},
	"Split": func(ctx context.Context, out string, o operands, e everyOption) (*Report, error) {
		parts, err := Split(ctx, out+"%d", o.first, PartSize{Entries: 1000}, e.split())
		if err != nil {
			return nil, err
		}
		return parts[0].Report, os.Rename(parts[0].Path, out)
	},
	"HMerge": func(ctx context.Context, out string, o operands, e everyOption) (*Report, error) {
		return HMerge(ctx, out, []Input{o.first, o.beside}, &HMergeOptions{e.Options, e.Name, e.Prefix})
	},
	"Repack": func(ctx context.Context, out string, o operands, e everyOption) (*Report, error) {
		return Repack(ctx, out, o.first, &RepackOptions{e.Options, e.Name, e.EncodeAll, e.Encode})
	},
	"Rename": func(ctx context.Context, out string, o operands, e everyOption) (*Report, error) {
		return Rename(ctx, out, o.first, Renaming{Fields: map[string]string{"V": "W"}}, &e.Options)
	},
	"RenameInPlace": func(ctx context.Context, out string, o operands, e everyOption) (*Report, error) {
		b, err := os.ReadFile(o.first.Path)
		if err == nil {
			err = os.WriteFile(out, b, 0o666)
		}
		if err != nil {
			return nil, err
		}
		opts := &InPlaceOptions{e.Read, e.Write.Compression, e.Write.File}
		return &Report{}, RenameInPlace(ctx, Input{out, "n"}, Renaming{Fields: map[string]string{"V": "W"}}, opts)
	},
}

// TestOptions gives every option to every operation that has it: it has an effect, or is an error
// that names both.
func TestOptions(t *testing.T) {
	var called bool
	var out string
	compressions := func(r *rntuple.Reader) (all []compress.Settings) { // of the last cluster, which all operations but one write
		clusters, err := r.StoredClusters(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range clusters[len(clusters)-1].Columns() {
			all = append(all, compress.Settings(list.Compression))
		}
		return slices.Compact(all)
	}
	fields := func(r *rntuple.Reader) (names []string) {
		for _, f := range r.Schema().Fields {
			names = append(names, f.Name)
		}
		return names
	}
	pages, name := "Merge MergeAll MergeInto Slim Skim Concat Split HMerge Repack Rename",
		"Merge Slim Skim Concat Split HMerge Repack"
	whole := "MergeAll MergeInto"
	for _, test := range []struct {
		option  string
		by      string // the operations that take it
		not     string // those whose struct has it nevertheless
		opts    everyOption
		second  func(t *testing.T, path string) // makes another second input
		refused string                          // the effect is an error that says so
		effect  func(r *rntuple.Reader, report *Report) bool
	}{
		{option: "Mode", by: "Merge MergeAll MergeInto Skim Concat", opts: everyOption{Mode: Strict}, refused: "first input",
			second: func(t *testing.T, path string) {
				writeAs(t, path, 100, func(i int) (e struct {
					point
					Extra bool
				}) {
					return e
				}, nil)
			}},
		{option: "ConvertTypes", by: "Merge MergeAll MergeInto Skim Concat", opts: everyOption{ConvertTypes: true},
			second: func(t *testing.T, path string) {
				writeAs(t, path, 100, func(i int) (e struct {
					X int64
					V []float32
					S string
				}) {
					return e
				}, nil)
			},
			effect: func(r *rntuple.Reader, _ *Report) bool { return r.NumEntries() == 200 }},
		{option: "Keep", by: "Merge Slim Skim Concat Split", not: whole, opts: everyOption{Keep: []string{"X"}},
			effect: func(r *rntuple.Reader, _ *Report) bool { return slices.Equal(fields(r), []string{"X"}) }},
		{option: "Drop", by: "Merge Slim Skim Concat Split", not: whole, opts: everyOption{Drop: []string{"X"}},
			effect: func(r *rntuple.Reader, _ *Report) bool { return slices.Equal(fields(r), []string{"V", "S"}) }},
		{option: "Define", by: "Slim Skim",
			opts:   everyOption{Define: []Definition{Define("D", func(*struct{ X int32 }) int { return 1 })}},
			effect: func(r *rntuple.Reader, _ *Report) bool { return slices.Contains(fields(r), "D") }},
		{option: "DefineColumns", by: "Slim Skim",
			opts:   everyOption{Define: []Definition{DefineColumns(columnsLike(map[string]string{"D": "std::int64_t"}, "X"))}},
			effect: func(r *rntuple.Reader, _ *Report) bool { return slices.Contains(fields(r), "D") }},
		{option: "Name", by: name, not: whole, opts: everyOption{Name: "other"},
			effect: func(r *rntuple.Reader, _ *Report) bool { return r.Name() == "other" }},
		{option: "AtLeast", by: pages, opts: everyOption{Options: Options{AtLeast: Rewrite}},
			effect: func(_ *rntuple.Reader, report *Report) bool { return report.Levels[Rewrite] == sum(report) }},
		{option: "AtMost", by: pages, opts: everyOption{Options: Options{JoinClusters: 1 << 20, AtMost: new(Reseal)}},
			refused: errLevel.Error()},
		{option: "Compression", by: pages + " RenameInPlace", opts: everyOption{Options: compressed(101)},
			effect: func(r *rntuple.Reader, report *Report) bool {
				if sum(report).Pages > 0 {
					return slices.Equal(compressions(r), []compress.Settings{101})
				}
				b, err := os.ReadFile(out) // in place, of the header
				return err == nil && strings.HasPrefix(string(b[r.Anchor().SeekHeader:]), "ZL")
			}},
		{option: "KeepCompression", by: pages, opts: everyOption{Options: Options{
			KeepCompression: true, Write: rntuple.WriteOptions{Compression: 101}}},
			effect: func(r *rntuple.Reader, _ *Report) bool {
				return slices.Contains(compressions(r), 505) // what is encoded anew has others
			}},
		{option: "JoinClusters", by: pages, opts: everyOption{Options: Options{JoinClusters: 1 << 20}},
			effect: func(_ *rntuple.Reader, report *Report) bool { return report.Levels[Rewrite].Pages > 0 }},
		{option: "DropAttributes", by: pages, opts: everyOption{Options: Options{DropAttributes: true}},
			effect: func(r *rntuple.Reader, _ *Report) bool { return len(r.AttributeSets()) == 0 }},
		{option: "Progress", by: pages, opts: everyOption{Options: Options{Progress: func(int64, int64) { called = true }}},
			effect: func(*rntuple.Reader, *Report) bool { return called }},
		{option: "Read", by: pages + " RenameInPlace", opts: everyOption{Options: Options{
			Read: rntuple.ReadOptions{Limits: rntuple.Limits{EnvelopeBytes: 1}}}}, refused: "EnvelopeBytes"},
		{option: "Write", by: pages + " RenameInPlace", opts: everyOption{Options: Options{
			Write: rntuple.WriteOptions{File: rntuple.FileOptions{Clock: func() time.Time {
				called = true
				return time.Unix(1e9,
					0)
			}}}}},
			effect: func(*rntuple.Reader, *Report) bool { return called }},
		{option: "File.NoReplace", not: "MergeInto RenameInPlace", opts: everyOption{Options: Options{
			Write: rntuple.WriteOptions{File: rntuple.FileOptions{NoReplace: true}}}}},
		{option: "Prefix", by: "HMerge", opts: everyOption{Prefix: []string{"p_"}},
			effect: func(r *rntuple.Reader, _ *Report) bool { return fields(r)[0] == "p_X" }},
		{option: "EncodeAll", by: "Repack", opts: everyOption{EncodeAll: UnsplitEncoding},
			effect: func(r *rntuple.Reader, _ *Report) bool { return r.Schema().Columns[0].Type == column.Int32 }},
		{option: "Encode", by: "Repack",
			opts:   everyOption{Encode: []FieldEncoding{{"X", schema.ColumnDocument{Type: "Int32"}}}},
			effect: func(r *rntuple.Reader, _ *Report) bool { return r.Schema().Columns[0].Type == column.Int32 }},
	} {
		for _, operation := range strings.Fields(test.by + " " + test.not) {
			t.Run(test.option+"/"+operation, func(t *testing.T) {
				o := makeOperands(t)
				if test.second != nil {
					test.second(t, o.second.Path)
				}
				called = false
				out = filepath.Join(t.TempDir(), "out")
				report, err := operations[operation](t.Context(), out, o, test.opts)
				switch taken := slices.Contains(strings.Fields(test.by), operation); {
				case !taken && (err == nil || !strings.Contains(err.Error(), "does not take the option") || !strings.Contains(err.Error(), test.option)):
					t.Errorf("%v, expected that the option is not taken", err)
				case !taken:
				case test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused)):
					t.Errorf("%v, expected %q", err, test.refused)
				case test.refused != "":
				case err != nil:
					t.Error(err)
				case !test.effect(openReader(t, out, ""), report):
					t.Errorf("no effect: %+v", report)
				}
			})
		}
	}
}

// TestOptionsWithin refuses options of package rntuple that an output cannot have.
func TestOptionsWithin(t *testing.T) {
	o := makeOperands(t)
	for name, do := range operations {
		for _, opts := range []Options{
			{Read: rntuple.ReadOptions{AllowMissing: true}},
			{Write: rntuple.WriteOptions{Description: "text"}},
			{Write: rntuple.WriteOptions{Projections: []rntuple.Projection{{Name: "p", CppType: "std::int32_t", Source: "X"}}}},
			{Write: rntuple.WriteOptions{ZoneMap: []string{"*"}}},
			{Write: rntuple.WriteOptions{ExtendSchema: true}},
			{Write: rntuple.WriteOptions{Limits: rntuple.Limits{PageBytes: 1}}},
		} {
			if name == "RenameInPlace" && !opts.Read.AllowMissing {
				continue // its struct does not have them
			}
			if _, err := do(t.Context(), filepath.Join(t.TempDir(), "out"), o, everyOption{Options: opts}); err == nil || !strings.Contains(err.Error(), "does not take") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestProgress makes sure that progress rises up to the total, the size of the files,
// and in small steps also while clusters are rewritten.
func TestProgress(t *testing.T) {
	o := makeOperands(t)
	big := filepath.Join(o.dir, "big")
	points(t, big, 0, 100_000, &rntuple.WriteOptions{ClusterSize: 1 << 20, Compression: compress.None})
	size := func(paths ...string) (n int64) {
		for _, path := range paths {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			n += info.Size()
		}
		return n
	}
	both := size(o.first.Path, o.second.Path)
	in := Input{Path: big}
	check := func(what string, want, most int64, do func(out string, e everyOption) error, e everyOption) {
		t.Helper()
		var last, step int64
		e.Progress = func(done, total int64) {
			if total != want || done < last || done > total {
				t.Errorf("%s: %d of %d after %d, expected %d in all", what, done, total, last, want)
			}
			step, last = max(step, done-last), done
		}
		if err := do(filepath.Join(t.TempDir(), "out"), e); err != nil {
			t.Errorf("%s: %v", what, err)
		} else if last != want || step > most {
			t.Errorf("%s: ends at %d of %d, a step is %d", what, last, want, step)
		}
	}
	for name, do := range operations {
		want := map[string]int64{"Merge": both, "MergeAll": both, "Skim": both, "Concat": both,
			"HMerge": size(o.first.Path, o.beside.Path), "RenameInPlace": -1}[name]
		if want == 0 {
			want = size(o.first.Path)
		}
		if want > 0 {
			check(name, want, want, func(out string, e everyOption) error {
				_, err := do(t.Context(), out, o, e)
				return err
			}, everyOption{})
		}
	}
	n := size(big)
	check("rewriting", n, n/20, func(out string, e everyOption) error {
		_, err := Repack(t.Context(), out, in, &RepackOptions{Options: e.Options})
		return err
	}, everyOption{Options: Options{AtLeast: Rewrite, Write: rntuple.WriteOptions{ClusterSize: 4 << 20}}})
	check("splitting", n, n/3, func(out string, e everyOption) error {
		_, err := Split(t.Context(), out+"%d", in, PartSize{Entries: 30_000}, e.split())
		return err
	}, everyOption{})
	check("pieces", n&^1, n/3, func(out string, e everyOption) error {
		_, err := Concat(t.Context(), out, []Piece{{Input: in, First: 50_000}, {Input: in, End: 50_000}}, e.merge())
		return err
	}, everyOption{})
	check("skimming", n, n, func(out string, e everyOption) error {
		_, err := Skim(t.Context(), out, []Input{in}, rntuple.WhereFunc(func(*struct{ X int32 }) bool { return false }),
			e.skim())
		return err
	}, everyOption{})
}

// TestMergeAll merges files with several RNTuples, one of which not all have.
func TestMergeAll(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	type entry struct{ N int32 }
	var files []string
	for i, names := range [][]string{{"a", "d/a"}, {"d/a", "b", "a"}} {
		files = append(files, filepath.Join(dir, fmt.Sprint(i)))
		f, err := rntuple.CreateFile(files[i], nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			w, err := rntuple.NewWriter[entry](f, name, nil)
			if err != nil {
				t.Fatal(err)
			}
			w.Write(&entry{int32(10*i + len(name))})
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	all, err := MergeAll(t.Context(), out, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"a": {`{"N":1}`, `{"N":11}`}, "d/a": {`{"N":3}`, `{"N":13}`}, "b": {`{"N":11}`}}
	for _, m := range all {
		compareLines(t, m.Name, lines(t, out, m.Name), want[m.Name])
		if m.Report.Entries != int64(len(want[m.Name])) || len(m.Report.LeftBehind) > 0 {
			t.Errorf("%s: %+v", m.Name, m.Report)
		}
	}
	if got := []string{all[0].Name, all[1].Name, all[2].Name}; !slices.Equal(got, []string{"a", "d/a", "b"}) {
		t.Errorf("RNTuples %q", got)
	}
	if infos, err := rntuple.ListFile(context.Background(), out, nil); err != nil || len(infos) != 3 {
		t.Error(infos, err)
	}

	report, err := Merge(t.Context(), out, []Input{{files[0], "a"}, {files[1], "/a;1"}}, nil)
	left := []Object{{files[0], "d/a", "ROOT::RNTuple"}, {files[1], "b", "ROOT::RNTuple"}}
	if err != nil || !slices.Equal(report.LeftBehind, left) {
		t.Errorf("%v, %v, expected %v", report, err, left)
	}
	addObject(t, files[0], "plots", "pt")
	addObject(t, files[1], "plots", "pt")
	plot := Object{files[0], "plots/pt", "TH1F"}
	if all, err = MergeAll(t.Context(), out, files, nil); err != nil || !slices.Equal(all[0].Report.LeftBehind, []Object{plot}) {
		t.Error(all, err)
	}
	report, err = MergeInto(t.Context(), Input{out, "a"}, []Input{{files[1], "a"}}, nil)
	plot.File, left[0] = files[1], Object{files[1], "d/a", "ROOT::RNTuple"}
	if err != nil || !slices.Equal(report.LeftBehind, append(left, plot)) {
		t.Errorf("%v, %v, expected %v", report, err, append(left, plot))
	}

	writeAs(t, filepath.Join(dir, "2"), 1, func(int) struct{ N float64 } { return struct{ N float64 }{} }, nil)
	if err := RenameInPlace(t.Context(), Input{filepath.Join(dir, "2"), "n"}, Renaming{Name: "b"}, nil); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(dir, "empty")
	f, err := rntuple.CreateFile(empty, nil)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if all, err = MergeAll(t.Context(), out, []string{empty, filepath.Join(dir, "2")}, nil); err != nil || len(all) != 1 ||
		!slices.Equal(all[0].Report.Without, []string{empty}) {
		t.Error(all, err)
	}
	none := filepath.Join(t.TempDir(), "none")
	var problems *IncompatibleError
	if _, err := MergeAll(t.Context(), none, append(files, filepath.Join(dir, "2")), nil); !errors.As(err, &problems) {
		t.Error(err)
	}
	noFile(t, none)
	if _, err := MergeAll(t.Context(), none, nil, nil); err == nil {
		t.Error("no files")
	}
	if _, err := MergeAll(t.Context(), files[1], files, nil); err == nil || !strings.Contains(err.Error(), "overwritten") {
		t.Error(err)
	}
}

// TestDamagedDirectory merges RNTuples out of files in which another directory is
// damaged. The report says so, and has what could be listed.
func TestDamagedDirectory(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	type entry struct{ N int32 }
	writeAs(t, in, 2, func(i int) entry { return entry{int32(i)} }, nil)
	addObject(t, in, "", "first")
	addObject(t, in, "plots", "pt")
	f, err := os.OpenFile(in, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	file, err := rootfile.Open(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	k, err := file.Find("plots")
	if err != nil {
		t.Fatal(err)
	}
	damage := bytes.Repeat([]byte{0xff}, 40)
	if _, err := f.WriteAt(damage, k.SeekKey+int64(k.KeyLen)); err != nil {
		t.Fatal(err)
	}
	// Both pieces are of the same file, of which there is one error.
	report, err := Concat(t.Context(), out, []Piece{{Input: Input{in, "n"}}, {Input: Input{in, "n"}, First: 1}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	compareLines(t, "out", lines(t, out, ""), []string{`{"N":0}`, `{"N":1}`, `{"N":1}`})
	if left := []Object{{in, "first", "TH1F"}}; !slices.Equal(report.LeftBehind, left) {
		t.Errorf("left behind: %v, expected %v", report.LeftBehind, left)
	}
	if len(report.Unlisted) != 1 || !errors.Is(report.Unlisted[0], frame.ErrCorrupt) ||
		!strings.Contains(report.Unlisted[0].Error(), in) ||
		!strings.Contains(report.Unlisted[0].Error(), `"plots"`) {
		t.Errorf("unlisted: %v", report.Unlisted)
	}
	if !strings.Contains(report.String(), "1 files whose objects could not be listed") {
		t.Error(report)
	}
	if _, err := MergeAll(t.Context(), out, []string{in}, nil); !errors.Is(err, frame.ErrCorrupt) {
		t.Errorf("all RNTuples, of which some cannot be found: %v", err)
	}
}

// addObject adds an object to a ROOT file that nobody can read.
func addObject(t *testing.T, path, dir, name string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	w, err := rootfile.Append(f, info.Size(), rootfile.Options{})
	if err == nil {
		_, err = w.Object(dir, rootfile.Object{Class: "TH1F", Name: name, Stored: []byte("none"), Len: 4})
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestParseLevel reads the names and numbers of levels.
func TestParseLevel(t *testing.T) {
	for text, want := range map[string]Level{"clone": Clone, "share": Clone, "Copy": Copy, "l2": Recompress, "L3": Reseal,
		"4": Rewrite} {
		if l, err := ParseLevel(text); l != want || err != nil {
			t.Errorf("%q: %v, %v", text, l, err)
		}
	}
	if text := (Rewrite + 1).String(); text != "Level(5)" {
		t.Errorf("a level above the highest is %q", text)
	}
	for _, text := range []string{"", "5", "L", "-1", "Level(7)"} {
		if _, err := ParseLevel(text); err == nil || !strings.Contains(err.Error(), "clone, copy, recompress, reseal, rewrite") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestProblemsByLine makes sure that an error has a line for each problem.
func TestProblemsByLine(t *testing.T) {
	e := &IncompatibleError{[]Problem{{Input: "a", Field: "x", What: "is odd"}, {Input: "b", What: "is even"}}}
	if want := "the inputs are incompatible:\n\ta: field \"x\": is odd\n\tb: is even"; e.Error() != want {
		t.Errorf("%q, want %q", e.Error(), want)
	}
	if e.Problems = e.Problems[:1]; strings.Count(e.Error(), "\n") != 1 {
		t.Errorf("%q", e.Error())
	}
}
