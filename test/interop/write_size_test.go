package interop

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A sizeEvent is an entry of the files that written_size.C makes.
type sizeEvent struct {
	Event   uint64    `rntuple:"event"`
	Run     int32     `rntuple:"run"`
	Flag    bool      `rntuple:"flag"`
	X       float64   `rntuple:"x"`
	Mass    float64   `rntuple:"mass"`
	Charge  int8      `rntuple:"charge"`
	Status  int32     `rntuple:"status"`
	Pt      []float32 `rntuple:"pt"`
	ID      []int32   `rntuple:"id"`
	Trigger string    `rntuple:"trigger"`
}

const sizeEntries = 1_500_000

// dimuonClusters lists the first entries of the clusters that dimuon.C makes.
var dimuonClusters = []int64{8000, 16000, 24000, 32000, 40000, 48000, 56000, 64000, 72000}

// TestWriteSize writes the entries of ROOT's files with the same settings: the
// files must be at most 2 % larger, with the same clusters, encodings and pages.
// With zstd they are smaller than ROOT's, because the encoder knows planes; LZ4's
// level 4 favours speed, and 405 is as small as ROOT's. The log has the table.
func TestWriteSize(t *testing.T) {
	needed(t)
	var table strings.Builder
	tab := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "file\tour bytes\tROOT's\tratio\tour clusters\tROOT's\tour pages\tROOT's\tour seconds\tROOT's\t")
	row := func(name, ours, root, seconds string, took time.Duration, cluster int64) {
		a, b := inspect(t, ours), inspect(t, root)
		ratio := float64(a.size) / float64(b.size)
		fmt.Fprintf(tab, "%s\t%d\t%d\t%.4f\t%d\t%d\t%d\t%d\t%.1f\t%s\t\n", name, a.size, b.size, ratio, a.Clusters,
			b.Clusters, a.Total.Pages, b.Total.Pages, took.Seconds(), seconds)
		limit := 1.02
		if strings.Contains(name, "404") { // written fast
			limit = 1.16
		}
		if ratio > limit || ratio < 0.98 && !strings.Contains(name, "505") {
			t.Errorf("%s: %d bytes, ROOT has %d, that is %.4f of it", name, a.size, b.size, ratio)
		}
		if a.Clusters != b.Clusters {
			t.Errorf("%s: %d clusters, ROOT has %d", name, a.Clusters, b.Clusters)
		}
		slack := int64(0)
		if cluster > 0 { // clusters end by their compressed size, and so at other entries
			slack = int64(a.Clusters)
		}
		sameColumns(t, name, a, b, slack)
	}

	dir := t.TempDir()
	dimuon := filepath.Join(dir, "dimuon.root")
	begin := time.Now()
	if err := rewrite(dimuon, "../../testdata/dimuon.root", "Events", layout{page: 1 << 20, clusters: dimuonClusters},
		&rntuple.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	row("dimuon, 505", dimuon, "../../testdata/dimuon.root", "", time.Since(begin), 0)
	for _, c := range []struct {
		setting int // of ROOT
		cluster int64
	}{{0, 0}, {404, 0}, {405, 0}, {505, 0}, {101, 8_000_000}, {505, 8_000_000}} {
		root, ours := filepath.Join(dir, "root.root"), filepath.Join(dir, "ours.root")
		args := []string{root, fmt.Sprint(c.setting), fmt.Sprint(sizeEntries)}
		opts := &rntuple.WriteOptions{Compression: settingOf(c.setting), ClusterSize: c.cluster}
		name := fmt.Sprintf("events, %d", c.setting)
		if c.cluster > 0 {
			args = append(args, fmt.Sprint(c.cluster))
			name += fmt.Sprintf(", clusters of %d", c.cluster)
		}
		seconds := strings.TrimSpace(string(script(t, "written_size.sh", args...)))
		begin := time.Now()
		copyEvents(t, ours, root, opts)
		row(name, ours, root, seconds[:min(4, len(seconds))], time.Since(begin), c.cluster)
	}
	tab.Flush()
	t.Logf("\n%s", table.String())
}

// copyEvents writes the entries of one file to another.
func copyEvents(t *testing.T, to, from string, opts *rntuple.WriteOptions) {
	t.Helper()
	r, err := rntuple.Open(from, "events", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w, err := rntuple.Create[sizeEvent](to, "events", opts)
	if err != nil {
		t.Fatal(err)
	}
	for entry, err := range rntuple.Entries[sizeEvent](r) {
		if err != nil {
			t.Fatal(err)
		}
		w.Write(entry)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// An inspected is a file with one RNTuple, and its parts.
type inspected struct {
	*rntuple.Inspection
	size int64
}

func inspect(t *testing.T, path string) inspected {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.Open(path, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	i, err := r.Inspect(nil)
	if err != nil {
		t.Fatal(err)
	}
	return inspected{i, info.Size()}
}

// sameColumns makes sure that columns have the same encodings, equally many
// elements and, within slack, equally many pages.
func sameColumns(t *testing.T, name string, a, b inspected, slack int64) {
	t.Helper()
	if len(a.Columns) != len(b.Columns) {
		t.Fatalf("%s: %d columns, ROOT has %d", name, len(a.Columns), len(b.Columns))
	}
	for i, c := range a.Columns {
		d := b.Columns[i]
		path := c.Column.Owner.Path()
		if c.Column.Format() != d.Column.Format() || path != d.Column.Owner.Path() || c.Elements != d.Elements {
			t.Errorf("%s: column %d is %v of %s with %d elements, ROOT's %v of %s with %d", name, i, c.Column.Format(), path,
				c.Elements, d.Column.Format(), d.Column.Owner.Path(), d.Elements)
		}
		if c.Pages > d.Pages+slack || c.Pages < d.Pages-slack {
			t.Errorf("%s: %s has %d pages, ROOT's %d", name, path, c.Pages, d.Pages)
		}
		if e, f := c.OwnDisk(), d.OwnDisk(); e != f {
			t.Logf("%s: %s (%v) takes %d bytes, ROOT's %d (%.3f)", name, path, c.Column.Format(), e, f, float64(e)/float64(f))
		}
	}
}
