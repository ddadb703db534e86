package rescue_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/rescue"
	"github.com/go-rntuple/go-rntuple/value"
)

const good = "../../testdata/good/"

// memory is a file that is written in memory.
type memory struct{ b []byte }

func (m *memory) WriteAt(p []byte, at int64) (int, error) {
	if n := at + int64(len(p)) - int64(len(m.b)); n > 0 {
		m.b = append(m.b, make([]byte, n)...)
	}
	return copy(m.b[at:], p), nil
}

// contents are the entries of all RNTuples of a file, by path.
func contents(t testing.TB, file []byte) map[string][]value.Record {
	t.Helper()
	infos, err := rntuple.List(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]value.Record{}
	for _, info := range infos {
		r, err := rntuple.NewReader(bytes.NewReader(file), int64(len(file)), info.Path, nil)
		if err != nil {
			t.Fatal(err)
		}
		all[info.Path] = entries(t, r)
	}
	return all
}

func entries(t testing.TB, r *rntuple.Reader) []value.Record {
	t.Helper()
	v, err := rntuple.RecordsOf(r)
	if err != nil {
		t.Fatal(err)
	}
	list := []value.Record{}
	for _, record := range v.All() {
		list = append(list, record)
	}
	if v.Err() != nil {
		t.Fatal(v.Err())
	}
	return list
}

// attributeSets are the attribute sets of special_attributes.root, as the file
// beside it has them; if the RNTuple they belong to is lost they become RNTuples.
func attributeSets() map[string][]value.Record {
	record := func(start, n uint64, data ...any) value.Record {
		user := value.Record{Names: []string{"name", "vec"}, Values: data}
		if len(data) == 1 {
			user.Names = []string{"num"}
		}
		return value.Record{Names: []string{"_rangeStart", "_rangeLen", "_userData"}, Values: []any{start, n, user}}
	}
	return map[string][]value.Record{
		"first": {
			record(0, 3, "zero to two", []any{float32(1), float32(2.5)}),
			record(5, 2, "z: five and six é", []any{}),
			record(3, 4, "y: three to six", []any{float32(-1)}),
			record(7, 0, "empty range", []any{float32(-1)}),
		},
		"second": {record(0, 10, int32(-42))},
	}
}

// within reports whether got is what want is, but for members of records that got
// may lack.
func within(got, want any) bool {
	g, ok := got.(value.Record)
	if !ok {
		return bytes.Equal(value.AppendJSON(nil, got), value.AppendJSON(nil, want))
	}
	w := want.(value.Record)
	for i, name := range g.Names {
		j := slices.Index(w.Names, name)
		if j < 0 || !within(g.Values[i], w.Values[j]) {
			return false
		}
	}
	return true
}

// saved rescues a file and returns the report, or nil if there was nothing to save. It
// fails unless the new file holds exactly what the report says of the original.
func saved(t testing.TB, what string, original map[string][]value.Record, file []byte,
	opts *rescue.Options) *rescue.Report {
	t.Helper()
	var out memory
	before := bytes.Clone(file)
	report, err := rescue.To(t.Context(), &out, "out.root", bytes.NewReader(file), int64(len(file)), opts)
	if !bytes.Equal(before, file) {
		t.Fatalf("%s: the input has changed", what)
	}
	if errors.Is(err, rescue.ErrNothing) {
		return nil
	} else if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	got := contents(t, out.b)
	count := 0
	for _, n := range report.NTuples {
		if n.Saved == 0 && n.Entries != 0 {
			continue
		}
		count++
		if !slices.ContainsFunc(paths(original, n.Path), func(path string) bool { return agrees(got, n, original[path]) }) {
			t.Errorf("%s: what was saved of %q is not what the report says: %+v", what, n.Path, n)
		}
	}
	if len(got) != count {
		t.Errorf("%s: %d RNTuples were saved, the report has %d", what, len(got), count)
	}
	return report
}

// paths returns the originals that may have become path, which has lost its
// directory and cycle if its anchor is lost.
func paths(original map[string][]value.Record, path string) (may []string) {
	for p := range original {
		plain, _, _ := strings.Cut(p, ";")
		if plain == path || strings.HasSuffix(plain, "/"+path) {
			may = append(may, p)
		}
	}
	return may
}

// agrees reports whether a saved RNTuple, of any cycle, has the entries of want
// that the report says.
func agrees(got map[string][]value.Record, n rescue.NTuple, want []value.Record) bool {
	var expected []value.Record
	for _, k := range n.Kept {
		if k.First < 0 || k.End > int64(len(want)) || k.First >= k.End {
			return false
		}
		expected = append(expected, want[k.First:k.End]...)
	}
	if int64(len(expected)) != n.Saved {
		return false
	}
	for path, have := range got {
		plain, _, _ := strings.Cut(path, ";")
		if plain == n.Path && slices.EqualFunc(have, expected, func(g, w value.Record) bool { return within(g, w) }) {
			return true
		}
	}
	return false
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

type event struct {
	N    int32
	List []float64
	Name string
}

func eventOf(n int) event {
	e := event{N: int32(n), Name: fmt.Sprint("entry ", n)}
	for i := range n % 4 {
		e.List = append(e.List, float64(n)/float64(i+3))
	}
	return e
}

// written returns a file of our writer with a cluster group for each of the
// numbers, of clusters of 5 entries; a negative one ends with a checkpoint. ends
// are the lengths of the file that have a page list more.
func written(t testing.TB, groups []int, opts *rntuple.WriteOptions) (file []byte, ends []int) {
	t.Helper()
	var m memory
	f, err := rntuple.NewFile(&m, "in.root", &rntuple.FileOptions{Compression: opts.Compression})
	if err != nil {
		t.Fatal(err)
	}
	w, err := rntuple.NewWriter[event](f, "n", opts)
	if err != nil {
		t.Fatal(err)
	}
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for _, size := range groups {
		for i := range max(size, -size) {
			e := eventOf(n)
			check(w.Write(&e))
			n++
			if i%5 == 4 {
				check(w.CommitCluster())
			}
		}
		check(w.CommitClusterGroup())
		if size < 0 {
			check(w.Checkpoint())
		}
	}
	check(w.Close())
	check(f.Close())
	for _, r := range records(t, m.b) {
		if at, n := r.Payload(); r.Class == rootfile.BlobClassName && n > 8 &&
			binary.LittleEndian.Uint64(m.b[at:]) == 3|uint64(n)<<16 {
			ends = append(ends, int(at+n))
		}
	}
	return m.b, ends
}

func records(t testing.TB, file []byte) (all []rootfile.Record) {
	t.Helper()
	err := rootfile.Scan(context.Background(), bytes.NewReader(file), int64(len(file)), func(r rootfile.Record) error {
		all = append(all, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var plain = &rntuple.WriteOptions{Compression: compress.None, Workers: 1}

// lengths returns the length from which on a file has all pages of a cluster and its page
// list, for each cluster, and the entries of the cluster.
func lengths(t testing.TB, file []byte) (needed []int, entries []int64) {
	t.Helper()
	r, err := rntuple.NewReader(bytes.NewReader(file), int64(len(file)), "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	clusters, err := r.StoredClusters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range r.Footer().ClusterGroups {
		for _, c := range clusters[len(needed):][:g.NumClusters] {
			n := g.PageList.Locator.Offset + g.PageList.Locator.Size
			for _, column := range c.Columns() {
				for _, p := range column.Pages {
					n = max(n, p.Locator.Offset+uint64(p.StoredSize()))
				}
			}
			needed, entries = append(needed, int(n)), append(entries, c.Len())
		}
	}
	return needed, entries
}

// TestCutOurs cuts files of our writer at every length. The clusters are saved whose pages
// and page list are left.
func TestCutOurs(t *testing.T) {
	for name, groups := range map[string][]int{"groups": {5, 2, 6, 1}, "checkpoints": {2, -6, 1, -2, 1}} {
		file, _ := written(t, groups, plain)
		needed, entries := lengths(t, file)
		original := contents(t, file)
		step := 1
		if name == "checkpoints" {
			step = 3
		}
		for n := len(file); n >= 0; n -= step {
			want := int64(0)
			for i, end := range needed {
				if n >= end {
					want += entries[i]
				}
			}
			report := saved(t, fmt.Sprintf("%s, %d bytes of %d", name, n, len(file)), original, file[:n], nil)
			switch {
			case report == nil && want > 0 || report != nil && report.NTuples[0].Saved != want:
				t.Fatalf("%s: of %d bytes of %d are saved %+v, want %d entries", name, n, len(file), report, want)
			case report != nil && n == len(file) && !report.NTuples[0].Whole():
				t.Errorf("%s: of the whole file: %+v", name, report)
			}
		}
	}
}

// TestCutROOT cuts files that ROOT has written, all of them at some lengths, and
// some at every third: nothing else comes out than what was in.
func TestCutROOT(t *testing.T) {
	files, err := filepath.Glob(good + "*.root")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		file := read(t, path)
		original := contents(t, file)
		sound := maps.Clone(original)
		if strings.Contains(path, "attributes") {
			maps.Copy(original, attributeSets())
		}
		step := max(1, len(file)/10)
		for _, small := range []string{"special_zero", "special_attributes"} {
			if strings.Contains(path, small) {
				step = 3
			}
		}
		for n := len(file); n > 0; n -= step {
			report := saved(t, fmt.Sprintf("%s, %d bytes of %d", path, n, len(file)), original, file[:n], nil)
			if n == len(file) {
				whole(t, path, sound, report)
			}
		}
	}
}

// whole makes sure that all of a sound file was saved.
func whole(t *testing.T, path string, original map[string][]value.Record, report *rescue.Report) {
	t.Helper()
	if report == nil || len(report.NTuples) != len(original) || report.Container != "" {
		t.Errorf("%s: report of the sound file: %+v", path, report)
		return
	}
	for _, n := range report.NTuples {
		checked := len(n.Missing) == 0 && len(n.Notes) == 0 || strings.Contains(path, "nochecksum")
		if n.Saved != n.Entries || len(n.Lost) > 0 || !checked || n.Found != "its directory" {
			t.Errorf("%s: report of the sound file: %+v", path, n)
		}
	}
}

// TestCutGroups cuts a file of ROOT's with several cluster groups behind each of
// its page lists: all groups up to there are saved.
func TestCutGroups(t *testing.T) {
	file := read(t, good+"types_zlib_groups.root")
	original := contents(t, file)
	r, err := rntuple.NewReader(bytes.NewReader(file), int64(len(file)), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	i, err := r.Inspect(nil)
	if err != nil || i.ClusterGroups < 2 {
		t.Fatalf("%d cluster groups, %v", i.ClusterGroups, err)
	}
	most, counts := int64(-1), map[int64]bool{}
	for _, k := range records(t, file) {
		if k.Class != rootfile.BlobClassName {
			continue
		}
		n := int(k.SeekKey) + int(k.NBytes)
		report := saved(t, fmt.Sprintf("%d bytes", n), original, file[:n], nil)
		if report == nil {
			continue
		}
		if s := report.NTuples[0].Saved; s < most {
			t.Errorf("%d entries saved of %d bytes, %d of fewer", s, n, most)
		} else {
			most, counts[s] = s, true
		}
	}
	if most != r.NumEntries() || len(counts) != i.ClusterGroups {
		t.Errorf("%d entries saved of %d, in %d steps, want %d", most, r.NumEntries(), len(counts), i.ClusterGroups)
	}
}

// TestDamage flips a bit of each byte of two files.
func TestDamage(t *testing.T) {
	ours, _ := written(t, []int{5, -6, 2}, plain)
	for name, file := range map[string][]byte{"ours": ours, "ROOT's": read(t, good+"special_zero.root")} {
		original := contents(t, file)
		lost, less := 0, 0
		for i := range file {
			file[i] ^= 1 << (i % 8)
			report := saved(t, fmt.Sprintf("%s, bit %d of byte %#x flipped", name, i%8, i), original, file,
				&rescue.Options{KeepGoing: i/8%2 > 0})
			switch {
			case report == nil:
				lost++
			case len(report.NTuples[0].Lost) > 0:
				less++
			}
			file[i] ^= 1 << (i % 8)
		}
		t.Logf("%s: %d flips; nothing saved of %d, less than all of %d", name, len(file), lost, less)
	}
}

// TestLoss damages a page, a page list and the footer of a file with several
// groups, and expects exactly what is lost then.
func TestLoss(t *testing.T) {
	file, ends := written(t, []int{10, 10, 10}, plain)
	original := contents(t, file)
	entries := func(first, end int64) rntuple.EntryRange { return rntuple.EntryRange{First: first, End: end} }
	marker := []byte("entry 17") // in the fourth cluster, of the entries from 15 to 20
	page := bytes.Index(file, marker)
	footer := bytes.LastIndex(file, binary.LittleEndian.AppendUint16(nil, 2)) // found below
	for _, k := range records(t, file) {
		if at, n := k.Payload(); k.Class == rootfile.BlobClassName &&
			binary.LittleEndian.Uint64(file[at:]) == 2|uint64(n)<<16 {
			footer = int(at)
		}
	}
	cases := []struct {
		what      string
		at        int
		keepGoing bool
		total     int64
		kept      []rntuple.EntryRange
		lost      []rntuple.EntryRange
	}{
		{"page", page, false, 30, []rntuple.EntryRange{entries(0, 15)},
			[]rntuple.EntryRange{entries(15, 20), entries(20, 30)}},
		{"page", page, true, 30, []rntuple.EntryRange{entries(0, 15), entries(20, 30)},
			[]rntuple.EntryRange{entries(15, 20)}},
		{"page list", ends[1] - 20, false, 30, []rntuple.EntryRange{entries(0, 10)},
			[]rntuple.EntryRange{entries(10, 20), entries(20, 30)}},
		{"page list", ends[1] - 20, true, 30, []rntuple.EntryRange{entries(0, 10), entries(20, 30)},
			[]rntuple.EntryRange{entries(10, 20)}},
		{"first page list", ends[0] - 20, true, 30, []rntuple.EntryRange{entries(10, 30)},
			[]rntuple.EntryRange{entries(0, 10)}},
		{"footer", footer + 30, false, -1, []rntuple.EntryRange{entries(0, 30)}, []rntuple.EntryRange{entries(30, -1)}},
	}
	for _, c := range cases {
		bad := bytes.Clone(file)
		bad[c.at] ^= 1
		report := saved(t, c.what, original, bad, &rescue.Options{KeepGoing: c.keepGoing})
		if report == nil {
			t.Errorf("%s: nothing", c.what)
			continue
		}
		n := report.NTuples[0]
		var lost []rntuple.EntryRange
		for _, l := range n.Lost {
			lost = append(lost, l.EntryRange)
		}
		if n.Entries != c.total || !slices.Equal(n.Kept, c.kept) || !slices.Equal(lost, c.lost) {
			t.Errorf("%s: %+v\nwant of %d entries %v kept, %v lost", c.what, n, c.total, c.kept, c.lost)
		}
	}
}

// TestToRefuses gives To options of how File writes the new file.
func TestToRefuses(t *testing.T) {
	file, _ := written(t, []int{5}, plain)
	for _, o := range []*rescue.Options{{NoSync: true}, {NoReplace: true}, {Upload: remote.Options{Tail: 1}}} {
		var out memory
		_, err := rescue.To(t.Context(), &out, "out.root", bytes.NewReader(file), int64(len(file)), o)
		if err == nil || !strings.Contains(err.Error(), "are for File") || len(out.b) > 0 {
			t.Errorf("%v, %d bytes are written", err, len(out.b))
		}
	}
}

// TestLegacy makes sure that files of pre-release formats, whole or cut, are
// refused and not taken for something else.
func TestLegacy(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/testdata/legacy/*.root")
	if len(files) == 0 {
		t.Skip("the files are not there")
	}
	for _, path := range files {
		if strings.HasPrefix(filepath.Base(path), "rc3") {
			continue // the same as format 1
		}
		file := read(t, path)
		for _, n := range []int{len(file), len(file) - 300, len(file) / 2} {
			report, err := rescue.To(t.Context(), &memory{}, "out.root", bytes.NewReader(file[:n]), int64(n), nil)
			said := report != nil && strings.Contains(strings.Join(report.Lost, "\n"), "pre-release")
			switch {
			case err == nil:
				t.Errorf("%s, %d bytes of %d: rescued: %+v", path, n, len(file), report)
			case n == len(file) && !said && !errors.Is(err, rntuple.ErrUnsupported):
				t.Errorf("%s: %v, %+v", path, err, report)
			}
		}
	}
}

// TestFile checks what becomes of files on disk.
func TestFile(t *testing.T) {
	file, _ := written(t, []int{5, 5}, plain)
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.root"), filepath.Join(dir, "out.root")
	write := func(path string, b []byte) {
		if err := os.WriteFile(path, b, 0o640); err != nil {
			t.Fatal(err)
		}
	}
	write(in, file[:len(file)-10])
	write(out, []byte("old"))
	if _, err := rescue.File(t.Context(), in, in, nil); err == nil {
		t.Error("a file was rescued to itself")
	}
	if _, err := rescue.File(t.Context(), out, in, &rescue.Options{Only: "x"}); !errors.Is(err, rescue.ErrNothing) ||
		string(read(t, out)) != "old" {
		t.Errorf("a name that is not there: %v", err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := rescue.File(done, out, in, nil); !errors.Is(err, context.Canceled) || string(read(t, out)) != "old" {
		t.Errorf("canceled: %v", err)
	}
	report, err := rescue.File(t.Context(), out, in, nil)
	if err != nil || report.NTuples[0].Saved != 10 {
		t.Fatalf("%+v, %v", report, err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
		t.Errorf("files left: %v, %v", list, err)
	}
}

// TestCompression makes sure that all clusters state the same compression settings for a
// column, also those without elements, where the file's header is lost: ROOT's
// RNTupleInspector refuses files in which they differ.
func TestCompression(t *testing.T) {
	type event struct{ V []int32 }
	const settings = 101
	var m memory
	f, err := rntuple.NewFile(&m, "in.root", nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := rntuple.NewWriter[event](f, "n", &rntuple.WriteOptions{Compression: settings})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(&event{}), w.CommitCluster(), w.Write(&event{V: make([]int32, 1000)}), w.Close(),
		f.Close()); err != nil {
		t.Fatal(err)
	}
	clear(m.b[:100])
	var out memory
	if _, err := rescue.To(t.Context(), &out, "out.root", bytes.NewReader(m.b), int64(len(m.b)), nil); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.NewReader(bytes.NewReader(out.b), int64(len(out.b)), "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	clusters, err := r.StoredClusters(t.Context())
	if err != nil || len(clusters) != 2 {
		t.Fatalf("%d clusters, %v", len(clusters), err)
	}
	for i, c := range clusters {
		for id, column := range c.Columns() {
			if column.Compression != settings {
				t.Errorf("cluster %d, column %d: compression %d, want %d", i, id, column.Compression, settings)
			}
		}
	}
}
