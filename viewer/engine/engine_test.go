package engine

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log"
	"maps"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/expression"
	"github.com/go-rntuple/go-rntuple/internal/draw"
	"github.com/go-rntuple/go-rntuple/internal/judge"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/internal/wire"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

const (
	testdata = "../../testdata"
	good     = testdata + "/good"
	dimuon   = testdata + "/dimuon.root"
)

// served are the files that URLs of the scheme test stand for.
var (
	served     sync.Map // of backends, by number
	servedLast atomic.Int64
)

func init() {
	remote.Register("test", func(u *url.URL, _ *remote.Options) (remote.Backend, error) {
		b, ok := served.Load(u.Host)
		if !ok {
			return nil, fs.ErrNotExist
		}
		return b.(*backend), nil
	})
}

// A backend is a file in memory.
type backend struct {
	b       []byte
	reading func(ctx context.Context) error // called for each read; may be nil

	reads atomic.Int64 // bytes
}

func (b *backend) Open(_ context.Context, _ int64, arrived func(int)) (remote.Info, error) {
	arrived(0)
	return remote.Info{Size: int64(len(b.b))}, nil
}

func (b *backend) Read(ctx context.Context, _ remote.Info, ranges []remote.Range, arrived func(int)) (int, error) {
	if b.reading != nil {
		if err := b.reading(ctx); err != nil {
			return 0, err
		}
	}
	for _, r := range ranges {
		n := copy(r.Data, b.b[r.Offset:])
		arrived(n)
		b.reads.Add(int64(n))
	}
	return len(ranges), nil
}

func (b *backend) Ranges() (n int, gap, least int64) { return 1, 0, 0 }

func (b *backend) Close() error { return nil }

// serve returns the URL of a backend.
func serve(t *testing.T, b *backend) string {
	t.Helper()
	host := strconv.FormatInt(servedLast.Add(1), 10)
	served.Store(host, b)
	t.Cleanup(func() { served.Delete(host) })
	return "test://" + host + "/file.root"
}

// read returns the bytes of a file.
func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// try asks an engine, and returns what comes as the page gets it, or the error.
func try[T any](e *Engine, method string, params any, progress func(Answer)) (to T, b Bytes, err error) {
	text, err := json.Marshal(params)
	if err != nil {
		return to, nil, err
	}
	a, err := e.Do(context.Background(), method, text, progress)
	if err != nil {
		return to, nil, err
	}
	if text, err = json.Marshal(a.JSON); err == nil {
		err = json.Unmarshal(text, &to)
	}
	return to, a.Bytes, err
}

// ask is try for requests that succeed.
func ask[T any](t *testing.T, e *Engine, method string, params any) T {
	t.Helper()
	to, _, err := try[T](e, method, params, nil)
	if err != nil {
		t.Fatalf("%s %v: %v", method, params, err)
	}
	return to
}

// opened returns an engine that has a file open, and what it says of it.
func opened(t *testing.T, path string) (*Engine, Opened) {
	t.Helper()
	e := new(Engine)
	return e, ask[Opened](t, e, "open", map[string]any{"url": serve(t, &backend{b: read(t, path)}), "name": filepath.Base(path)})
}

// UnmarshalJSON is that of Int, for tests.
func (i *Int) UnmarshalJSON(b []byte) (err error) {
	n, err := strconv.ParseInt(strings.Trim(string(b), `"`), 10, 64)
	*i = Int(n)
	return err
}

// expected returns the RNTuples whose values ROOT has printed.
func expected(t *testing.T) (all []judge.Expected) {
	t.Helper()
	for _, name := range []string{"manifest.json", "special_manifest.json"} {
		some, err := judge.Manifest(filepath.Join(good, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range some {
			if e.AttrSet == "" && e.JSONL != "" {
				all = append(all, e)
			}
		}
	}
	return all
}

// bits are floats in what ROOT has printed.
var bits = regexp.MustCompile(`"0x([0-9a-f]{8}|[0-9a-f]{16})"`)

// asCat returns values that ROOT has printed in the form of rnt cat: floats as numbers.
func asCat(b []byte) []byte {
	return bits.ReplaceAllFunc(b, func(b []byte) []byte {
		digits := string(b[3 : len(b)-1])
		n, err := strconv.ParseUint(digits, 16, 64)
		if err != nil {
			panic(err) // the expression has matched
		}
		if len(digits) == 8 {
			return value.AppendJSON(nil, math.Float32frombits(uint32(n)))
		}
		return value.AppendJSON(nil, math.Float64frombits(n))
	})
}

// differs reports whether ROOT's values of a field have another form than those of rnt cat, but for floats.
func differs(f *schema.Field) bool {
	return f.Shape == schema.Variant || f.Shape == schema.Streamer || f.Kind().IsUnordered() || slices.ContainsFunc(f.Children, differs)
}

// TestRows compares the rows of all files with what ROOT has read.
func TestRows(t *testing.T) {
	compared := 0
	for _, x := range expected(t) {
		t.Run(x.JSONL, func(t *testing.T) {
			e, o := opened(t, filepath.Join(good, x.File))
			i := slices.IndexFunc(o.NTuples, func(n NTuple) bool { return n.Name == x.Ntuple })
			if i < 0 { // the newest cycle is not named
				x.Ntuple, _, _ = strings.Cut(x.Ntuple, ";")
				i = slices.IndexFunc(o.NTuples, func(n NTuple) bool { return n.Name == x.Ntuple })
			}
			if i < 0 || int64(o.NTuples[i].Entries) != x.Entries || o.NTuples[i].Error != nil {
				t.Fatalf("%+v has no %s of %d entries", o.NTuples, x.Ntuple, x.Entries)
			}
			r, err := rntuple.Open(filepath.Join(good, x.File), x.Ntuple)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			zipped, err := gzip.NewReader(bytes.NewReader(read(t, filepath.Join(good, x.JSONL))))
			if err != nil {
				t.Fatal(err)
			}
			want := bufio.NewReader(zipped)
			for first := int64(0); first < x.Entries; {
				rows := ask[Rows](t, e, "rows", map[string]any{"ntuple": x.Ntuple, "first": first, "count": 7})
				if int64(rows.First) != first || len(rows.Lines) == 0 || len(rows.Lines) > 7 {
					t.Fatalf("%d rows from %d on", len(rows.Lines), rows.First)
				}
				first += int64(len(rows.Lines))
				for _, line := range rows.Lines {
					text, err := want.ReadBytes('\n')
					if err != nil {
						t.Fatal(err)
					}
					var a, b map[string]json.RawMessage
					if err := errors.Join(json.Unmarshal([]byte(line), &a), json.Unmarshal(text, &b)); err != nil {
						t.Fatal(err)
					}
					for _, f := range r.Schema().Fields {
						if differs(f) {
							continue
						}
						if compared++; !bytes.Equal(a[f.Name], asCat(b[f.Name])) {
							t.Errorf("field %s is %s, want %s", f.Name, a[f.Name], asCat(b[f.Name]))
						}
					}
				}
			}
			if rows := ask[Rows](t, e, "rows", map[string]any{"ntuple": x.Ntuple, "first": x.Entries, "count": 7}); len(rows.Lines) > 0 {
				t.Errorf("there are rows behind the end")
			}
		})
	}
	if compared < 1000 {
		t.Errorf("only %d values were compared", compared)
	}
}

// TestNewest has a list of keys that has an older cycle before the newest. The latter is the default.
func TestNewest(t *testing.T) {
	b := read(t, good+"/special_dirs.root")
	f, err := rootfile.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	list := b[f.Root.SeekKeys:][:f.Root.NBytesKeys]
	var keys rootfile.KeyList
	keys.Wire(wire.NewReader(list, "", 0).BigEndian())
	slices.Reverse(keys.Keys)
	c := wire.NewWriter(nil, "").BigEndian()
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

// TestOpen opens all files, and compares the fields with those of package schema. Every expression that it gives for a field is one.
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
		infos, err := rntuple.ListFile(path)
		if err != nil || len(infos) != len(o.NTuples) {
			t.Fatalf("%s: %d RNTuples, want %d, %v", path, len(o.NTuples), len(infos), err)
		}
		for i, n := range o.NTuples {
			r, err := rntuple.Open(path, infos[i].Path)
			if err != nil {
				t.Fatal(err)
			}
			in, err := r.Inspect(nil)
			if err != nil {
				t.Fatal(err)
			}
			if n.Name != infos[i].Path || int64(n.Entries) != r.NumEntries() || int(n.Clusters) != in.Clusters || n.Groups != in.ClusterGroups ||
				n.Columns != len(in.Columns) || int64(*n.Compressed) != in.Total.OwnDisk() || int64(*n.Uncompressed) != in.Total.Packed || n.Version != r.FormatVersion() {
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
					if got.Path != want.Path() || got.Name != want.Name || got.Type != want.CppType() || got.Description != want.Description ||
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
						plan := draw.Plan{Program: p, Names: []string{got.Expression}, Curves: []draw.Curve{{Y: -1, Weight: -1, Where: -1}}, X: draw.Binning{Most: 10, Range: draw.Auto}}
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

// TestHistogram compares histograms with loops over the values.
func TestHistogram(t *testing.T) {
	e, _ := opened(t, dimuon)
	r, err := rntuple.Open(dimuon, "Events")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var want Histogram
	want.Bins = make([]float64, 20)
	n, sum, squares := 0.0, 0.0, 0.0
	type event struct {
		N  uint32    `rntuple:"nMuon"`
		Pt []float32 `rntuple:"Muon_pt"`
	}
	for ev, err := range rntuple.Entries[event](r) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.N != 2 {
			continue
		}
		for _, x := range ev.Pt {
			want.Entries++
			switch pt := float64(x); {
			case pt < 5:
				want.Under++
			case pt >= 25:
				want.Over++
			default:
				want.Bins[int(pt-5)]++
				n, sum, squares = n+1, sum+pt, squares+pt*pt
			}
		}
	}
	params := map[string]any{"ntuple": "Events", "expression": "Muon_pt", "where": "nMuon == 2", "bins": 20, "low": 5, "high": 25}
	var last Progress
	text, _ := json.Marshal(params)
	turns := 0
	e.GiveWay = func() { turns++ }
	a, err := e.Do(t.Context(), "histogram", text, func(a Answer) { last = a.JSON.(Progress) })
	if err != nil {
		t.Fatal(err)
	}
	h := a.JSON.(*Histogram)
	mean := sum / n
	if h.Kind != "number" || h.Low != 5 || h.High != 25 || !slices.Equal(h.Bins, want.Bins) || h.Under != want.Under || h.Over != want.Over || h.Entries != want.Entries ||
		h.NaN != 0 || math.Abs(*h.Mean-mean) > 1e-9 || math.Abs(*h.StdDev-math.Sqrt(squares/n-mean*mean)) > 1e-6 {
		t.Errorf("%+v, want %+v with the mean %g", h, want, mean)
	}
	if last.Done != Int(r.NumEntries()) || last.Total != last.Done || last.Unit != "entries" || turns == 0 {
		t.Errorf("progress %+v, %d turns", last, turns)
	}
	// Without a range, all values are within.
	auto := ask[Histogram](t, e, "histogram", map[string]any{"expression": "Muon_pt", "where": "nMuon == 2"})
	total := 0.0
	for _, b := range auto.Bins {
		total += b
	}
	if total != float64(want.Entries) || auto.Under != 0 || auto.Over != 0 || len(auto.Edges) != len(auto.Bins)+1 || auto.Low != auto.Edges[0] {
		t.Errorf("%+v, want %d values", auto, want.Entries)
	}
	logarithmic := ask[Histogram](t, e, "histogram", map[string]any{"expression": "Muon_pt", "bins": 4, "low": 1, "high": 10000, "logx": true})
	for i, edge := range logarithmic.Edges {
		if math.Abs(edge-math.Pow(10, float64(i))) > 1e-9*edge {
			t.Errorf("edges %v", logarithmic.Edges)
		}
	}
	words := ask[Histogram](t, e, "histogram", map[string]any{"expression": "nMuon == 2 ? 'two' : 'other'"})
	if words.Kind != "text" || len(words.Labels) != 2 || len(words.Bins) != 2 || words.Bins[0]+words.Bins[1] != float64(r.NumEntries()) || words.Mean != nil {
		t.Errorf("%+v", words)
	}
}

// TestStorage compares the runs of pages with the page lists, and the map with the sizes of columns.
func TestStorage(t *testing.T) {
	for _, path := range []string{dimuon, good + "/types_zstd_many.root", good + "/types_zlib_groups.root", good + "/special_late.root", good + "/special_samepage.root"} {
		e, o := opened(t, path)
		r, err := rntuple.Open(path, o.NTuples[0].Name)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		in, err := r.Inspect(nil)
		if err != nil {
			t.Fatal(err)
		}
		s := ask[Storage](t, e, "storage", map[string]any{})
		ranges, err := r.Clusters()
		if err != nil || len(s.Strip.Clusters) != len(ranges) || s.Strip.Truncated {
			t.Fatalf("%s: %d clusters, %v", path, len(s.Strip.Clusters), err)
		}
		disk := in.Total.OwnDisk() + in.Total.ChecksumDisk + int64(in.Header.Disk+in.Footer.Disk+in.PageLists.Disk)
		if s.Map.Compressed != Int(disk) {
			t.Errorf("%s: the map has %d bytes, want %d", path, s.Map.Compressed, disk)
		}
		// Every page is in a run of its column and cluster, and nothing else is.
		covered := map[[3]int64]int64{} // by column, cluster and run
		pages := 0
		for n := range ranges {
			c := ask[ClusterPages](t, e, "storage", map[string]any{"cluster": n})
			if len(c.Columns) != len(in.Columns) {
				t.Fatalf("%s: %d columns, want %d", path, len(c.Columns), len(in.Columns))
			}
			for id, column := range c.Columns {
				seen := map[Int]bool{}
				for _, p := range column.Pages {
					pages++
					if p.Length == 0 || seen[p.Offset] {
						continue
					}
					seen[p.Offset] = true
					end := p.Offset + p.Length
					if p.Checksum {
						end += 8
					}
					i := slices.IndexFunc(s.Strip.Columns[id].Runs, func(run [3]Int) bool { return run[0] <= p.Offset && end <= run[0]+run[1] })
					if i < 0 {
						t.Fatalf("%s: page at %d of %s is in no run", path, p.Offset, column.Path)
					}
					covered[[3]int64{int64(id), int64(s.Strip.Columns[id].Runs[i][2]), int64(i)}] += int64(end - p.Offset)
				}
			}
		}
		if int64(pages) != in.Total.Pages {
			t.Errorf("%s: %d pages, want %d", path, pages, in.Total.Pages)
		}
		for id, column := range s.Strip.Columns {
			for i, run := range column.Runs {
				if got := covered[[3]int64{int64(id), int64(run[2]), int64(i)}]; in.Total.Shared == 0 && got != int64(run[1]) {
					t.Errorf("%s: a run of %s has %d bytes, its pages %d", path, column.Path, run[1], got)
				}
			}
		}
		if len(s.Strip.Others) != 2+in.ClusterGroups {
			t.Errorf("%s: %+v", path, s.Strip.Others)
		}
	}
}

// TestManyRuns joins runs when there are too many.
func TestManyRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.root")
	type event struct {
		A, B, C int64
	}
	w, err := rntuple.Create[event](path, "t", rntuple.ClusterSize(1))
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(maxRuns/2 + 100) {
		if err := w.Write(&event{i, i, i}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	e, o := opened(t, path)
	s := ask[Storage](t, e, "storage", map[string]any{})
	n := 0
	for _, c := range s.Strip.Columns {
		n += len(c.Runs)
		for i, run := range c.Runs {
			if run[0]+run[1] > s.Strip.Size || i > 0 && run[0] < c.Runs[i-1][0]+c.Runs[i-1][1] {
				t.Fatalf("runs %v of %s", c.Runs[max(0, i-1):i+1], c.Path)
			}
		}
	}
	if o.NTuples[0].Clusters < maxRuns/3 {
		t.Fatalf("only %d clusters", o.NTuples[0].Clusters)
	}
	if !s.Strip.Truncated || n > maxRuns || n < maxRuns/10 {
		t.Errorf("%d runs, truncated: %v", n, s.Strip.Truncated)
	}
}

// TestRecords compares the bytes of records with those of the file, and what is listed with what is shown.
func TestRecords(t *testing.T) {
	for _, path := range []string{dimuon, good + "/special_dirs.root", good + "/types_none_one.root"} {
		e, o := opened(t, path)
		content := read(t, path)
		list := ask[struct {
			Records  []RecordInfo
			Warnings []string
		}](t, e, "records", map[string]any{})
		whats := map[string]int{}
		for _, info := range list.Records {
			whats[info.What]++
			got, b, err := try[Record](e, "record", map[string]any{"id": info.ID}, nil)
			if err != nil {
				t.Errorf("%s: %+v: %v", path, info, err)
				continue
			}
			if got.Offset != info.Offset || got.Length != info.Length || got.Error != "" || got.Truncated {
				t.Errorf("%s: %+v, want %+v", path, got, info)
			}
			stored := content[info.Offset : info.Offset+info.Length]
			plain := b["bytes"]
			switch {
			case got.Compressed && (!bytes.Equal(b["compressedBytes"], stored) || len(plain) <= len(stored)):
				t.Errorf("%s: %s: %d bytes as stored, %d uncompressed", path, info.Name, len(b["compressedBytes"]), len(plain))
			case !got.Compressed && !bytes.HasPrefix(stored, plain):
				t.Errorf("%s: %s has other bytes", path, info.Name)
			}
			end := 0
			for _, m := range got.Meanings {
				if m.Offset != end {
					t.Errorf("%s: %s: a member is at %d, want %d", path, info.Name, m.Offset, end)
				}
				end += m.Length
			}
			if end != len(plain) {
				t.Errorf("%s: %s: meanings of %d of %d bytes", path, info.Name, end, len(plain))
			}
			at, _, err := try[Record](e, "record", map[string]any{"at": info.Offset}, nil)
			if err != nil || at.Offset > info.Offset || at.Offset+at.Length <= info.Offset {
				t.Errorf("%s: the record at %d: %s at %d, %v", path, info.Offset, at.Name, at.Offset, err)
			}
		}
		if len(list.Warnings) > 0 || whats["container"] < 4 || len(whats) != 1+len(o.NTuples) {
			t.Errorf("%s: %v, %v", path, whats, list.Warnings)
		}
		for _, n := range o.NTuples {
			if whats["ntuple "+n.Name] < 4 {
				t.Errorf("%s: records %v", path, whats)
			}
		}
		c := ask[ClusterPages](t, e, "storage", map[string]any{"ntuple": o.NTuples[0].Name, "cluster": 0})
		for _, column := range c.Columns {
			for _, p := range column.Pages {
				got, _, err := try[Record](e, "record", map[string]any{"id": p.ID}, nil)
				if err != nil || got.Offset != p.Offset || len(got.Elements) != min(int(p.Elements), maxElements) {
					t.Fatalf("%s: page of %s: %+v, %v", path, column.Path, got, err)
				}
			}
		}
	}
}

// TestVerify finds damage, and none where there is none.
func TestVerify(t *testing.T) {
	content := read(t, dimuon)
	e := new(Engine)
	o := ask[Opened](t, e, "open", map[string]any{"url": serve(t, &backend{b: content}), "name": "a.root"})
	if v := ask[Verdict](t, e, "verify", map[string]any{}); !v.OK || len(v.Findings) > 0 || v.Pages == 0 || o.Name != "a.root" {
		t.Errorf("%+v", v)
	}
	pages := ask[ClusterPages](t, e, "storage", map[string]any{"cluster": 0})
	page := pages.Columns[0].Pages[0]
	content[page.Offset+page.Length/2] ^= 1
	ask[Opened](t, e, "open", map[string]any{"url": serve(t, &backend{b: content})})
	v := ask[Verdict](t, e, "verify", map[string]any{"ntuple": "Events"})
	if v.OK || len(v.Findings) != 1 || v.Findings[0].Offset == nil || *v.Findings[0].Offset != page.Offset || v.Findings[0].What != "pages" || v.Findings[0].Severity != "error" {
		t.Errorf("%+v", v)
	}
	_, _, err := try[Rows](e, "rows", map[string]any{"count": 1}, nil)
	if err == nil || ErrorOf(err).Kind != "checksum" || ErrorOf(err).Offset == nil {
		t.Errorf("%+v", err)
	}
}

// TestDownload compares downloads with rows.
func TestDownload(t *testing.T) {
	e, _ := opened(t, dimuon)
	get := func(params map[string]any) (d Downloaded, text []byte) {
		t.Helper()
		d, _, err := try[Downloaded](e, "download", params, func(a Answer) { text = append(text, a.Bytes["chunk"]...) })
		if err != nil {
			t.Fatalf("%v: %v", params, err)
		}
		return d, text
	}
	rows := ask[Rows](t, e, "rows", map[string]any{"first": 5, "count": 1000, "fields": []string{"run", "Muon_pt"}})
	d, text := get(map[string]any{"format": "jsonl", "first": 5, "count": 1000, "fields": []string{"run", "Muon_pt"}})
	if want := strings.Join(rows.Lines, "\n") + "\n"; string(text) != want || d.Rows != 1000 || d.Name != "dimuon_Events.jsonl" || d.MIME != "application/jsonl" {
		t.Errorf("%+v, %d bytes, want %d", d, len(text), len(want))
	}
	two := 0
	numbers := ask[Rows](t, e, "rows", map[string]any{"first": 5, "count": 1000, "fields": []string{"nMuon"}})
	for _, line := range numbers.Lines {
		if line == `{"nMuon":2}` {
			two++
		}
	}
	d, text = get(map[string]any{"format": "csv", "first": 5, "count": 1000, "fields": []string{"nMuon", "Muon_pt"}, "where": "nMuon == 2"})
	table, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || int(d.Rows) != two || len(table) != two+1 || two == 0 || !slices.Equal(table[0], []string{"nMuon", "Muon_pt"}) || table[1][0] != "2" {
		t.Errorf("%+v, %d rows, want %d, %v", d, len(table), two, err)
	}
	d, text = get(map[string]any{"format": "csv", "fields": []string{"run"}, "where": "nMuon < 0"})
	if d.Rows != 0 || string(text) != "run\n" {
		t.Errorf("%+v, %q", d, text)
	}
	d, text = get(map[string]any{"format": "jsonl"})
	if int(d.Rows) != 80_000 || bytes.Count(text, []byte("\n")) != 80_000 {
		t.Errorf("%+v", d)
	}
}

// TestRanges makes sure that little is read where little is needed.
func TestRanges(t *testing.T) {
	b := &backend{b: read(t, dimuon)}
	e := new(Engine)
	ask[Opened](t, e, "open", map[string]any{"url": serve(t, b)})
	ask[Rows](t, e, "rows", map[string]any{"first": 70_000, "count": 10, "fields": []string{"run"}})
	s := ask[Stats](t, e, "stats", nil)
	for range 6000 { // a request may be under way that is not wanted any more
		if int64(s.BytesRead) == b.reads.Load() {
			break
		}
		time.Sleep(10 * time.Millisecond)
		s = ask[Stats](t, e, "stats", nil)
	}
	if n := b.reads.Load(); int64(s.BytesRead) != n || n > int64(len(b.b)/2) || s.Requests == 0 {
		t.Errorf("%+v; %d of %d bytes were read", s, n, len(b.b))
	}
}

// TestErrors tells errors apart.
func TestErrors(t *testing.T) {
	content := read(t, dimuon)
	e := new(Engine)
	fails := func(kind, method string, params any) {
		t.Helper()
		_, _, err := try[json.RawMessage](e, method, params, nil)
		if err == nil {
			t.Errorf("%s %v succeeds", method, params)
		} else if got := ErrorOf(err); got.Kind != kind || got.Message == "" {
			t.Errorf("%s %v: %+v, want %s", method, params, got, kind)
		}
	}
	fails("invalid", "rows", nil)
	fails("invalid", "what", nil)
	fails("network", "open", map[string]any{"url": "test://none/file.root"})
	fails("network", "open", map[string]any{"url": "nothing://host/file.root"})
	fails("invalid", "rows", nil) // still nothing is open
	fails("corrupt", "open", map[string]any{"url": serve(t, &backend{b: []byte("PNG: no ROOT file at all, but long enough to be one, perhaps. It is not. It has a hundred bytes, or more.")})})
	fails("corrupt", "open", map[string]any{"url": serve(t, &backend{b: content[:200]})})
	damaged := slices.Clone(content)
	i := bytes.Index(damaged, []byte("\x40\x00\x00\x42\x00\x02")) // the byte count of the anchor
	damaged[i+3]++
	o := ask[Opened](t, e, "open", map[string]any{"url": serve(t, &backend{b: damaged})})
	if len(o.NTuples) != 1 || o.NTuples[0].Error == nil || o.NTuples[0].Error.Kind != "corrupt" || o.NTuples[0].Error.Offset == nil {
		t.Errorf("%+v", o)
	}
	fails("corrupt", "rows", map[string]any{"ntuple": "Events"})
	ask[Opened](t, e, "open", map[string]any{"url": serve(t, &backend{b: content})})
	fails("notfound", "rows", map[string]any{"ntuple": "Evens"})
	fails("invalid", "rows", map[string]any{"first": -1})
	fails("invalid", "rows", map[string]any{"first": "one"})
	fails("invalid", "rows", map[string]any{"count": 1, "fields": []string{"nothing"}})
	for _, x := range []string{"", "Muon_pt +", "nothing", "len(Muon_pt, 1)"} {
		fails("invalid", "histogram", map[string]any{"expression": x})
		if x != "" {
			fails("invalid", "histogram", map[string]any{"expression": "run", "where": x})
			fails("invalid", "download", map[string]any{"format": "csv", "where": x})
		}
	}
	fails("invalid", "histogram", map[string]any{"expression": "run", "where": "Muon_pt"})
	fails("invalid", "histogram", map[string]any{"expression": "run", "low": 2, "high": 1})
	fails("invalid", "histogram", map[string]any{"expression": "run", "bins": -1})
	fails("invalid", "histogram", map[string]any{"expression": "run", "bins": 1 << 40})
	fails("invalid", "histogram", map[string]any{"expression": "Muon_pt", "where": "Muon_eta[1:] > 0"})
	fails("invalid", "storage", map[string]any{"cluster": 1 << 20})
	fails("invalid", "record", map[string]any{"id": "{}"})
	fails("invalid", "record", map[string]any{"id": ""})
	fails("invalid", "record", map[string]any{"id": recordID{Part: "container", Number: 1 << 20}.String()})
	fails("invalid", "download", map[string]any{"format": "exe"})
	if got, _ := json.Marshal([]Int{1 << 53, 1<<53 + 1, -1 << 62}); string(got) != `[9007199254740992,"9007199254740993","-4611686018427387904"]` {
		t.Errorf("%s", got)
	}
}

// TestCancel ends requests: those that are cancelled, and those for a file that another one replaces.
func TestCancel(t *testing.T) {
	content := read(t, dimuon)
	for _, replace := range []bool{false, true} {
		e := new(Engine)
		blocked := make(chan bool)
		var block atomic.Bool
		var once sync.Once
		b := &backend{b: content, reading: func(ctx context.Context) error {
			if !block.Load() {
				return nil
			}
			once.Do(func() { close(blocked) })
			<-ctx.Done()
			return context.Cause(ctx)
		}}
		ask[Opened](t, e, "open", map[string]any{"url": serve(t, b)})
		block.Store(true)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error)
		go func() {
			_, err := e.Do(ctx, "histogram", json.RawMessage(`{"expression": "Muon_pt"}`), nil)
			done <- err
		}()
		<-blocked
		if replace {
			ask[Opened](t, e, "open", map[string]any{"url": serve(t, &backend{b: content})})
		} else {
			cancel()
		}
		if err := <-done; err == nil || ErrorOf(err).Kind != "cancelled" {
			t.Errorf("replaced: %v: %v", replace, err)
		}
		if !replace {
			block.Store(false)
		}
		ask[Rows](t, e, "rows", map[string]any{"count": 1})
	}
}

// TestConcurrent asks many things at once.
func TestConcurrent(t *testing.T) {
	e, _ := opened(t, dimuon)
	requests := map[string]string{
		"rows":      `{"first": 100, "count": 10}`,
		"histogram": `{"expression": "Muon_pt"}`,
		"schema":    `{}`,
		"storage":   `{}`,
		"verify":    `{}`,
		"stats":     `{}`,
	}
	var all sync.WaitGroup
	for range 3 {
		for method, params := range maps.All(requests) {
			all.Go(func() {
				if _, err := e.Do(t.Context(), method, json.RawMessage(params), func(Answer) {}); err != nil {
					t.Errorf("%s: %v", method, err)
				}
			})
		}
	}
	all.Wait()
}

// TestCaught makes sure that a panic answers a request, without its value or a trace.
func TestCaught(t *testing.T) {
	log.SetOutput(io.Discard)
	defer log.SetOutput(os.Stderr)
	_, err := caught("histogram", func() (Answer, error) { panic("secret") })
	if e := ErrorOf(err); e.Kind != "internal" || e.Message != "internal error in histogram; the log says more" {
		t.Error(e)
	}
}
