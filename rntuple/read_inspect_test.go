package rntuple_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// The numbers of this file are those of ROOT 6.40's RNTupleInspector, columns
// by ID.
type inspected struct{ elements, disk, memory, pages int64 }

// What each column of testdata/dimuon.root costs.
var dimuonColumns = []inspected{
	{80000, 388, 320000, 10},     // run
	{80000, 1150, 320000, 10},    // luminosityBlock
	{80000, 126386, 640000, 10},  // event
	{80000, 42709, 320000, 10},   // PV_npvs
	{80000, 7618, 80000, 10},     // HLT_Mu17_Mu8
	{80000, 7084, 80000, 10},     // HLT_IsoMu24
	{80000, 13664, 640000, 10},   // _collection0
	{159025, 327155, 636100, 10}, // Muon_pt
	{159025, 378762, 636100, 10}, // Muon_eta
	{159025, 379525, 636100, 10}, // Muon_phi
	{159025, 380, 636100, 10},    // Muon_mass
	{159025, 24706, 636100, 10},  // Muon_charge
}

func openFile(t *testing.T, path string) *rntuple.Reader {
	t.Helper()
	if _, err := os.Stat(path); os.IsNotExist(err) {
		t.Skipf("%s is not there", path)
	}
	r, err := rntuple.Open(path, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func compareColumns(t *testing.T, i *rntuple.Inspection, want []inspected) {
	t.Helper()
	if len(i.Columns) != len(want) {
		t.Fatalf("%d columns, want %d", len(i.Columns), len(want))
	}
	for n, c := range i.Columns {
		if got := (inspected{c.Elements, c.Disk, c.Memory, c.Pages}); got != want[n] || int(c.Column.ID) != n {
			t.Errorf("column %d (%s): got %v, want %v", c.Column.ID, c.Column.Owner.Path(), got, want[n])
		}
	}
}

func TestInspect(t *testing.T) {
	r := openFile(t, "../testdata/dimuon.root")
	var progress []string
	i, err := r.Inspect(func(done, total int) { progress = append(progress, fmt.Sprintf("%d of %d", done, total)) })
	if err != nil {
		t.Fatal(err)
	}
	compareColumns(t, i, dimuonColumns)
	if i.Entries != 80000 || i.Clusters != 10 || i.ClusterGroups != 1 {
		t.Errorf("%d entries, %d clusters, %d groups", i.Entries, i.Clusters, i.ClusterGroups)
	}
	if fmt.Sprint(progress) != "[1 of 1]" {
		t.Errorf("progress: %v", progress)
	}
	if i.Header.Disk != 562 || i.Footer.Disk+i.PageLists.Disk != 1023 { // ROOT gives the sum as footer
		t.Errorf("envelopes: %v %v %v", i.Header, i.Footer, i.PageLists)
	}
	// 2*8000 bits a cluster are an eighth of the booleans.
	total := rntuple.Storage{Pages: 120, Checksums: 120, ChecksumDisk: 120 * 8, Elements: 1355125, Disk: 1309527,
		Packed: 5580500 - 160000*7/8, Memory: 5580500}
	if i.Total != total {
		t.Errorf("total: got %+v, want %+v", i.Total, total)
	}
	if want := int64(1309527 + 120*8 + 562 + 1023); i.Disk() != want {
		t.Errorf("on disk: %d bytes, want %d", i.Disk(), want)
	}
	if s := i.Compression(); len(s) != 1 || s[0] != 505 {
		t.Errorf("compression: %v", s)
	}
	chain, err := r.Schema().Lookup("_collection0")
	if err != nil {
		t.Fatal(err)
	}
	if s := i.Field(chain[0]); s.Disk != 13664+327155+378762+379525+380+24706 || s.Pages != 60 {
		t.Errorf("_collection0: %+v", s)
	}
	if chain, err = r.Schema().Lookup("Muon_pt"); err != nil {
		t.Fatal(err)
	}
	if s := i.Field(chain[0]); s != (rntuple.Storage{}) {
		t.Errorf("Muon_pt is a projected field, got %+v", s)
	}
}

// ROOT wrote equal pages of this file once.
func TestInspectShared(t *testing.T) {
	r := openFile(t, "../../shared/testdata/root/test_stl_containers_rntuple_v1-0-0-0.root")
	i, err := r.Inspect(nil)
	if err != nil {
		t.Fatal(err)
	}
	if i.Total.Disk != 1354 || i.Total.Memory != 2270 || i.Total.Pages != 42 || i.Total.Elements != 552 {
		t.Errorf("total: %+v", i.Total)
	}
	places := map[string]int64{} // all bytes, each once
	for _, c := range i.Columns {
		if c.Pages != 1 {
			t.Errorf("column %d has %d pages", c.Column.ID, c.Pages)
		}
		if c.Shared == 0 {
			places[fmt.Sprint(c.Column.ID)] = c.Disk
		}
	}
	var own int64
	for _, n := range places {
		own += n
	}
	if i.Total.OwnDisk() != 547 || own != 547 || i.Total.Shared != 24 || i.Total.ChecksumDisk != 18*8 {
		t.Errorf("shared: %+v, not shared %d bytes", i.Total, own)
	}
}

// The types whose elements need less room on disk than in memory.
func TestInspectWidths(t *testing.T) {
	i, err := openFile(t, "../../shared/testdata/root/test_float_types_rntuple_v1-0-0-0.root").Inspect(nil)
	if err != nil {
		t.Fatal(err)
	}
	var want []inspected
	for _, disk := range []int64{5, 8, 12, 16, 1, 4, 8, 10, 12, 13, 16} {
		want = append(want, inspected{4, disk, 16, 1})
	}
	compareColumns(t, i, want)
	for _, c := range i.Columns {
		if c.Packed != c.Disk { // pages this small are not compressed
			t.Errorf("column %d: %d bytes packed, %d on disk", c.Column.ID, c.Packed, c.Disk)
		}
	}
	i, err = openFile(t, "../../shared/testdata/root/test_emptystruct_invalidvar_rntuple_v1-0-0-0.root").Inspect(nil)
	if err != nil {
		t.Fatal(err)
	}
	compareColumns(t, i, []inspected{{3, 36, 48, 1}, {1, 4, 4, 1}, {1, 4, 4, 1}})
}

func TestInspectGroups(t *testing.T) {
	i, err := openFile(t, "../../shared/testdata/root/test_multiple_cluster_groups_rntuple_v1-0-0-0.root").Inspect(nil)
	if err != nil {
		t.Fatal(err)
	}
	compareColumns(t, i, []inspected{{1000, 1387, 4000, 12}, {1000, 372, 8000, 12}, {2000, 2356, 4000, 12}})
	if i.Clusters != 12 || i.ClusterGroups != 3 || i.Header.Disk != 191 || i.Footer.Disk+i.PageLists.Disk != 764 {
		t.Errorf("%+v", i)
	}
}

// Columns that were added late: their zeros are not stored. ROOT counts these
// as elements and gives them bytes on disk that the file does not have.
func TestInspectLate(t *testing.T) {
	i, err := openFile(t, "../../shared/testdata/root/test_extension_columns_rntuple_v1-0-0-0.root").Inspect(nil)
	if err != nil {
		t.Fatal(err)
	}
	compareColumns(t, i, []inspected{{600, 645, 2400, 5}, {400, 1359 - 200*4, 1600, 4},
		{200, 3293 - 400*8, 1600, 3}, {400, 495, 1600, 3}})
}

func TestInspectCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := openFile(t, "../testdata/dimuon.root").WithContext(ctx)
	if _, err := r.Inspect(nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got the error %v", err)
	}
}

func ExampleReader_Inspect() {
	r, err := rntuple.Open("../testdata/dimuon.root", "Events", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	i, err := r.Inspect(nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range i.Columns[:3] {
		fmt.Println(c.Column.Owner.Path(), c.Column.Format(), c.Disk, "of", c.Memory, "bytes")
	}
	// Output:
	// run SplitUInt32 388 of 320000 bytes
	// luminosityBlock SplitUInt32 1150 of 320000 bytes
	// event SplitUInt64 126386 of 640000 bytes
}
