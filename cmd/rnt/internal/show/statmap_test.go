package show

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"
	"github.com/go-rntuple/go-rntuple/internal/show/storagemap"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// titles returns what a picture shows on hover.
func titles(t *testing.T, svg string) (all []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	inTitle := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inTitle = token.Name.Local == "title"
		case xml.CharData:
			if inTitle {
				all = append(all, string(token))
			}
		case xml.EndElement:
			inTitle = false
		}
	}
}

func TestStatMap(t *testing.T) {
	all := titles(t, tool.RNT(t, "stat", "--map", "-", dimuon))
	for _, want := range []string{
		"Events in dimuon.root",
		"header: 562 B",
		"PV_npvs, column #3\nstd::int32_t as SplitInt32\n80,000 elements, 10 pages, 320 kB in memory, 42.7 kB on disk, 7.5 times smaller than in memory",
		"_collection0._0.Muon_pt: 10 pages, 327 kB",
		"cluster 0, 1 page, 45 B at 872", // as `rnt dump --page-lists` has it, with the checksum
	} {
		if !slices.Contains(all, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if n := len(all); n < 12+12+120 { // columns, rows and pages
		t.Errorf("%d texts", n)
	}
	few := strings.Join(titles(t, tool.RNT(t, "stat", "--map", "-", dimuon, "-f", "run,_collection0._0.Muon_pt")), "\n")
	if !strings.Contains(few, "Muon_pt, column #7") || strings.Contains(few, "Muon_eta") ||
		strings.Contains(few, "header") {
		t.Error(few)
	}
	many := titles(t, tool.RNT(t, "stat", "--map", "-",
		clitest.Shared(t, shared, "cmsopendata2015_ttbar_19980_NANOAOD_RNTupleImporter_rntuple_v1-0-0-1.root")))
	if !slices.ContainsFunc(many, func(s string) bool { return strings.HasPrefix(s, "504 others: ") }) {
		t.Error("the row of the other fields is missing")
	}
}

// The tree and the rows of every file have what Inspect counts.
func TestStatMapOfAll(t *testing.T) {
	paths, err := filepath.Glob("../../../../testdata/good/*.root")
	if err != nil {
		t.Fatal(err)
	}
	more, _ := filepath.Glob(shared + "/*/*.root")
	checked := 0
	for _, path := range append(paths, more...) {
		infos, _ := rntuple.ListFile(context.Background(), path, nil)
		for _, info := range infos {
			r, err := rntuple.Open(path, info.Path, nil)
			if err != nil {
				continue
			}
			checked++
			checkMap(t, path, r)
			r.Close()
		}
	}
	if checked < len(paths) { // each of them has one at least
		t.Errorf("only %d RNTuples", checked)
	}
}

func checkMap(t *testing.T, path string, r *rntuple.Reader) {
	t.Helper()
	i, err := r.Inspect(nil)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	p, err := pictureOf(t.Context(), r, i, nil)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if p.Storage.Size != i.Disk() {
		t.Errorf("%s: the tree has %d bytes, want %d", path, p.Storage.Size, i.Disk())
	}
	var pages []storagemap.Extent
	for _, row := range p.Rows {
		pages = append(pages, row.Extents...)
	}
	if int64(len(pages)) != i.Total.Pages {
		t.Errorf("%s: the rows have %d pages, want %d", path, len(pages), i.Total.Pages)
	}
	var b strings.Builder
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	titles(t, b.String())
	for _, c := range i.Columns {
		want := columnName(i, c.Column.Owner, c)
		if found := find(p.Storage, want); found == nil || found.Size != c.OwnDisk() {
			t.Errorf("%s: column %s: %+v, want %d bytes", path, want, found, c.OwnDisk())
		}
	}
	if strings.Contains(path, "special_chunks_") {
		return // pieces of their pages lie elsewhere
	}
	if got, want := storagemap.Bytes(storagemap.Union(pages)), i.Total.OwnDisk()+i.Total.ChecksumDisk; got != want {
		t.Errorf("%s: the rows have %d bytes, want %d", path, got, want)
	}
	if got := storagemap.Bytes(storagemap.Union(slices.Clone(p.All))); got != i.Disk() {
		t.Errorf("%s: the strip has %d bytes, want %d", path, got, i.Disk())
	}
}

// find returns the leaf of a name.
func find(n *storagemap.Node, name string) *storagemap.Node {
	if n.Name == name && len(n.Children) == 0 {
		return n
	}
	for _, c := range n.Children {
		if found := find(c, name); found != nil {
			return found
		}
	}
	return nil
}

// More columns than rows: top-level fields have rows, and if these are too many as well
// the largest.
func TestMapRows(t *testing.T) {
	r, err := rntuple.Open(clitest.Shared(t, shared,
		"cmsopendata2015_ttbar_19980_NANOAOD_RNTupleImporter_rntuple_v1-0-0-1.root"), "Events", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	i, err := r.Inspect(nil)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := storagemap.Extents(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	var own []*schema.Field // with columns
	for _, f := range r.Schema().TopLevel() {
		if i.Field(f).Pages > 0 {
			own = append(own, f)
		}
	}
	last := own[len(own)-30:]
	rows, note := mapRows(i, last, columns)
	if len(rows) != 30 || !strings.HasPrefix(note, "A row for each top-level field") {
		t.Errorf("%d rows: %s", len(rows), note)
	}
	for n, row := range rows {
		if want := i.Field(last[n]); row.Name != last[n].Path() || int64(len(row.Extents)) != want.Pages {
			t.Errorf("row %s has %d pages, want %d of %s", row.Name, len(row.Extents), want.Pages, last[n].Path())
		}
	}
	rows, _ = mapRows(i, own, columns)
	least := int64(1) << 60
	for _, row := range rows[:len(rows)-1] {
		least = min(least, storagemap.Bytes(row.Extents))
	}
	for _, e := range rows[len(rows)-1].Extents {
		if e.End-e.Off > least {
			t.Fatalf("a page of %d bytes is among the others, but a row has %d", e.End-e.Off, least)
		}
	}
	if len(rows) != storagemap.MaxRows {
		t.Errorf("%d rows", len(rows))
	}
}
