package surgery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// goodFiles returns files that ROOT wrote, some of them before format 1; with -short,
// a fifth of the small ones.
func goodFiles(t *testing.T) (inputs []Input) {
	var files []string
	most := int64(1 << 20)
	if testing.Short() {
		most = 16 << 10
	}
	for _, pattern := range []string{"../../testdata/*.root", "../../testdata/good/*.root",
		"../../../shared/testdata/root/*.root", "../../../shared/testdata/legacy/*"} {
		some, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, some...)
	}
	for i, path := range files {
		if testing.Short() && i%5 > 0 {
			continue
		}
		if info, err := os.Stat(path); err != nil || info.Size() > most || strings.Contains(path, "objects.root") {
			continue
		}
		infos, err := rntuple.ListFile(context.Background(), path, nil)
		if err != nil {
			continue // no RNTuple
		}
		for _, i := range infos {
			r, err := rntuple.Open(path, i.Path, nil)
			if err != nil {
				continue
			}
			if r.NumEntries() < 1e5 && len(r.Schema().Hidden) == 0 {
				inputs = append(inputs, Input{path, i.Path})
			}
			r.Close()
		}
	}
	least := 10
	if testing.Short() {
		least = 5
	}
	if len(inputs) < least {
		t.Fatalf("%d files", len(inputs))
	}
	return inputs
}

// TestFiles merges files that ROOT wrote with themselves, at every level. The header and
// the beginnings of deferred columns stay the same.
func TestFiles(t *testing.T) {
	for _, in := range goodFiles(t) {
		name := filepath.Base(in.Path) + ":" + in.Name
		t.Run(name, func(t *testing.T) {
			want := lines(t, in.Path, in.Name)
			want = append(want, want...)
			for least := Copy; least <= Rewrite; least++ {
				out := filepath.Join(t.TempDir(), "out.root")
				_, err := Merge(all, out, []Input{in, in}, &MergeOptions{Options: Options{AtLeast: least}})
				if err != nil && errors.Is(err, rntuple.ErrRange) && strings.Contains(name, "late") {
					continue // zeros from before a field was added lie outside of its range
				}
				if err != nil {
					t.Fatalf("level %v: %v", least, err)
				}
				compareLines(t, fmt.Sprint("level ", least), lines(t, out, ""), want)
				a, b := descriptors(t, in), descriptors(t, Input{Path: out})
				if !reflect.DeepEqual(a, b) && !strings.Contains(in.Path, "legacy") {
					t.Errorf("level %v: columns\n%+v\n%+v\nwant\n%+v\n%+v", least, b[0].Columns, b[1].Columns,
						a[0].Columns, a[1].Columns)
				}
			}
		})
	}
}

// descriptors returns those of header and extension.
func descriptors(t *testing.T, in Input) [2]envelope.Schema {
	t.Helper()
	src := openRaw(t, in)
	d := [2]envelope.Schema{src.Header.Schema}
	if src.Footer.Extension != nil {
		d[1] = *src.Footer.Extension
	}
	for i := range d { // nil or empty
		d[i].Fields = append([]envelope.Field{}, d[i].Fields...)
		d[i].Columns = append([]envelope.Column{}, d[i].Columns...)
		d[i].Aliases = append([]envelope.Alias{}, d[i].Aliases...)
		d[i].ExtraTypes = append([]envelope.ExtraTypeInfo{}, d[i].ExtraTypes...)
	}
	return d
}

// makeEmpty writes an RNTuple of a document without entries.
func makeEmpty(t *testing.T, doc *schema.Document) Input {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.root")
	w, err := rntuple.CreateRecords(path, "n", doc, nil)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return Input{Path: path}
}

// TestRefusals has a pair of schemas for every rule of ROOT's document, all in
// one merge.
func TestRefusals(t *testing.T) {
	field := func(name, typ string, edit ...func(*schema.FieldDocument)) *schema.FieldDocument {
		f, err := schema.FieldOf(name, typ)
		if err != nil { // a class
			f = &schema.FieldDocument{Name: name, Type: typ, Role: "record"}
		}
		for _, e := range edit {
			e(f)
		}
		return f
	}
	column := func(c ...schema.ColumnDocument) func(*schema.FieldDocument) {
		return func(f *schema.FieldDocument) {
			f.Columns = nil
			for _, one := range c {
				f.Columns = append(f.Columns, []schema.ColumnDocument{one})
			}
		}
	}
	class := func(version, checksum uint32, members ...string) func(*schema.FieldDocument) {
		return func(f *schema.FieldDocument) {
			f.TypeVersion, f.TypeChecksum = version, &checksum
			for _, m := range members {
				f.Fields = append(f.Fields, field(m, "float"))
			}
		}
	}
	view := func(source string) func(*schema.FieldDocument) {
		return func(f *schema.FieldDocument) { f.Source = source }
	}
	encoded := func(s string) func(*schema.FieldDocument) { return column(schema.ColumnDocument{Type: s}) }
	for _, c := range []struct {
		what        string // of the problem
		path        string
		first, this *schema.FieldDocument // of the name x
	}{
		{"the type is double, in the first input float", "x", field("x", "float"), field("x", "double")},
		{"the type is std::vector<double>", "x", field("x", "std::vector<float>"), field("x", "std::vector<double>")},
		{"the type is double", "x._0", field("x", "std::vector<float>"), field("x", "std::vector<double>")},
		{"the structure is collection, in the first input scalar", "x", field("x", "float"),
			field("x", "std::vector<float>")},
		{"the type version is 2, in the first input 1", "x", field("x", "C", class(1, 7, "a")),
			field("x", "C", class(2, 7, "a"))},
		{"the type checksum is 0x8, in the first input 0x7", "x", field("x", "C", class(1, 7, "a")),
			field("x", "C", class(1, 8, "a"))},
		{"the number of subfields is 1, in the first input 2", "x", field("x", "C", class(1, 7, "a", "b")),
			field("x", "C", class(1, 7, "a"))},
		{`has no subfield "b"`, "x", field("x", "C", class(1, 7, "a", "b")), field("x", "C", class(1, 7, "a", "c"))},
		{"column 0 is of type Real16, in the first input SplitReal32", "x", field("x", "float"),
			field("x", "float", encoded("Real16"))},
		{"column 0 is of type SplitIndex32", "x", field("x", "std::vector<float>"),
			field("x", "std::vector<float>", encoded("SplitIndex32"))},
		{"projected field is true, in the first input false", "x", field("x", "float"), field("x", "float", view("a"))},
		{`the source of the projection is "b", in the first input "a"`, "x", field("x", "float", view("a")),
			field("x", "float", view("b"))},
		{"the array size is 3, in the first input 2", "x", field("x", "std::array<float,2>"),
			field("x", "std::array<float,3>")},
		{"is missing, but the first input has it", "x", field("x", "float"), nil},
		{"is not in the first input", "x", nil, field("x", "float")},
	} {
		doc := func(f *schema.FieldDocument) Input {
			d := &schema.Document{Name: "n", Fields: []*schema.FieldDocument{field("a", "float"), field("b", "float"),
				field("bad", "float")}}
			if f != nil {
				d.Fields = append(d.Fields, f)
			}
			return makeEmpty(t, d)
		}
		first, this := doc(c.first), doc(c.this)
		worse := makeEmpty(t, &schema.Document{Name: "n", Fields: []*schema.FieldDocument{field("bad", "double")}})
		out := filepath.Join(t.TempDir(), "out.root")
		_, err := Merge(all, out, []Input{first, this, first, worse}, &MergeOptions{Mode: Strict})
		var all *IncompatibleError
		if !errors.As(err, &all) {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		found := map[string]bool{}
		for _, p := range all.Problems {
			found[p.Input] = true
			found[fmt.Sprint(p.Input, p.Field)] = true
			if p.Input == this.Path && p.Field == c.path && strings.Contains(p.What, c.what) {
				found[c.what] = true
			}
			if lacks := strings.HasPrefix(p.What, "is missing") || strings.HasPrefix(p.What, "is not in"); p.Lacks != lacks {
				t.Errorf("%v: Lacks is %v", p, p.Lacks)
			}
		}
		if !found[c.what] || !found[worse.Path+"bad"] || !found[worse.Path+"a"] || found[first.Path] {
			t.Errorf("%s: %v", c.what, err)
		}
		noFile(t, out)
	}
}

// noFile makes sure that there is nothing where an output should not be.
func noFile(t *testing.T, out string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(out))
	if err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

type point struct {
	X int32
	V []float32
	S string
}

// unsynced returns options for files that need not survive.
func unsynced(o *rntuple.WriteOptions) *rntuple.WriteOptions {
	var quick rntuple.WriteOptions
	if o != nil {
		quick = *o
	}
	quick.File.NoSync = true
	return &quick
}

// points writes n entries.
func points(t testing.TB, path string, first, n int, opts *rntuple.WriteOptions) {
	t.Helper()
	w, err := rntuple.Create[point](path, "n", unsynced(opts))
	if err != nil {
		t.Fatal(err)
	}
	for i := first; i < first+n; i++ {
		w.Write(&point{int32(i), make([]float32, i%5), fmt.Sprint(i)})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// checkPoints makes sure that a file has the points from 0 on.
func checkPoints(t testing.TB, path string, n int) {
	t.Helper()
	r, err := rntuple.Open(path, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	i := 0
	for p, err := range rntuple.Entries[point](r) {
		if err != nil {
			t.Fatal(err)
		}
		if p.X != int32(i) || len(p.V) != i%5 || p.S != fmt.Sprint(i) {
			t.Fatalf("entry %d is %v", i, p)
		}
		i++
	}
	if i != n {
		t.Fatalf("%d entries, want %d", i, n)
	}
}

// TestDamage changes a byte in every place of an input: where it matters there is
// an error that names the input, and no output.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good.root"), filepath.Join(dir, "bad.root")
	points(t, good, 0, 500, &rntuple.WriteOptions{Compression: 404})
	points(t, bad, 500, 500, &rntuple.WriteOptions{Compression: 404})
	whole, err := os.ReadFile(bad)
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := openRaw(t, Input{Path: bad}).Source.Find(all, 0)
	if err != nil {
		t.Fatal(err)
	}
	var places []int64
	for _, c := range cluster.Columns() {
		p := c.Pages[0].Locator
		places = append(places, int64(p.Offset), int64(p.Offset+p.Size)-1, int64(p.Offset+p.Size))
	}
	for _, at := range places {
		for least := Copy; least <= Rewrite; least++ {
			damaged := bytes.Clone(whole)
			damaged[at] ^= 0x10
			if err := os.WriteFile(bad, damaged, 0o644); err != nil {
				t.Fatal(err)
			}
			folder := filepath.Join(dir, "out")
			os.Mkdir(folder, 0o755)
			out := filepath.Join(folder, "out.root")
			_, err := Merge(all, out, []Input{{Path: good}, {Path: bad}, {Path: good}},
				&MergeOptions{Options: Options{AtLeast: least}})
			var in *rntuple.InputError
			if !errors.Is(err, rntuple.ErrChecksum) || !errors.As(err, &in) || strings.Count(err.Error(), bad) != 1 ||
				!strings.Contains(err.Error(), "field") {
				t.Errorf("byte %d, level %v: %v", at, least, err)
			} else if in.Path != bad || in.Index != 1 {
				t.Errorf("byte %d, level %v: the error is about input %d, %s", at, least, in.Index, in.Path)
			}
			noFile(t, out)
			if now, _ := os.ReadFile(bad); !bytes.Equal(now, damaged) {
				t.Error("the input has changed")
			}
		}
	}
}

// TestEmpty merges inputs without entries, in between and alone.
func TestEmpty(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	points(t, file("none"), 0, 0, nil)
	points(t, file("some"), 0, 50, nil)
	points(t, file("more"), 50, 50, nil)
	none, some, more := Input{Path: file("none")}, Input{Path: file("some")}, Input{Path: file("more")}
	for n, inputs := range [][]Input{{none}, {none, none}, {none, some, more}, {some, none, more}, {some, more, none}} {
		for least := Copy; least <= Rewrite; least++ {
			out := file("out.root")
			if _, err := Merge(all, out, inputs, &MergeOptions{Options: Options{AtLeast: least}}); err != nil {
				t.Fatal(n, err)
			}
			want := 100
			if n < 2 {
				want = 0
			}
			checkPoints(t, out, want)
		}
	}
	if _, err := Merge(all, file("none"), []Input{some, none}, nil); err == nil {
		t.Error("an input has been overwritten")
	}
	if _, err := Merge(all, file("out"), nil, nil); err == nil {
		t.Error("no inputs")
	}
}

// openRaw opens an RNTuple until the test ends.
func openRaw(t *testing.T, in Input) *ntuple.Reader {
	t.Helper()
	r, err := ntuple.Open(location.Parse(in.Path), in.Name, ntuple.NewReadOptions())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// TestConvert merges types that differ.
func TestConvert(t *testing.T) {
	type wide struct {
		A int64
		B []uint8
		C float32
		D map[string]int16
	}
	type narrow struct {
		A int32
		B []int64
		C float64
		D map[string]uint32
	}
	dir := t.TempDir()
	first, second, bad, out := filepath.Join(dir, "1"), filepath.Join(dir, "2"), filepath.Join(dir, "3"),
		filepath.Join(dir, "out")
	write(t, first, wide{1 << 40, []uint8{1, 2}, 0.5, map[string]int16{"x": -1}})
	write(t, second, narrow{-7, []int64{255}, 0.25, map[string]uint32{"y": 32767}})
	write(t, bad, narrow{-7, []int64{255}, 0.25, nil}, narrow{-7, []int64{1, 256}, 0.25, nil})
	for least := Copy; least <= Rewrite; least++ {
		if _, err := Merge(all, out, []Input{{Path: first}, {Path: second}},
			&MergeOptions{Options: Options{AtLeast: least}, ConvertTypes: true}); err != nil {
			t.Fatal(err)
		}
		r, err := rntuple.Open(out, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []wide
		for e, err := range rntuple.Entries[wide](r) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, *e)
		}
		want := []wide{{1 << 40, []uint8{1, 2}, 0.5, map[string]int16{"x": -1}},
			{-7, []uint8{255}, 0.25, map[string]int16{"y": 32767}}}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("level %v: %v, want %v", least, got, want)
		}
		r.Close()
		_, err = Merge(all, out, []Input{{Path: first}, {Path: bad}},
			&MergeOptions{Options: Options{AtLeast: least}, ConvertTypes: true})
		if !errors.Is(err, rntuple.ErrRange) || !strings.Contains(err.Error(), `"B._0"`) ||
			!strings.Contains(err.Error(), bad) {
			t.Errorf("level %v: %v", least, err)
		}
	}
	if _, err := Merge(all, out, []Input{{Path: first}, {Path: second}}, nil); err == nil {
		t.Error("types have been converted without request")
	}
}

func write[T any](t *testing.T, path string, entries ...T) {
	t.Helper()
	w, err := rntuple.Create[T](path, "n", nil)
	if err == nil {
		err = w.WriteBatch(entries)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestAttributes merges inputs with attribute sets, some of the same name.
func TestAttributes(t *testing.T) {
	dir := t.TempDir()
	make := func(name string, entries int, sets ...string) Input {
		path := filepath.Join(dir, name)
		w, err := rntuple.Create[point](path, "n", nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range entries {
			w.Write(&point{X: int32(i)})
		}
		for _, s := range sets {
			a, err := rntuple.NewAttributes[struct{ Where string }](w, s, nil)
			if err != nil {
				t.Fatal(err)
			}
			a.Write(rntuple.EntryRange{End: int64(entries)}, struct{ Where string }{name + " whole"})
			a.Write(rntuple.EntryRange{First: int64(entries / 2), End: int64(entries/2) + 1},
				struct{ Where string }{name + " half"})
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return Input{Path: path}
	}
	a, b, c := make("a", 10, "s"), make("b", 20, "s", "other"), make("c", 30)
	check := func(what, path string) {
		t.Helper()
		r, err := rntuple.Open(path, "n", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		got := map[string][]string{}
		for _, s := range r.AttributeSets() {
			set, err := rntuple.Open(path, "n", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer set.Close()
			one, err := r.OpenAttributes(s.Name)
			if err != nil {
				t.Fatal(what, err)
			}
			got[s.Name] = values(t, one.Reader())
		}
		want := map[string][]string{
			"s":     {"0 10 a whole", "5 1 a half", "10 20 b whole", "20 1 b half", "60 10 a whole", "65 1 a half"},
			"other": {"10 20 b whole", "20 1 b half"},
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	for least := Copy; least <= Rewrite; least++ {
		out := filepath.Join(dir, "out")
		if _, err := Merge(all, out, []Input{a, b, c, a}, &MergeOptions{Options: Options{AtLeast: least}}); err != nil {
			t.Fatal(err)
		}
		check(fmt.Sprint("level ", least), out)
		into := filepath.Join(dir, "into")
		copyFile(t, a.Path, into)
		if _, err := MergeInto(all, Input{Path: into}, []Input{b, c, a},
			&MergeOptions{Options: Options{AtLeast: least}}); err != nil {
			t.Fatal(err)
		}
		check(fmt.Sprint("in place, level ", least), into)
		if _, err := Merge(all, out, []Input{a, b}, &MergeOptions{Options: Options{DropAttributes: true}}); err != nil {
			t.Fatal(err)
		}
		if r, err := rntuple.Open(out, "n", nil); err != nil || len(r.AttributeSets()) > 0 {
			t.Error("sets are left", err)
		}
	}
}

func values(t *testing.T, r *rntuple.Reader) (all []string) {
	t.Helper()
	type entry struct {
		Start uint64                 `rntuple:"_rangeStart"`
		Len   uint64                 `rntuple:"_rangeLen"`
		Data  struct{ Where string } `rntuple:"_userData"`
	}
	for e, err := range rntuple.Entries[entry](r) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(e.Start, " ", e.Len, " ", e.Data.Where))
	}
	return all
}

// TestManyInputs merges very many inputs: neither memory nor file handles grow.
func TestManyInputs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	in := filepath.Join(t.TempDir(), "in.root")
	points(t, in, 0, 1000, nil)
	peak := func(n int) uint64 {
		inputs := slices.Repeat([]Input{{Path: in}}, n)
		out := filepath.Join(t.TempDir(), "out.root")
		var most uint64
		calls := 0
		report, err := Merge(all, out, inputs, &MergeOptions{Options: Options{Progress: func(done, total int64) {
			if calls++; calls%50 == 0 {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}}})
		if err != nil || report.Entries != int64(1000*n) {
			t.Fatal(report, err)
		}
		return most
	}
	few, many := peak(100), peak(1500)
	if many > few+4<<20 {
		t.Errorf("%d bytes for 100 inputs, %d for 1500", few, many)
	}
}

// TestLevels makes sure that nothing is done beyond the level allowed.
func TestLevels(t *testing.T) {
	dir := t.TempDir()
	a, b, c, out := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c"), filepath.Join(dir, "out")
	points(t, a, 0, 100, &rntuple.WriteOptions{Compression: 404})
	points(t, b, 100, 100, &rntuple.WriteOptions{Compression: 505})
	points(t, c, 200, 100, &rntuple.WriteOptions{Compression: compress.None})
	for _, test := range []struct {
		inputs []string
		most   Level
		ok     bool
		opts   Options
	}{
		{[]string{a}, Copy, true, Options{}},
		{[]string{a, b}, Copy, false, Options{}},
		{[]string{a, b}, Copy, true, Options{KeepCompression: true}},
		{[]string{a, b}, Recompress, true, Options{}},
		{[]string{a, b, c}, Recompress, false, Options{}},
		{[]string{a, b, c}, Reseal, true, Options{}},
		{[]string{a, b, c}, Reseal, true, compressed(101)},
		{[]string{a, b, c}, Reseal, false, Options{JoinClusters: 1 << 20}},
		{[]string{a, b, c}, Rewrite, true, Options{JoinClusters: 1 << 20}},
	} {
		var inputs []Input
		for _, path := range test.inputs {
			inputs = append(inputs, Input{Path: path})
		}
		test.opts.AtMost = &test.most
		report, err := Merge(all, out, inputs, &MergeOptions{Options: test.opts})
		if (err == nil) != test.ok {
			t.Errorf("%v: %v", test, err)
		}
		if err == nil {
			checkPoints(t, out, 100*len(inputs))
			if report.Levels[test.most].Pages == 0 {
				t.Errorf("%v: %v", test, report.Levels)
			}
		}
	}
}

// TestGroups makes sure that cluster groups do not grow without bounds.
func TestGroups(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	points(t, in, 0, 5000, &rntuple.WriteOptions{ClusterSize: 1000})
	for least := Copy; least <= Rewrite; least++ {
		bound := Options{AtLeast: least, Write: rntuple.WriteOptions{ClusterSize: 1000}, groupPages: 50}
		report, err := Merge(all, out, []Input{{Path: in}}, &MergeOptions{Options: bound})
		if err != nil {
			t.Fatal(err)
		}
		if report.ClusterGroups < 4 {
			t.Errorf("level %v: %d cluster groups of %d clusters", least, report.ClusterGroups, report.Clusters)
		}
		checkPoints(t, out, 5000)
	}
}
