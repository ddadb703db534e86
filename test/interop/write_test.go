package interop

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// scratch is a folder that tests share, for files that are written.
var scratch string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		if os.Getenv("RNTUPLE_INTEROP") == "" {
			return m.Run()
		}
		var err error
		if scratch, err = os.MkdirTemp("", "interop"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(scratch)
		if os.Getenv("GEN_WORK") == "" {
			programs, err := programs()
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			os.Setenv("GEN_WORK", programs)
		}
		return m.Run()
	}())
}

// programs returns the folder in which the programs are kept that the scripts compile, which takes
// minutes. Its name depends on all that they are made of; those of other sources are removed after
// a week.
func programs() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sources, err := filepath.Glob("../../testdata/gen/*")
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, source := range append(sources, "requirements.txt") {
		text, err := os.ReadFile(source)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n%s", filepath.Base(source), len(text), text)
	}
	parent := filepath.Join(cache, "go-rntuple", "programs")
	name := hex.EncodeToString(h.Sum(nil)[:8])
	others, err := os.ReadDir(parent)
	if err != nil && !os.IsNotExist(err) {
		return "", err
	}
	for _, other := range others {
		if info, err := other.Info(); err == nil && time.Since(info.ModTime()) > 7*24*time.Hour && other.Name() != name {
			if err := os.RemoveAll(filepath.Join(parent, other.Name())); err != nil {
				return "", err
			}
		}
	}
	return filepath.Join(parent, name), nil
}

// matrix has ROOT write every type in every encoding, compression and layout, and
// returns the folder.
var matrix = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(scratch, "types")
	_, _, err := run("types.sh", dir)
	return dir, err
})

// facts has ROOT report what it finds in the files of matrix, and returns the
// folder of the reports.
var facts = sync.OnceValues(func() (string, error) {
	from, err := matrix()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(scratch, "facts")
	if err := os.Mkdir(dir, 0o777); err != nil {
		return "", err
	}
	names, err := filepath.Glob(filepath.Join(from, "*.root"))
	if err != nil {
		return "", err
	}
	for _, name := range names {
		if err := os.Symlink(name, filepath.Join(dir, filepath.Base(name))); err != nil {
			return "", err
		}
	}
	_, _, err = run("types.sh", dir, "read")
	return dir, err
})

// rewritten writes the files of matrix with this library, with other clusters,
// pages and groups, and returns the folder.
var rewritten = sync.OnceValues(func() (string, error) {
	from, err := matrix()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(scratch, "rewritten")
	if err := os.Mkdir(dir, 0o777); err != nil {
		return "", err
	}
	files, err := writtenFiles()
	if err != nil {
		return "", err
	}
	for _, f := range files {
		if err := rewrite(filepath.Join(dir, f.File), filepath.Join(from, f.File), f.Ntuple, f.layout(),
			&rntuple.WriteOptions{Compression: settingOf(f.Compression)}); err != nil {
			return "", fmt.Errorf("%s: %w", f.File, err)
		}
	}
	return dir, nil
})

// A written is a file of matrix.
type written struct {
	File, Ntuple, Layout string
	Compression          int // 0: none
}

// writtenFiles lists the files of matrix.
func writtenFiles() ([]written, error) {
	dir, err := matrix()
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		return nil, err
	}
	var all []written
	err = json.Unmarshal(b, &all)
	return all, err
}

// A layout says where clusters and cluster groups begin, and how large pages are.
type layout struct {
	page             int64   // in bytes
	clusters, groups []int64 // first entries
}

// layout returns a layout that is similar, but not equal, to that of ROOT's file.
func (w written) layout() layout {
	switch w.Layout {
	case "many":
		return layout{page: 50, clusters: []int64{1, 2, 9, 60, 61, 150, 299}}
	case "groups":
		return layout{page: 200, clusters: []int64{7, 111, 112}, groups: []int64{1, 8, 200}}
	}
	return layout{page: 1 << 20}
}

// rewrite reads an RNTuple and writes it to a file of its own.
func rewrite(to, from, name string, l layout, opts *rntuple.WriteOptions) error {
	r, err := rntuple.Open(from, name, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	var names []string
	for _, f := range r.Schema().Fields {
		if f.Source == nil {
			names = append(names, f.Name)
		}
	}
	v, err := rntuple.RecordsOf(r, names...)
	if err != nil {
		return err
	}
	o := *opts
	o.MaxUnzippedPageSize = l.page
	w, err := rntuple.CreateRecords(to, r.Name(), r.Schema().Document(), &o)
	if err != nil {
		return err
	}
	for i, record := range v.All() {
		if slices.Contains(l.clusters, i) {
			w.CommitCluster()
		}
		if slices.Contains(l.groups, i) {
			w.CommitClusterGroup()
		}
		w.Write(&record)
	}
	if err := w.Close(); err != nil {
		return err
	}
	return v.Err()
}

// TestWriteTypes has ROOT read every type in every encoding, compression and
// layout, written by this library. It must read the values that it has written
// itself, and find the same columns.
func TestWriteTypes(t *testing.T) {
	needed(t)
	root, err := facts()
	if err != nil {
		t.Fatal(err)
	}
	ours, err := rewritten()
	if err != nil {
		t.Fatal(err)
	}
	script(t, "types.sh", ours, "read")
	files, err := writtenFiles()
	if err != nil {
		t.Fatal(err)
	}
	ntuples := []string{"--columns"}
	for _, f := range files {
		ntuples = append(ntuples, filepath.Join(root, f.File)+":"+f.Ntuple, filepath.Join(ours, f.File)+":"+f.Ntuple)
	}
	views := rootViews(t, ntuples...)
	for i, f := range files {
		t.Run(f.File, func(t *testing.T) {
			t.Parallel()
			base := strings.TrimSuffix(f.File, ".root")
			want, err1 := os.ReadFile(filepath.Join(root, base+".facts"))
			got, err2 := os.ReadFile(filepath.Join(ours, base+".facts"))
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			if s := lineDifference(want, got); s != "" {
				t.Errorf("ROOT finds other columns: %s", s)
			}
			sameColumnLines(t, views[2*i].Columns, views[2*i+1].Columns)
			sameValues(t, filepath.Join(root, base+".jsonl.gz"), filepath.Join(ours, base+".jsonl.gz"))
			checkLayout(t, filepath.Join(ours, f.File), f)
		})
	}
}

// sameColumnLines compares what ROOT reports about the columns of two files.
func sameColumnLines(t *testing.T, want, got []string) {
	if len(want) != len(got) || len(want) < 300 {
		t.Errorf("%d columns, want %d", len(got), len(want))
	}
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			t.Errorf("ROOT finds column %q, want %q", got[i], want[i])
		}
	}
}

// checkLayout makes sure that the file has the intended layout.
func checkLayout(t *testing.T, path string, f written) {
	r, err := rntuple.Open(path, f.Ntuple, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	i, err := r.Inspect(nil)
	if err != nil {
		t.Fatal(err)
	}
	l := f.layout()
	clusters, groups := 1+len(l.clusters)+len(l.groups), 1+len(l.groups)
	if f.Layout == "empty" {
		clusters = 0
	}
	if i.Clusters != clusters || f.Layout != "empty" && i.ClusterGroups != groups {
		t.Errorf("%d clusters in %d groups, want %d in %d", i.Clusters, i.ClusterGroups, clusters, groups)
	}
}

// lineDifference returns the first lines in which two texts differ, or "".
func lineDifference(want, got []byte) string {
	w, g := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	for i := range min(len(w), len(g)) {
		if !bytes.Equal(w[i], g[i]) {
			return fmt.Sprintf("line %d is %q, want %q", i+1, g[i], w[i])
		}
	}
	if len(w) != len(g) {
		return fmt.Sprintf("%d lines, want %d", len(g), len(w))
	}
	return ""
}

// sameValues compares two compressed files of JSON Lines.
func sameValues(t *testing.T, want, got string) {
	t.Helper()
	var readers [2]*bufio.Reader
	for i, path := range []string{want, got} {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		readers[i] = bufio.NewReader(z)
	}
	for n := 0; ; n++ {
		w, err1 := readers[0].ReadBytes('\n')
		g, err2 := readers[1].ReadBytes('\n')
		if !bytes.Equal(w, g) {
			t.Fatalf("%s: entry %d: %s", got, n, memberDifference(w, g))
		}
		if err1 != nil || err2 != nil {
			return
		}
	}
}

// memberDifference returns which members of two JSON objects differ.
func memberDifference(want, got []byte) string {
	var w, g map[string]json.RawMessage
	if json.Unmarshal(want, &w) != nil || json.Unmarshal(got, &g) != nil {
		return fmt.Sprintf("%.100q, want %.100q", got, want)
	}
	var differ []string
	for _, name := range slices.Sorted(maps.Keys(w)) {
		if !bytes.Equal(w[name], g[name]) {
			differ = append(differ, fmt.Sprintf("%s is %.200s, want %.200s", name, g[name], w[name]))
		}
	}
	return fmt.Sprintf("%d members differ:\n\t%s", len(differ), strings.Join(differ[:min(10, len(differ))], "\n\t"))
}

// settingOf returns one of ROOT's compression settings, of which 0 is no compression.
func settingOf(n int) compress.Settings { return cmp.Or(compress.Settings(n), compress.None) }

// uprootFaults are those of the pinned version.
var uprootFaults = []readerFault{
	fault("an optional of an optional, a variant of a variant: awkward-array has none", "opt_opt_int32", "var_var"),
}

// uprootClusterFaults are further ones with files of several clusters.
var uprootClusterFaults = []readerFault{
	fault("variants after the first cluster: it takes their offsets for those in the RNTuple, in ROOT's files, too",
		"var_.*", "vec_var", "array_var", "Mixed"),
}

// TestWriteUproot has uproot read files of this library, and compares the values
// with those that it reads from ROOT's files.
func TestWriteUproot(t *testing.T) {
	needed(t)
	root, err := matrix()
	if err != nil {
		t.Fatal(err)
	}
	ours, err := rewritten()
	if err != nil {
		t.Fatal(err)
	}
	// Only all layouts, and all compressions, because uproot is slow.
	files := []string{"types_zstd_many.root", "types_none_groups.root", "types_zstd_empty.root", "types_zstd_one.root",
		"types_lz4_one.root", "types_zlib_one.root", "types_lzma_one.root"}
	var report struct {
		Uproot string
		Files  []map[string]string
	}
	if err := json.Unmarshal(script(t, "written_uproot.py", append([]string{root, ours, "types"}, files...)...),
		&report); err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		t.Run(file, func(t *testing.T) {
			if len(report.Files[i]) < 300 {
				t.Fatalf("uproot finds %d fields: %v", len(report.Files[i]), report.Files[i])
			}
			faults := uprootFaults
			if strings.Contains(file, "many") || strings.Contains(file, "groups") {
				faults = slices.Concat(faults, uprootClusterFaults)
			}
			judgeReader(t, "uproot "+report.Uproot, faults, report.Files[i], report.Files[i])
		})
	}
}
