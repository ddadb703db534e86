package interop

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What comes back from an RNTuple as another type than it was in Parquet, and why.
var parquetDiffers = map[string]string{
	"fixed_list is list<int32>":          "arrow-go writes no arrays that may be missing",
	"repeated is list<double>, nullable": "arrow-go takes items of repeated columns for nullable",
}

// TestParquet converts Parquet files of pyarrow, DuckDB and parquet-go to RNTuples and back:
// pyarrow reads the same types and values from both, and ROOT those that rnt prints from the
// RNTuples.
func TestParquet(t *testing.T) {
	needed(t)
	dir := t.TempDir()
	script(t, "parquet.py", "make", dir)
	for rows, name := range map[string]string{"60": "parquetgo", "0": "parquetgo_empty"} {
		peers := exec.Command("go", "run", ".", "parquet", "nested", rows, filepath.Join(dir, name+".parquet"))
		peers.Dir, peers.Env = "../bench/peers", append(os.Environ(), "GOWORK=off")
		if out, err := peers.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	rnt := filepath.Join(dir, "rnt")
	tool := func(args ...string) (string, error) {
		out, err := exec.Command(rnt, args...).CombinedOutput()
		return string(out), err
	}
	if out, err := exec.Command("go", "build", "-o", rnt, "../../cmd/rnt").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files (%v)", len(files), err)
	}
	var pairs, ntuples []string
	for _, file := range files {
		base := strings.TrimSuffix(file, ".parquet")
		root, back := base+".root", base+".back"
		out, err := tool("convert", "-q", file, root)
		if refused := strings.HasPrefix(filepath.Base(file), "refused"); refused || err != nil {
			if _, left := os.Stat(root); !refused || err == nil || left == nil || !strings.Contains(out, `"price"`) &&
				!strings.Contains(out, `"took"`) || strings.Contains(out, `"fine"`) {
				t.Errorf("%s: %v, %s", file, err, out)
			}
			continue
		}
		for _, args := range [][]string{{"diff", file, root}, {"convert", "-q", "--to", "parquet", root, back},
			{"diff", root, back}} {
			if out, err := tool(args...); err != nil {
				t.Errorf("rnt %v: %v\n%s", args, err, out)
			}
		}
		pairs = append(pairs, file, back)
		if !strings.HasPrefix(filepath.Base(file), "bytes") { // which ROOT does not print as JSON
			ntuples = append(ntuples, root+":Events")
		}
	}
	for line := range strings.Lines(string(script(t, "parquet.py", append([]string{"same"}, pairs...)...))) {
		explained := false
		for part := range parquetDiffers {
			explained = explained || strings.Contains(line, part)
		}
		if !explained {
			t.Error(line)
		}
	}
	for i, view := range rootViews(t, ntuples...) {
		file, _, _ := strings.Cut(ntuples[i], ":")
		lines, err := tool("cat", file)
		if err != nil {
			t.Fatal(err, lines)
		}
		want := strings.Split(strings.TrimSpace(lines), "\n")
		if lines == "" {
			want = nil
		}
		for _, entry := range view.Entries {
			tuplesIn(entry)
		}
		sameEntries(t, filepath.Base(file), view, want...)
	}
}

// tuplesIn returns a value with tuples as arrays, as rnt prints them, for which ROOT prints their
// members _0, _1 and so on.
func tuplesIn(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = tuplesIn(v[i])
		}
	case map[string]any:
		var items []any
		for name := range v {
			v[name] = tuplesIn(v[name])
		}
		for i := range len(v) {
			if item, ok := v[fmt.Sprint("_", i)]; ok {
				items = append(items, item)
			}
		}
		if len(items) == len(v) {
			return items
		}
	}
	return v
}
