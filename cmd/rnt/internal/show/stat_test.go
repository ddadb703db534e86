package show

import (
	"testing"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"
)

// The numbers are those of ROOT 6.40's RNTupleInspector.
func TestStat(t *testing.T) {
	clitest.Compare(t, tool.RNT(t, "stat", dimuon), `RNTuple "Events": 80,000 entries, 10 clusters in 1 cluster group
compression: zstd 5

            ON DISK  IN MEMORY  RATIO
header        562 B    1.99 kB    3.5
footer         89 B      160 B    1.8
page lists    934 B    5.21 kB    5.6
pages       1.31 MB    5.58 MB    4.3  120 pages
checksums     960 B                    all pages
total       1.31 MB

FIELD              TYPE                ENCODING      ELEMENTS  PAGES  IN MEMORY  RATIO  ON DISK     %
run                std::uint32_t       SplitUInt32     80,000     10     320 kB    825    388 B   0.0
luminosityBlock    std::uint32_t       SplitUInt32     80,000     10     320 kB    278  1.15 kB   0.1
event              std::uint64_t       SplitUInt64     80,000     10     640 kB    5.1   126 kB   9.7
PV_npvs            std::int32_t        SplitInt32      80,000     10     320 kB    7.5  42.7 kB   3.3
HLT_Mu17_Mu8       bool                Bit             80,000     10    80.0 kB   10.5  7.62 kB   0.6
HLT_IsoMu24        bool                Bit             80,000     10    80.0 kB   11.3  7.08 kB   0.5
_collection0       untyped collection                             60    3.82 MB    3.4  1.12 MB  85.8
├─ #6                                  SplitIndex64    80,000     10     640 kB   46.8  13.7 kB   1.0
└─ _0              untyped record                                 50    3.18 MB    2.9  1.11 MB  84.8
   ├─ Muon_pt      float               SplitReal32    159,025     10     636 kB    1.9   327 kB  25.0
   ├─ Muon_eta     float               SplitReal32    159,025     10     636 kB    1.7   379 kB  28.9
   ├─ Muon_phi     float               SplitReal32    159,025     10     636 kB    1.7   380 kB  29.0
   ├─ Muon_mass    float               SplitReal32    159,025     10     636 kB  1,674    380 B   0.0
   └─ Muon_charge  std::int32_t        SplitInt32     159,025     10     636 kB   25.7  24.7 kB   1.9

not shown: 6 projected fields, without columns
`)
}

func TestStatJSON(t *testing.T) {
	s := clitest.JSON[statJSON](t, tool, "stat", "--json", dimuon)
	if s.Name != "Events" || s.Entries != 80000 || s.Clusters != 10 || s.ClusterGroups != 1 || s.Disk != 1312072 ||
		s.Header.Disk != 562 || s.Footer.Disk+s.PageLists.Disk != 1023 || len(s.Settings) != 1 || s.Settings[0] != 505 {
		t.Errorf("got %+v", s)
	}
	if s.Pages.Disk != 1309527 || s.Pages.Memory != 5580500 || s.Pages.Pages != 120 || s.Pages.Checksums != 120 {
		t.Errorf("total: %+v", s.Pages)
	}
	type cost struct {
		field, encoding        string
		elements, disk, memory int64
	}
	want := []cost{
		{"run", "SplitUInt32", 80000, 388, 320000},
		{"luminosityBlock", "SplitUInt32", 80000, 1150, 320000},
		{"event", "SplitUInt64", 80000, 126386, 640000},
		{"PV_npvs", "SplitInt32", 80000, 42709, 320000},
		{"HLT_Mu17_Mu8", "Bit", 80000, 7618, 80000},
		{"HLT_IsoMu24", "Bit", 80000, 7084, 80000},
		{"_collection0", "SplitIndex64", 80000, 13664, 640000},
		{"_collection0._0.Muon_pt", "SplitReal32", 159025, 327155, 636100},
		{"_collection0._0.Muon_eta", "SplitReal32", 159025, 378762, 636100},
		{"_collection0._0.Muon_phi", "SplitReal32", 159025, 379525, 636100},
		{"_collection0._0.Muon_mass", "SplitReal32", 159025, 380, 636100},
		{"_collection0._0.Muon_charge", "SplitInt32", 159025, 24706, 636100},
	}
	if len(s.Columns) != len(want) {
		t.Fatalf("%d columns", len(s.Columns))
	}
	for i, c := range s.Columns {
		if got := (cost{c.Field, c.Encoding, c.Elements, c.Disk, c.Memory}); got != want[i] || int(c.ID) != i {
			t.Errorf("column %d: got %+v, want %+v", i, got, want[i])
		}
	}
	if c := s.Columns[4]; c.Bits != 1 || c.Packed != 10000 {
		t.Errorf("got %+v", c)
	}
	if len(s.Fields) != 24 {
		t.Fatalf("%d fields", len(s.Fields))
	}
	if f := s.Fields[6]; f.Path != "_collection0" || f.Disk != 13664+327155+378762+379525+380+24706 ||
		f.Memory != 640000+5*636100 {
		t.Errorf("got %+v", f)
	}
	if f := s.Fields[13]; f.Path != "Muon_pt" || f.Source != "_collection0" || f.Disk != 0 {
		t.Errorf("got %+v", f)
	}
}

// Fields in several representations, and pages that share their bytes.
func TestStatRepresentations(t *testing.T) {
	s := clitest.JSON[statJSON](t, tool, "stat", "--json", special+"multirep.root")
	if c := s.Columns[12]; c.Field != "d_quant" || c.Encoding != "Real32" || c.Representation != 2 ||
		c.Elements != 12 || c.Disk != 48 {
		t.Errorf("got %+v", c)
	}
	if s.Pages.Disk != 4784 || s.Pages.Memory != 6208 || s.Pages.Shared != 11 || s.Pages.SharedDisk != 328 {
		t.Errorf("total: %+v", s.Pages)
	}
	if s = clitest.JSON[statJSON](t, tool, "stat", "--json", special+"nochecksum.root"); s.Pages.Checksums != 0 ||
		s.Pages.Pages != 23 || s.Pages.Disk != 1926 {
		t.Errorf("total: %+v", s.Pages)
	}
}

func TestStatShared(t *testing.T) {
	clitest.Compare(t, tool.RNT(t, "stat", clitest.Shared(t, shared, "test_split_3e4_rntuple_v1-0-0-0.root")), `RNTuple "ntuple": 30,000 entries, 1 cluster in 1 cluster group
compression: zstd 5

            ON DISK  IN MEMORY  RATIO
header        225 B      425 B    1.9
footer         83 B      148 B    1.8
page lists    113 B      244 B    2.2
pages         206 B    1.02 MB  4,951  4 pages
checksums      32 B                    all pages
total         659 B

FIELD         TYPE                ENCODING      ELEMENTS  PAGES  IN MEMORY  RATIO  ON DISK     %
one_int32     std::int32_t        SplitInt32      30,000      1     120 kB  3,000     40 B  19.4
two_uint32    std::uint32_t       SplitUInt32     30,000      1     120 kB  3,000     40 B  19.4
three_vint32  std::vector<float>                              2     780 kB  6,190    126 B  61.2
├─ #2                             SplitIndex64    30,000      1     240 kB  5,106     47 B  22.8
└─ _0         float               SplitReal32    135,000      1     540 kB  6,835     79 B  38.3
`)
	s := clitest.JSON[statJSON](t, tool, "stat", "--json",
		clitest.Shared(t, shared, "cmsopendata2015_ttbar_19980_NANOAOD_RNTupleImporter_rntuple_v1-0-0-1.root"))
	if len(s.Columns) != 947 || s.Pages.Disk != 26598 || s.Pages.Memory != 55826 || s.Header.Disk != 18630 ||
		s.Footer.Disk+s.PageLists.Disk != 2018 {
		t.Errorf("%d columns, %+v", len(s.Columns), s.Pages)
	}
}
