package rntuple_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/test/randtest"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// TestCampaign damages small files of all kinds in every place: it changes each
// byte in several ways, and cuts the file at each length. What is asked for by
// name must then be as it was, or an error; entries that come before an error
// must be right.
//
// Where the format gives a page no checksum, changes of the page's own bytes
// cannot be noticed; these are counted apart. With RNTUPLE_CAMPAIGN=1 it takes
// some minutes, else it takes samples: every so many bytes, the stride. Of files
// that take long to read it always does.
func TestCampaign(t *testing.T) {
	budget := int64(40) // microseconds of reading for a byte of a file, estimated
	if os.Getenv("RNTUPLE_CAMPAIGN") != "" {
		budget = 1500
	}
	c := campaign{t: t, jobs: make(chan job)}
	var rows []*row
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(c.work)
	}
	for _, s := range specimens(t) {
		r := &row{specimen: s}
		rows = append(rows, r)
		patterns := []byte{1, 2, 4, 8, 16, 32, 64, 128, 255}
		if int64(len(patterns)+1)*s.cost > budget {
			patterns = []byte{1, 128, 255}
		}
		r.stride = max(1, int(int64(len(patterns)+1)*s.cost/budget))
		for i := 0; i < len(s.file); i += r.stride {
			c.jobs <- job{r, i, patterns}
		}
	}
	close(c.jobs)
	workers.Wait()
	c.print(rows)
}

// specimen is a file to damage.
type specimen struct {
	name   string
	file   []byte
	tuples []tuple
	loose  []extent // pages without checksum
	cost   int64    // microseconds that reading it takes, estimated
}

// tuple is what an RNTuple holds, as text.
type tuple struct{ path, text string }

type extent struct{ first, end int }

// row is what became of the cases of a specimen.
type row struct {
	specimen
	stride                                         int
	cases, errors, unchanged, undetectable, wrongs int
}

// job is a place of a file to damage.
type job struct {
	*row
	at       int
	patterns []byte
}

type campaign struct {
	t    *testing.T
	jobs chan job
	mu   sync.Mutex // for rows and t
}

// watch has the program end with a panic unless the function that it returns is
// called soon.
func watch(what string) (stop func()) {
	timer := time.AfterFunc(time.Minute, func() { panic(what + " hangs") })
	return func() { timer.Stop() }
}

func (c *campaign) work() {
	for j := range c.jobs {
		file := bytes.Clone(j.file)
		try := func(damage string, file []byte) {
			what := fmt.Sprintf("%s: %s at %#x", j.name, damage, j.at)
			defer watch(what)()
			defer func() {
				if p := recover(); p != nil {
					panic(fmt.Sprintf("%s: %v\n%s", what, p, debug.Stack()))
				}
			}()
			c.count(j, what, len(file) == len(j.file), outcome(j.specimen, file))
		}
		for _, p := range j.patterns {
			file[j.at] ^= p
			try(fmt.Sprintf("byte ^ %#02x", p), file)
			file[j.at] ^= p
		}
		try("cut", file[:j.at])
	}
}

// verdict is what damage has done.
type verdict struct {
	err   error  // that one of the RNTuples gave
	wrong string // what is different
}

// outcome reads all RNTuples that an undamaged specimen has.
func outcome(s specimen, file []byte) (v verdict) {
	for _, want := range s.tuples {
		got, err := contents(file, want.path, len(want.text))
		switch {
		case err != nil && strings.HasPrefix(want.text, got):
			v.err = err
		case err != nil || got != want.text:
			v.wrong = fmt.Sprintf("RNTuple %q, %v: we read\n%s\nwant\n%s", want.path, err, got, want.text)
		}
	}
	return v
}

func (c *campaign) count(j job, what string, flipped bool, v verdict) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := j.row
	r.cases++
	switch {
	case v.wrong != "" && flipped && r.isLoose(j.at):
		r.undetectable++
	case v.wrong != "":
		if r.wrongs++; r.wrongs < 5 {
			c.t.Errorf("%s: %.3000s", what, v.wrong)
		}
	case v.err != nil:
		r.errors++
		sound(c.t, fmt.Errorf("%s: %w", what, v.err))
	default:
		r.unchanged++
	}
}

func (s *specimen) isLoose(at int) bool {
	for _, e := range s.loose {
		if e.first <= at && at < e.end {
			return true
		}
	}
	return false
}

func (c *campaign) print(rows []*row) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "file\tbytes\tstride\tcases\terrors\tunchanged\tundetectable\twrong\t")
	sum := row{specimen: specimen{name: "all"}}
	line := func(r *row, bytes, stride string) {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t\n", r.name, bytes, stride, r.cases, r.errors, r.unchanged,
			r.undetectable, r.wrongs)
	}
	for _, r := range rows {
		line(r, fmt.Sprint(len(r.file)), fmt.Sprint(r.stride))
		sum.cases, sum.errors, sum.unchanged = sum.cases+r.cases, sum.errors+r.errors, sum.unchanged+r.unchanged
		sum.undetectable, sum.wrongs = sum.undetectable+r.undetectable, sum.wrongs+r.wrongs
	}
	line(&sum, "", "")
	w.Flush()
	c.t.Logf("undetectable: other values, after a change of a page that has no checksum\n%s", &b)
}

// frugal are options to read many files with, one after the other.
var frugal = &rntuple.ReadOptions{Workers: 1, ReadAhead: -1,
	Limits: rntuple.Limits{EntryBytes: 4 << 20, PageBytes: 1 << 20}}

// contents returns as text what an RNTuple holds: schema, entries, attribute
// sets; with an error, what came before it. It stops where the text gets longer
// than wanted.
func contents(file []byte, path string, wanted int) (string, error) {
	r, err := rntuple.NewReader(bytes.NewReader(file), int64(len(file)), path, frugal)
	if err != nil {
		return "", err
	}
	var b []byte
	describe := func(r *rntuple.Reader) {
		b = fmt.Appendf(b, "%s: %d entries\n", r.Name(), r.NumEntries())
		for _, f := range r.Schema().TopLevel() {
			b = fmt.Appendf(b, "%s %s\n", f.Name, f.CppType())
		}
	}
	describe(r)
	entries := func(r *rntuple.Reader) error {
		v, err := rntuple.RecordsOf(r)
		if err != nil {
			return err
		}
		for _, record := range v.All() {
			if b = append(value.AppendJSON(b, record), '\n'); len(b) > wanted {
				break
			}
		}
		return v.Err()
	}
	if err := entries(r); err != nil {
		return string(b), err
	}
	for _, s := range r.AttributeSets() {
		a, err := r.OpenAttributes(s.Name)
		if err != nil {
			return string(b), err
		}
		describe(a.Reader())
		if err := entries(a.Reader()); err != nil {
			return string(b), err
		}
	}
	return string(b), nil
}

// newSpecimen reads what a file holds. It is none, and said why, if ok is false.
func newSpecimen(t *testing.T, name string, file []byte) specimen {
	t.Helper()
	s := specimen{name: name, file: file}
	infos, err := rntuple.List(bytes.NewReader(file), int64(len(file)))
	if err != nil || len(infos) == 0 {
		t.Fatalf("%s: %v, %v", name, infos, err)
	}
	for _, info := range infos {
		text, err := contents(file, info.Path, 1<<30)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s.tuples = append(s.tuples, tuple{info.Path, text})
		s.cost += 50 + int64(len(text))/20
		r, err := rntuple.NewReader(bytes.NewReader(file), int64(len(file)), info.Path, nil)
		if err != nil {
			t.Fatal(err)
		}
		clusters, err := r.Source().Clusters(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, cluster := range clusters {
			for _, c := range cluster.Columns() {
				for _, p := range c.Pages {
					if !p.HasChecksum && !p.HasCRC32 {
						s.loose = append(s.loose, extent{int(p.Locator.Offset), int(p.Locator.Offset + p.Locator.Size)})
					}
				}
			}
		}
	}
	return s
}

// specimens returns small files of all kinds: of our making, of ROOT's, and such
// as were made before format 1.
func specimens(t *testing.T) []specimen {
	all := []specimen{newSpecimen(t, "by hand", small(t))}
	for _, s := range []compress.Settings{compress.None, 101, 207, 301, 404, 505} {
		all = append(all, written(t, fmt.Sprintf("columns, %d", s), everyColumn, &rntuple.WriteOptions{Compression: s}))
	}
	all = append(all,
		written(t, "columns, no checksums", everyColumn,
			&rntuple.WriteOptions{Compression: compress.None, NoChecksums: true}),
		written(t, "columns, 505, no checksums", everyColumn, &rntuple.WriteOptions{NoChecksums: true}),
		written(t, "shapes, 0", everyShape, &rntuple.WriteOptions{Compression: compress.None}),
		written(t, "shapes, 505", everyShape, nil),
		written(t, "payloads in chunks of 200", everyShape, &rntuple.WriteOptions{MaxKeySize: 200}),
		written(t, "fields added late", lateFields, nil),
		written(t, "projections", projections, &rntuple.WriteOptions{Compression: compress.None}),
		written(t, "attributes, two RNTuples", attributes, nil),
		newSpecimen(t, "two cycles, appended", cycles(t)),
	)
	for _, pattern := range []string{"../testdata/good/*.root", "../../shared/testdata/legacy/*.root"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if len(names) == 0 {
			t.Logf("%s: there are none", pattern)
		}
		for _, name := range names {
			file, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if len(file) < 20<<10 {
				all = append(all, newSpecimen(t, filepath.Base(name), file))
			}
		}
	}
	return all
}

// written is a file of our making.
func written(t *testing.T, name string, write func(*testing.T, *rntuple.File, *rntuple.WriteOptions),
	opts *rntuple.WriteOptions) specimen {
	t.Helper()
	var m memory
	f, err := rntuple.NewFile(&m, "n.root", fixed)
	if err != nil {
		t.Fatal(err)
	}
	write(t, f, opts)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return newSpecimen(t, name, m.b)
}

// entryOf returns a random entry for the fields of w.
func entryOf(m randtest.Maker, w *rntuple.Writer[value.Record]) *value.Record {
	r := new(value.Record)
	for _, f := range w.Schema().Fields {
		if f.Source == nil {
			r.Names, r.Values = append(r.Names, f.Name), append(r.Values, m.Value(f))
		}
	}
	return r
}

func newMaker() randtest.Maker { return randtest.Maker{Rand: rand.New(rand.NewPCG(1, 2))} }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fieldsOf returns fields of the given C++ types, and with the columns that may
// follow, one representation each.
func fieldsOf(t *testing.T, first int, types ...string) (all []*schema.FieldDocument) {
	for i, typ := range types {
		words := strings.Fields(typ)
		f, err := schema.FieldOf(fmt.Sprintf("f%d", first+i), words[0])
		check(t, err)
		for _, c := range words[1:] {
			f.Columns = append(f.Columns, []schema.ColumnDocument{{Type: c}})
		}
		all = append(all, f)
	}
	return all
}

// everyColumn writes columns of all types, the representations of a field one
// after the other.
func everyColumn(t *testing.T, f *rntuple.File, opts *rntuple.WriteOptions) {
	fields := fieldsOf(t, 0, "bool", "char", "std::byte", "std::int8_t", "std::uint8_t",
		"std::int16_t SplitInt16 Int16", "std::uint16_t SplitUInt16 UInt16", "std::int32_t SplitInt32 Int32",
		"std::uint32_t SplitUInt32 UInt32",
		"std::int64_t SplitInt64 Int64", "std::uint64_t SplitUInt64 UInt64", "float SplitReal32 Real32 Real16",
		"double SplitReal64 Real64")
	trunc, quant := fieldsOf(t, len(fields), "float Real32Trunc")[0], fieldsOf(t, len(fields)+1, "float Real32Quant")[0]
	trunc.Columns[0][0].Bits = 13
	quant.Columns[0][0].Bits, quant.Columns[0][0].Range = 11, &[2]float64{-8, 8}
	strs := fieldsOf(t, len(fields)+2, "std::string")[0]
	for _, c := range []string{"SplitIndex64", "Index64", "SplitIndex32", "Index32"} {
		strs.Columns = append(strs.Columns, []schema.ColumnDocument{{Type: c}, {Type: "Char"}})
	}
	fields = append(fields, trunc, quant, strs)
	w, err := rntuple.NewRecordWriter(f, "n", &schema.Document{Name: "n", Fields: fields}, opts)
	check(t, err)
	for i := range 8 {
		if i%2 == 0 {
			for _, f := range w.Schema().Fields {
				check(t, w.Use(f.Name, i/2%len(f.Columns)))
			}
		}
		r := entryOf(newMaker(), w)
		for j, f := range w.Schema().Fields {
			switch x := float64(i)/4 - 1; r.Values[j].(type) { // what every representation can hold
			case float32:
				r.Values[j] = float32(x)
			case float64:
				r.Values[j] = x
			case string:
				r.Values[j] = strings.Repeat(f.Name, i)
			}
		}
		check(t, w.Write(r))
	}
	check(t, w.Close())
}

var shapes = []string{"std::vector<std::string>", "std::array<std::int16_t,2>", "std::bitset<9>",
	"std::optional<float>", "std::unique_ptr<std::int32_t>",
	"std::pair<bool,char>", "std::tuple<std::byte,std::uint8_t,double>", "std::map<std::string,std::int64_t>",
	"std::set<std::uint16_t>",
	"std::variant<std::int32_t,std::string>", "std::atomic<std::int32_t>",
	"std::vector<std::vector<std::array<std::int8_t,2>>>"}

// everyShape writes fields of all shapes, in two cluster groups.
func everyShape(t *testing.T, f *rntuple.File, opts *rntuple.WriteOptions) {
	w, err := rntuple.NewRecordWriter(f, "n", &schema.Document{Name: "n", Fields: fieldsOf(t, 0, shapes...)}, opts)
	check(t, err)
	m := newMaker()
	for i := range 9 {
		check(t, w.Write(entryOf(m, w)))
		switch i {
		case 3:
			check(t, w.CommitCluster())
		case 5:
			check(t, w.CommitClusterGroup())
		}
	}
	check(t, w.Close())
}

// lateFields adds fields on the way.
func lateFields(t *testing.T, f *rntuple.File, opts *rntuple.WriteOptions) {
	w, err := rntuple.NewRecordWriter(f, "n", &schema.Document{Name: "n", Fields: fieldsOf(t, 0, "std::int32_t")}, opts)
	check(t, err)
	m := newMaker()
	for i := range 8 {
		check(t, w.Write(entryOf(m, w)))
		switch i {
		case 2:
			check(t, w.CommitCluster())
		case 4:
			check(t, w.Extend(fieldsOf(t, 1, "std::vector<float>", "std::array<bool,3>", "std::string",
				"std::variant<bool,char>")...))
		}
	}
	check(t, w.Close())
}

func projections(t *testing.T, f *rntuple.File, opts *rntuple.WriteOptions) {
	projected := *opts
	projected.Projections = []rntuple.Projection{{Name: "p", CppType: "std::vector<float>", Source: "Jets.Pt"},
		{Name: "n", CppType: "ROOT::RNTupleCardinality<std::uint32_t>", Source: "Jets"}}
	type jet struct{ Pt, Eta float32 }
	w, err := rntuple.NewWriter[struct{ Jets []jet }](f, "n", &projected)
	check(t, err)
	for i := range 6 {
		check(t, w.Write(&struct{ Jets []jet }{[]jet{{1, float32(i)}, {float32(i) / 2, 3}, {4, 5}}[:i%4]}))
	}
	check(t, w.Close())
}

func attributes(t *testing.T, f *rntuple.File, opts *rntuple.WriteOptions) {
	for _, name := range []string{"one", "two"} {
		type point struct{ X, Y int32 }
		w, err := rntuple.NewWriter[point](f, name, opts)
		check(t, err)
		a, err := rntuple.NewAttributes[struct{ Label string }](w, "labels", opts)
		check(t, err)
		for i := range int32(3) {
			check(t, w.Write(&point{i, int32(len(name)) * i}))
			check(t, a.Write(rntuple.EntryRange{First: int64(i), End: int64(i) + 1},
				struct{ Label string }{fmt.Sprint(name, i)}))
		}
		check(t, w.Close())
	}
}

// cycles returns a file that an RNTuple was written to three times, one of them
// under another name of the same length.
func cycles(t *testing.T) []byte {
	path := filepath.Join(t.TempDir(), "n.root")
	for i, name := range []string{"n", "n", "m"} {
		open := rntuple.UpdateFile
		if i == 0 {
			open = rntuple.CreateFile
		}
		f, err := open(path, fixed)
		check(t, err)
		w, err := rntuple.NewWriter[struct{ X int }](f, name, nil)
		check(t, err)
		check(t, w.Write(&struct{ X int }{i}))
		check(t, w.Close())
		check(t, f.Close())
	}
	file, err := os.ReadFile(path)
	check(t, err)
	return file
}

// small builds a file with a bit of everything.
func small(t testing.TB) []byte {
	b := newBuilder(t)
	scalar(b, "double", column.Real64, column.Real16)
	s := b.regular()
	v := s.field(-1, "v", "std::vector<std::string>", envelope.RoleCollection)
	s.column(v, column.SplitIndex64)
	str := s.field(v, "_0", "std::string", envelope.RolePlain)
	s.column(str, column.Index32)
	s.column(str, column.Char)
	b.cluster(2, chunk(0, page(b, column.Real64, 0.1, 0.2)), suppressed,
		chunk(0, page[uint64](b, column.SplitIndex64, 1, 3)), chunk(0, page[uint32](b, column.Index32, 1, 2, 3)),
		chunk(0, page[int8](b, column.Char, 1, 2, 3)))
	b.cluster(1, suppressed, chunk(2, page[float32](b, column.Real16, 0.5)),
		chunk(2, page[uint64](b, column.SplitIndex64, 0)), chunk(3), chunk(3))
	return b.bytes(edits{})
}
