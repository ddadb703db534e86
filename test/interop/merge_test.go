package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/test/golden"
	"github.com/go-rntuple/go-rntuple/rntuple"
	diff "github.com/go-rntuple/go-rntuple/rntuple/compare"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// A mergeFile is an input that this library and ROOT can write, see merge.py.
type mergeFile struct {
	Path        string       `json:"path"`
	Compression int          `json:"compression"`
	Entries     int          `json:"entries"`
	Start       int          `json:"start"`
	Cluster     int          `json:"cluster"`
	Fields      []mergeField `json:"fields"`
}

// A mergeField is a field of a mergeFile. Several columns are representations,
// which take turns from cluster to cluster.
type mergeField struct {
	Name    string      `json:"name"`
	Type    string      `json:"type"`
	Source  string      `json:"source,omitempty"`
	Late    int         `json:"late,omitempty"` // the entry with which it begins
	Columns []string    `json:"columns,omitempty"`
	Bits    uint16      `json:"bits,omitempty"`
	Range   *[2]float64 `json:"range,omitempty"`

	class *schema.FieldDocument // of a class, which ROOT does not write here
}

// x returns the number from which the values of an entry are derived.
func (f *mergeFile) x(field mergeField, entry int) int {
	return (f.Start + entry + len(field.Name)) % 100
}

// of returns the value for x.
func (f mergeField) of(x int) any {
	repeat := func(n int, v any) []any { return slices.Repeat([]any{v}, n) }
	switch f.Type {
	case "std::int32_t":
		return int32(x)
	case "std::int64_t":
		return int64(x)
	case "float":
		return float32(x)
	case "double":
		return float64(x)
	case "std::string":
		return fmt.Sprint("s", x)
	case "std::vector<float>":
		return repeat(x%3, float32(x))
	case "std::vector<std::int32_t>":
		return repeat(x%3, int32(x))
	case "std::vector<std::vector<float>>":
		return repeat(x%2, repeat(x%3, float32(x)))
	case "std::array<std::int32_t,2>":
		return repeat(2, int32(x))
	case "std::pair<std::int32_t,float>":
		return value.Record{Names: []string{"_0", "_1"}, Values: []any{int32(x), float32(x)}}
	case "std::optional<float>":
		if x%2 == 0 {
			return nil
		}
		return float32(x)
	case "C":
		r := value.Record{}
		for _, m := range f.class.Fields {
			r.Names, r.Values = append(r.Names, m.Name), append(r.Values, float32(x+len(r.Names)))
		}
		return r
	}
	panic("no values for " + f.Type)
}

// zero returns the value of entries that lack the field.
func (f mergeField) zero() any {
	switch f.Type {
	case "std::string":
		return ""
	case "std::optional<float>":
		return nil
	case "std::array<std::int32_t,2>", "std::pair<std::int32_t,float>":
		return f.of(0)
	}
	if strings.HasPrefix(f.Type, "std::vector") {
		return []any{}
	}
	return f.of(0)
}

func (f mergeField) document(t *testing.T) *schema.FieldDocument {
	if f.class != nil {
		return f.class
	}
	d := fieldOf(t, f.Name, f.Type)
	if d.Source = f.Source; f.Source != "" && len(d.Fields) > 0 {
		d.Fields[0].Source = f.Source + "._0"
	}
	for i, name := range f.Columns {
		if i == 0 {
			d.Columns = nil
		}
		d.Columns = append(d.Columns, []schema.ColumnDocument{{Type: name, Bits: f.Bits, Range: f.Range}})
	}
	return d
}

// write writes the file with this library.
func (f *mergeFile) write(t *testing.T) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", f.Path, err)
		}
	}
	doc := &schema.Document{Name: "n"}
	for _, field := range f.Fields {
		if field.Late == 0 {
			doc.Fields = append(doc.Fields, field.document(t))
		}
	}
	w, err := rntuple.CreateRecords(f.Path, "n", doc, &rntuple.WriteOptions{Compression: settingOf(f.Compression)})
	check(err)
	for i := range f.Entries {
		if i > 0 && i%f.Cluster == 0 {
			check(w.CommitCluster())
		}
		var r value.Record
		for _, field := range f.Fields {
			if field.Late > 0 && field.Late == i {
				check(w.Extend(field.document(t)))
			}
			if n := len(field.Columns); n > 1 && i%f.Cluster == 0 {
				check(w.Use(field.Name, i/f.Cluster%n))
			}
			if field.Late <= i && field.Source == "" {
				r.Names, r.Values = append(r.Names, field.Name), append(r.Values, field.of(f.x(field, i)))
			}
		}
		check(w.Write(&r))
	}
	check(w.Close())
}

func (f *mergeFile) field(name string) *mergeField {
	for i := range f.Fields {
		if f.Fields[i].Name == name {
			return &f.Fields[i]
		}
	}
	return nil
}

// lines returns the entries as JSON, with the fields of a merged RNTuple, and zeros
// for those that the file lacks.
func (f *mergeFile) lines(fields []mergeField) (lines []string) {
	for i := range f.Entries {
		var r value.Record
		for _, want := range fields {
			v := want.zero()
			name := want.Name
			if want.Source != "" {
				name = want.Source
			}
			if have := f.field(name); have != nil && have.Late <= i {
				v = have.of(f.x(*have, i))
			}
			r.Names, r.Values = append(r.Names, want.Name), append(r.Values, v)
		}
		lines = append(lines, string(value.AppendJSON(nil, r)))
	}
	return lines
}

func plain(name, typ string, columns ...string) mergeField {
	return mergeField{Name: name, Type: typ, Columns: columns}
}

func late(entry int, f mergeField) mergeField {
	f.Late = entry
	return f
}

func projected(name, typ, source string) mergeField {
	return mergeField{Name: name, Type: typ, Source: source}
}

func quantized(name string, bits uint16, lo, hi float64) mergeField {
	return mergeField{Name: name, Type: "float", Columns: []string{"Real32Quant"}, Bits: bits, Range: &[2]float64{lo, hi}}
}

func truncated(name string, bits uint16) mergeField {
	return mergeField{Name: name, Type: "float", Columns: []string{"Real32Trunc"}, Bits: bits}
}

func class(version, checksum uint32, members ...string) mergeField {
	d := &schema.FieldDocument{Name: "c", Type: "C", Role: "record", TypeVersion: version}
	if checksum != 0 {
		d.TypeChecksum = &checksum
	}
	for _, m := range members {
		d.Fields = append(d.Fields, &schema.FieldDocument{Name: m, Type: "float", Role: "plain"})
	}
	return mergeField{Name: "c", Type: "C", class: d}
}

// mergeBase lists fields that all inputs have.
var mergeBase = []mergeField{plain("x", "std::int32_t"), plain("s", "std::string"), plain("v", "std::vector<float>")}

// mergeMore lists fields of other types.
var mergeMore = []mergeField{
	plain("m_f", "float"), plain("m_d", "double"), plain("m_i", "std::vector<std::int32_t>"),
	plain("m_o", "std::optional<float>"),
	plain("m_a", "std::array<std::int32_t,2>"), plain("m_p", "std::pair<std::int32_t,float>"),
	plain("m_vv", "std::vector<std::vector<float>>"), plain("m_s", "std::string"),
}

// A mergeCase is a pair of inputs: their fields besides mergeBase, and their other
// differences.
type mergeCase struct {
	name          string
	first, second []mergeField
	edit          func(first, second *mergeFile)
}

var mergeCases = []mergeCase{
	{name: "same", first: mergeMore, second: mergeMore},
	{name: "other order", first: mergeMore,
		second: []mergeField{mergeMore[7], mergeMore[6], mergeMore[5], mergeMore[4], mergeMore[3], mergeMore[2],
			mergeMore[1], mergeMore[0]}},
	{name: "extra", second: mergeMore},
	{name: "missing", first: mergeMore},
	{name: "missing and extra", first: mergeMore[:4], second: mergeMore[4:]},
	{name: "type", first: []mergeField{plain("y", "float")}, second: []mergeField{plain("y", "double")}},
	{name: "item type", first: []mergeField{plain("y", "std::vector<float>")},
		second: []mergeField{plain("y", "std::vector<std::int32_t>")}},
	{name: "structure", first: []mergeField{plain("y", "float")}, second: []mergeField{plain("y", "std::vector<float>")}},
	{name: "projected", first: []mergeField{projected("y", "std::int32_t", "x")},
		second: []mergeField{projected("y", "std::int32_t", "x")}},
	{name: "projected collection", first: []mergeField{projected("y", "std::vector<float>", "v")},
		second: []mergeField{projected("y", "std::vector<float>", "v")}},
	{name: "projected first", first: []mergeField{projected("y", "std::int32_t", "x")},
		second: []mergeField{plain("y", "std::int32_t")}},
	{name: "projected second", first: []mergeField{plain("y", "std::int32_t")},
		second: []mergeField{projected("y", "std::int32_t", "x")}},
	{name: "projected elsewhere", first: []mergeField{plain("x2", "std::int32_t"), projected("y", "std::int32_t", "x")},
		second: []mergeField{plain("x2", "std::int32_t"), projected("y", "std::int32_t", "x2")}},
	{name: "projected extra", second: []mergeField{projected("y", "std::int32_t", "x")}},
	{name: "projected missing", first: []mergeField{projected("y", "std::int32_t", "x")}},
	{name: "projected on extra", second: []mergeField{plain("x2", "std::int32_t"), projected("y", "std::int32_t", "x2")}},
	{name: "late first", first: []mergeField{late(7, plain("y", "float")), late(7, plain("yv", "std::vector<float>"))},
		second: []mergeField{plain("y", "float"), plain("yv", "std::vector<float>")}},
	{name: "late second", first: []mergeField{plain("y", "float"), plain("yv", "std::vector<float>")},
		second: []mergeField{late(7, plain("y", "float")), late(7, plain("yv", "std::vector<float>"))}},
	{name: "late both", first: []mergeField{late(3, plain("y", "std::array<std::int32_t,2>")),
		late(7, plain("z", "std::string"))}, second: []mergeField{late(4, plain("z", "std::string")),
		late(8, plain("y", "std::array<std::int32_t,2>"))}},
	{name: "late extra", second: []mergeField{late(7, plain("y", "float")), late(7, plain("yv", "std::vector<float>"))}},
	{name: "late missing", first: []mergeField{late(7, plain("y", "float")), late(7, plain("yv", "std::vector<float>"))}},
	{name: "late and extra", first: []mergeField{late(7, plain("y", "float"))},
		second: []mergeField{plain("y", "float"), plain("z", "float"), plain("yv", "std::vector<float>")}},
	{name: "unsplit first", first: []mergeField{plain("y", "float", "Real32"), plain("z", "std::int64_t", "Int64")},
		second: []mergeField{plain("y", "float", "SplitReal32"), plain("z", "std::int64_t", "SplitInt64")}},
	{name: "split first", first: []mergeField{plain("y", "float", "SplitReal32"),
		plain("z", "std::int64_t", "SplitInt64")},
		second: []mergeField{plain("y", "float", "Real32"), plain("z", "std::int64_t", "Int64")}},
	{name: "unsplit extra", second: []mergeField{plain("y", "float", "Real32"), plain("z", "std::int64_t", "Int64")}},
	{name: "half", first: []mergeField{plain("y", "float")}, second: []mergeField{plain("y", "float", "Real16")}},
	{name: "same bits", first: []mergeField{truncated("y", 20), quantized("z", 10, 0, 1023)},
		second: []mergeField{truncated("y", 20), quantized("z", 10, 0, 1023)}},
	{name: "other bits", first: []mergeField{truncated("y", 20)}, second: []mergeField{truncated("y", 24)}},
	{name: "other quantized bits", first: []mergeField{quantized("y", 10, 0, 1023)},
		second: []mergeField{quantized("y", 12, 0, 1023)}},
	{name: "other range", first: []mergeField{quantized("y", 10, 0, 1023)},
		second: []mergeField{quantized("y", 10, -1, 1022)}},
	{name: "bits extra", second: []mergeField{truncated("y", 20), quantized("z", 10, 0, 1023)}},
	{name: "bits missing", first: []mergeField{truncated("y", 20), quantized("z", 10, 0, 1023)}},
	{name: "zero out of range", first: []mergeField{quantized("y", 7, 1, 128)}},
	{name: "compression", edit: func(_, second *mergeFile) { second.Compression = 404 }},
	{name: "to no compression", edit: func(first, _ *mergeFile) { first.Compression = 0 }},
	{name: "from no compression", edit: func(_, second *mergeFile) { second.Compression = 0 }},
	{name: "empty first", edit: func(first, _ *mergeFile) { first.Entries = 0 }},
	{name: "empty second", edit: func(_, second *mergeFile) { second.Entries = 0 }},
	{name: "both empty", edit: func(first, second *mergeFile) { first.Entries, second.Entries = 0, 0 }},
	{name: "empty first, extra", second: mergeMore, edit: func(first, _ *mergeFile) { first.Entries = 0 }},
	{name: "empty second, extra", second: mergeMore, edit: func(_, second *mergeFile) { second.Entries = 0 }},

	{name: "several representations", first: []mergeField{plain("y", "float", "Real32", "SplitReal32")},
		second: []mergeField{plain("y", "float", "Real32", "SplitReal32")}},
	{name: "several representations second", first: []mergeField{plain("y", "float")},
		second: []mergeField{plain("y", "float", "SplitReal32", "Real16")}},
	{name: "class", first: []mergeField{class(1, 7, "a", "b")}, second: []mergeField{class(1, 7, "a", "b")}},
	{name: "class without checksum", first: []mergeField{class(1, 7, "a", "b")},
		second: []mergeField{class(1, 0, "a", "b")}},
	{name: "class version", first: []mergeField{class(1, 7, "a", "b")}, second: []mergeField{class(2, 7, "a", "b")}},
	{name: "class checksum", first: []mergeField{class(1, 7, "a", "b")}, second: []mergeField{class(1, 8, "a", "b")}},
	{name: "members in other order", first: []mergeField{class(1, 7, "a", "b")},
		second: []mergeField{class(1, 7, "b", "a")}},
	{name: "fewer members", first: []mergeField{class(1, 7, "a", "b")}, second: []mergeField{class(1, 7, "a")}},
	{name: "other members", first: []mergeField{class(1, 7, "a", "b")}, second: []mergeField{class(1, 7, "a", "c")}},
}

// oursOnly reports whether ROOT cannot write the files of the case.
func (c mergeCase) oursOnly() bool {
	return slices.ContainsFunc(slices.Concat(c.first, c.second),
		func(f mergeField) bool { return f.class != nil || len(f.Columns) > 1 })
}

// A mergeJob is two inputs that this library and ROOT merge.
type mergeJob struct {
	Inputs      []string `json:"inputs"`
	Name        string   `json:"name"`
	Mode        string   `json:"mode"`
	Compression int      `json:"compression"` // 0: that of the first input
	Out         string   `json:"out"`
	Only        string   `json:"only"` // an option of written_check.py

	kase string // its name
	what string
	ours string
	mode surgery.Mode
	want []string // entries, if known
}

// A mergeView is what ROOT reports about a merge and its output.
type mergeView struct {
	rootView
	Refused, Failed string
}

// A mergeDifference is a known difference between ROOT's merger and ours.
type mergeDifference struct {
	cases, kind, why string
}

const (
	rootRefuses   = "ROOT refuses" // and we do not
	weRefuse      = "we refuse"    // and ROOT does not
	rootBroken    = "ROOT cannot read its output"
	otherSchema   = "the schemas differ"
	otherContents = "the contents differ"
	otherSets     = "the attribute sets differ"
	weCannotRead  = "we cannot read ROOT's output"
)

var mergeDifferences = []mergeDifference{
	{"several representations( second)?|special_multirep.*", rootRefuses,
		"its merger knows one representation only; here they are kept or unified"},
	{"bits (extra|missing)", rootRefuses, "in union mode: it has no zeros for columns of a chosen number of bits"},
	{"special_nochecksum", rootRefuses, "it aborts on pages without checksums"},
	{"special_streamer", rootRefuses, "it wants the dictionary of the class"},
	{"types_zstd_empty", rootRefuses,
		"an RNTuple without entries has no compression to take over; here the default is taken"},
	{"late both", rootBroken, "to deferred columns it adds zeros that are stored, and aborts when it reads them"},
	{"unsplit extra", otherSchema,
		"fields that are added get the default encoding; here they keep theirs, and pages are copied"},
	{"late extra", otherSchema,
		"a field that is added begins with its input, and zeros are stored; here it begins where it does in the input"},
	{"special_attributes", otherSets, "it drops attribute sets; here they are kept, with their ranges moved"},
	{"special_dirs", otherContents, "an RNTuple with two cycles is merged twice there, the newest one each time"},
}

// TestMerge merges the same inputs with this library and with ROOT, as hadd does.
// Either both refuse them, or the outputs agree in entries, schema and the
// beginnings of columns.
func TestMerge(t *testing.T) {
	needed(t)
	var plan struct {
		Files []mergeFile `json:"files"`
		Jobs  []*mergeJob `json:"jobs"`
	}
	dir := t.TempDir()
	for n, c := range mergeCases {
		files, jobs := c.plan(t, filepath.Join(dir, fmt.Sprint(n)))
		plan.Files, plan.Jobs = append(plan.Files, files...), append(plan.Jobs, jobs...)
	}
	plan.Jobs = append(plan.Jobs, mergeGood(t, dir)...)
	root := mergedByROOT(t, plan)
	if len(root) != len(plan.Jobs) {
		t.Fatalf("ROOT did %d merges of %d", len(root), len(plan.Jobs))
	}

	refused := make([]error, len(plan.Jobs))
	args := map[string][]string{"--columns": {"--columns"}}
	for i, j := range plan.Jobs {
		if refused[i] = j.merge(t.Context()); refused[i] == nil {
			args[j.Only] = append(args[j.Only], j.ours+":"+j.Name)
		}
	}
	views := slices.Concat(rootViews(t, args[""]...), rootViews(t, args["--columns"]...)) // in the order of the jobs
	counts, used := map[string]int{}, map[mergeDifference]int{}
	for i, j := range plan.Jobs {
		var view rootView
		if refused[i] == nil {
			view, views = views[0], views[1:]
		}
		kind, detail := j.judge(t, refused[i], root[i], view)
		counts[kind]++
		if kind == "both refuse" || kind == "both merge" {
			continue
		}
		n := slices.IndexFunc(mergeDifferences, func(d mergeDifference) bool {
			return d.kind == kind && regexp.MustCompile("^("+d.cases+")$").MatchString(j.kase)
		})
		if n < 0 {
			t.Errorf("%s: %s: %.4000s", j.what, kind, detail)
			continue
		}
		used[mergeDifferences[n]]++
	}
	t.Log(counts)
	for _, d := range mergeDifferences {
		t.Logf("%s, %d times: %s: %s", d.kind, used[d], d.cases, d.why)
		if used[d] == 0 {
			t.Errorf("there is no such difference any longer")
		}
	}
}

// plan writes our inputs, and returns those that ROOT has to write and the jobs: in
// every mode, with inputs of all writers.
func (c mergeCase) plan(t *testing.T, base string) (files []mergeFile, jobs []*mergeJob) {
	first := mergeFile{Compression: 505, Entries: 12, Cluster: 5, Fields: slices.Concat(mergeBase, c.first)}
	second := mergeFile{Compression: 505, Entries: 11, Cluster: 4, Fields: slices.Concat(mergeBase, c.second), Start: 40}
	if c.edit != nil {
		c.edit(&first, &second)
	}
	writers := []string{"ours", "ROOT's"}
	if c.oursOnly() {
		writers = writers[:1]
	}
	var paths [2][]string // by writer
	for i, f := range []mergeFile{first, second} {
		for _, writer := range writers {
			f.Path = fmt.Sprintf("%s_%d_%s.root", base, i, strings.TrimSuffix(writer, "'s"))
			paths[i] = append(paths[i], f.Path)
			if writer == "ours" {
				f.write(t)
			} else {
				files = append(files, f)
			}
		}
	}
	union := slices.Clone(first.Fields)
	for _, f := range second.Fields {
		if first.field(f.Name) == nil {
			union = append(union, f)
		}
	}
	for a, in0 := range paths[0] {
		for b, in1 := range paths[1] {
			for _, mode := range []surgery.Mode{surgery.Filter, surgery.Strict, surgery.Union} {
				if mode != surgery.Union && len(writers) > 1 && (a == b || a == int(mode)) {
					continue // there are enough
				}
				fields := first.Fields
				if mode == surgery.Union {
					fields = union
				}
				j := newMergeJob(in0, in1, "n", mode, fmt.Sprintf("%s_%d%d", base, a, b))
				j.kase, j.want = c.name, append(first.lines(fields), second.lines(fields)...)
				j.what = fmt.Sprintf("%s, %v, %s and %s", c.name, mode, writers[a], writers[b])
				if first.Compression == 0 || first.Entries == 0 {
					j.Compression = 505
				}
				jobs = append(jobs, j)
			}
		}
	}
	return files, jobs
}

func newMergeJob(first, second, name string, mode surgery.Mode, base string) *mergeJob {
	return &mergeJob{
		Inputs: []string{first, second}, Name: name, mode: mode, Mode: mode.String(),
		Out: fmt.Sprintf("%s_%v_ROOT.out", base, mode), ours: fmt.Sprintf("%s_%v_ours.out", base, mode),
	}
}

// mergeGood lists files of ROOT that are merged with themselves.
func mergeGood(t *testing.T, dir string) (jobs []*mergeJob) {
	for _, in := range []string{
		"special_late:late", "special_late_none:late", "special_dirs:top", "special_chunks_none:chunks",
		"special_chunks_zstd:chunks",
		"special_attributes:main", "special_samepage:same", "special_nochecksum:plain", "special_zero:zero",
		"special_streamer:streamed",
		"special_soa:soa", "special_multirep:multi", "special_multirep_none:multi", "special_multirep_late:multi",
		"types_zstd_empty:types",
	} {
		base, name, _ := strings.Cut(in, ":")
		path, err := filepath.Abs("../../testdata/good/" + base + ".root")
		if err != nil {
			t.Fatal(err)
		}
		j := newMergeJob(path, path, name, surgery.Strict, filepath.Join(dir, base+name))
		j.kase, j.what, j.Only = base, in, "--columns"
		jobs = append(jobs, j)
	}
	return jobs
}

// merge merges with this library.
func (j *mergeJob) merge(ctx context.Context) error {
	var inputs []surgery.Input
	for _, path := range j.Inputs {
		inputs = append(inputs, surgery.Input{Path: path, Name: j.Name})
	}
	opts := &surgery.MergeOptions{Mode: j.mode, Name: j.Name}
	opts.Write.Compression = compress.Settings(j.Compression)
	_, err := surgery.Merge(ctx, j.ours, inputs, opts)
	return err
}

// judge compares the results of a job here and in ROOT.
func (j *mergeJob) judge(t *testing.T, refused error, root mergeView, view rootView) (kind, detail string) {
	var incompatible *surgery.IncompatibleError
	switch {
	case refused != nil && !errors.As(refused, &incompatible) && !errors.Is(refused, rntuple.ErrRange):
		return "we fail", refused.Error()
	case refused != nil && root.Refused != "":
		return "both refuse", ""
	case refused != nil:
		return weRefuse, refused.Error()
	}
	if j.want != nil {
		sameEntries(t, j.what, view, j.want...)
	}
	first, ours := schemasOf(t, j.Inputs[0], j.Name), schemasOf(t, j.ours, j.Name)
	if !reflect.DeepEqual(ours[0], first[0]) {
		t.Errorf("%s: the header has\n\t%+v\nthat of the first input\n\t%+v", j.what, ours[0], first[0])
	}
	if root.Refused != "" {
		return rootRefuses, root.Refused
	}
	if root.Failed != "" {
		return rootBroken, root.Failed
	}
	if roots := schemasOf(t, j.Out, j.Name); !reflect.DeepEqual(ours, roots) {
		for i := range ours {
			if a, b := fmt.Sprintf("%+v", ours[i]), fmt.Sprintf("%+v", roots[i]); a != b {
				return otherSchema, fmt.Sprintf("\n\t%s\nROOT's\n\t%s", a, b)
			}
		}
	}
	if !reflect.DeepEqual(view.Entries, root.Entries) || !slices.Equal(view.Columns, root.Columns) {
		return otherContents, fmt.Sprintf("\n\t%v\n\t%v\nROOT's\n\t%v\n\t%v", view.Columns, view.Entries,
			root.Columns, root.Entries)
	}
	got, err := judgeLines(j.ours, j.Name)
	if err != nil {
		return "we cannot read our output", err.Error()
	}
	want, err := judgeLines(j.Out, j.Name)
	if err != nil {
		return weCannotRead, err.Error()
	}
	if !slices.Equal(got, want) {
		return "we read other contents", fmt.Sprintf("\n\t%.500s\nROOT's\n\t%.500s", got, want)
	}
	if err := sameToCompare(t, j.ours, j.Out, j.Name); err != nil {
		return "package compare finds a difference", err.Error()
	}
	if a, b := setsOf(t, j.ours, j.Name), setsOf(t, j.Out, j.Name); !slices.Equal(a, b) {
		return otherSets, fmt.Sprintf("%q, ROOT's %q", a, b)
	}
	return "both merge", ""
}

// judgeLines returns the entries of an RNTuple as this library reads them, in the
// form of package golden.
func judgeLines(path, name string) (lines []string, err error) {
	r, err := rntuple.Open(path, name, nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	err = golden.Entries(r, func(_ int64, line []byte) error {
		lines = append(lines, string(line))
		return nil
	})
	return lines, err
}

// sameToCompare expects package compare to find no differences.
func sameToCompare(t *testing.T, a, b, name string) error {
	t.Helper()
	var readers [2]*rntuple.Reader
	for i, path := range []string{a, b} {
		r, err := rntuple.Open(path, name, nil)
		if err != nil {
			return err
		}
		defer r.Close()
		readers[i] = r
	}
	result, err := diff.Values(t.Context(), readers[0], readers[1], nil)
	if err == nil && !result.Equal() {
		err = fmt.Errorf("%+v", result)
	}
	return err
}

// setsOf returns the names of an RNTuple's attribute sets.
func setsOf(t *testing.T, path, name string) (names []string) {
	t.Helper()
	r, err := rntuple.Open(path, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, s := range r.AttributeSets() {
		names = append(names, s.Name)
	}
	return names
}

// schemasOf returns the descriptors in the header and the footer of a file.
func schemasOf(t *testing.T, path, name string) [2]envelope.Schema {
	t.Helper()
	r, err := rntuple.Open(path, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	d := [2]envelope.Schema{r.Header().Schema}
	if extension := r.Footer().Extension; extension != nil {
		d[1] = *extension
	}
	for i := range d { // nil or empty
		d[i].Fields = append([]envelope.Field{}, d[i].Fields...)
		d[i].Columns = append([]envelope.Column{}, d[i].Columns...)
		d[i].Aliases = append([]envelope.Alias{}, d[i].Aliases...)
		d[i].ExtraTypes = append([]envelope.ExtraTypeInfo{}, d[i].ExtraTypes...)
	}
	return d
}

// mergedByROOT has ROOT do the jobs of a plan.
func mergedByROOT(t *testing.T, plan any) (views []mergeView) {
	t.Helper()
	b, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "plan.json")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(script(t, "merge.py", "merge", path)) {
		var v mergeView
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		views = append(views, v)
	}
	return views
}
