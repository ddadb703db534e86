package surgery

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// bytesRead returns how many bytes the process has read from files and pipes.
func bytesRead(t *testing.T) (n int64) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skip(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if _, err := fmt.Sscanf(line, "rchar: %d", &n); err != nil {
		t.Skip(line, err)
	}
	return n
}

// TestSkimBytes skims 0.1 % of the entries, which lie together. It reads the column of the
// condition, at most 1.3 times the pages with such entries, and metadata.
func TestSkimBytes(t *testing.T) {
	const n = 400_000
	path := sparseFile(t, n, &rntuple.WriteOptions{MaxUnzippedPageSize: 64 << 10, ClusterSize: 1 << 20,
		Compression: compress.None, NoSharing: true})
	r := openRaw(t, Input{Path: path})
	clusters, err := r.Source.Clusters(all)
	if err != nil || len(clusters) < 3 {
		t.Fatal(len(clusters), err)
	}
	for _, chosen := range []rntuple.EntryRange{{First: 131_000, End: 131_400}, {First: 0, End: 400},
		{First: n - 400, End: n}} {
		condition, want, rest := int64(0), int64(0), int64(0)
		for _, cluster := range clusters {
			for _, c := range r.Source.Schema.Columns {
				k, at := elements[c.Owner.Path()][c.Index], int64(0)
				for _, p := range cluster.Columns()[c.ID].Pages {
					size, begin := int64(p.StoredSize()), at
					at += int64(p.NumElements)
					switch {
					case c.Owner.Path() == "ID":
						condition += size
					case begin < (chosen.End-cluster.First)*k && (chosen.First-cluster.First)*k < at:
						want += size
					default:
						rest += size
					}
				}
			}
		}
		if rest < 20*want {
			t.Fatalf("%d bytes with survivors, %d without", want, rest)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		metadata := info.Size() - condition - want - rest // with keys and checksums
		for _, ahead := range []int64{-1, 64 << 20} {
			type id struct{ ID int64 }
			keep := rntuple.WhereFunc(func(e *id) bool { return e.ID >= chosen.First && e.ID < chosen.End })
			before := bytesRead(t)
			report, err := Skim(all, filepath.Join(t.TempDir(), "out.root"), []Input{{Path: path}}, keep,
				&SkimOptions{Options: Options{Read: rntuple.ReadOptions{ReadAhead: ahead, NoMap: true}}})
			got := bytesRead(t) - before
			if err != nil || report.Entries != 400 {
				t.Fatal(report, err)
			}
			if most := metadata + condition + want*13/10; got > most {
				t.Errorf("%v, reading ahead %d bytes: %d bytes are read, at most %d are expected: the condition has %d, the pages %d, metadata %d", chosen, ahead, got, most, condition, want, metadata)
			}
		}
	}
}
