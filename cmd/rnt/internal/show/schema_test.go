package show

import (
	"reflect"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"
	"github.com/go-rntuple/go-rntuple/schema"
)

func TestSchema(t *testing.T) {
	const want = `RNTuple "Events": 13 top-level fields, 24 fields in all, 12 columns
written by:  ROOT v6.40.00

run                std::uint32_t                            scalar       SplitUInt32
luminosityBlock    std::uint32_t                            scalar       SplitUInt32
event              std::uint64_t                            scalar       SplitUInt64
PV_npvs            std::int32_t                             scalar       SplitInt32
HLT_Mu17_Mu8       bool                                     scalar       Bit
HLT_IsoMu24        bool                                     scalar       Bit
_collection0       untyped                                  collection   SplitIndex64
└─ _0              untyped                                  record
   ├─ Muon_pt      float                                    scalar       SplitReal32
   ├─ Muon_eta     float                                    scalar       SplitReal32
   ├─ Muon_phi     float                                    scalar       SplitReal32
   ├─ Muon_mass    float                                    scalar       SplitReal32
   └─ Muon_charge  std::int32_t                             scalar       SplitInt32
Muon_pt            ROOT::VecOps::RVec<float>                collection                 view on _collection0
└─ _0              float                                    scalar                     view on _collection0._0.Muon_pt
Muon_eta           ROOT::VecOps::RVec<float>                collection                 view on _collection0
└─ _0              float                                    scalar                     view on _collection0._0.Muon_eta
Muon_phi           ROOT::VecOps::RVec<float>                collection                 view on _collection0
└─ _0              float                                    scalar                     view on _collection0._0.Muon_phi
Muon_mass          ROOT::VecOps::RVec<float>                collection                 view on _collection0
└─ _0              float                                    scalar                     view on _collection0._0.Muon_mass
Muon_charge        ROOT::VecOps::RVec<std::int32_t>         collection                 view on _collection0
└─ _0              std::int32_t                             scalar                     view on _collection0._0.Muon_charge
nMuon              ROOT::RNTupleCardinality<std::uint32_t>  cardinality                view on _collection0
`
	clitest.Compare(t, tool.RNT(t, "schema", dimuon), want)
	clitest.Compare(t, tool.RNT(t, "schema", dimuon, "Events"), want)
}

func TestSchemaJSON(t *testing.T) {
	d := clitest.JSON[schema.Document](t, tool, "schema", "--json", dimuon)
	if d.Name != "Events" || d.Writer != "ROOT v6.40.00" || len(d.Fields) != 13 {
		t.Fatalf("got %+v", d)
	}
	float := func(name string) *schema.FieldDocument {
		return &schema.FieldDocument{Name: name, Type: "float", Role: "plain",
			Columns: [][]schema.ColumnDocument{{{Type: "SplitReal32", Bits: 32}}}}
	}
	charge := &schema.FieldDocument{Name: "Muon_charge", Type: "std::int32_t", Role: "plain",
		Columns: [][]schema.ColumnDocument{{{Type: "SplitInt32", Bits: 32}}}}
	want := &schema.FieldDocument{
		Name: "_collection0", Role: "collection", Columns: [][]schema.ColumnDocument{{{Type: "SplitIndex64", Bits: 64}}},
		Fields: []*schema.FieldDocument{{
			Name: "_0", Role: "record",
			Fields: []*schema.FieldDocument{float("Muon_pt"), float("Muon_eta"), float("Muon_phi"), float("Muon_mass"), charge},
		}},
	}
	if !reflect.DeepEqual(d.Fields[6], want) {
		t.Errorf("got %+v", d.Fields[6])
	}
	want = &schema.FieldDocument{
		Name: "Muon_pt", Type: "ROOT::VecOps::RVec<float>", Role: "collection", Source: "_collection0",
		Fields: []*schema.FieldDocument{{Name: "_0", Type: "float", Role: "plain", Source: "_collection0._0.Muon_pt"}},
	}
	if !reflect.DeepEqual(d.Fields[7], want) {
		t.Errorf("got %+v", d.Fields[7])
	}
}

func TestSchemaShared(t *testing.T) {
	d := clitest.JSON[schema.Document](t, tool, "schema", "--json",
		clitest.Shared(t, shared, "test_extension_columns_rntuple_v1-0-0-0.root"))
	if first := d.Fields[1].Columns[0][0].FirstElement; !d.Fields[1].Extended || d.Fields[0].Extended ||
		first == nil || *first != 200 {
		t.Errorf("got %+v", d.Fields[1])
	}
	d = clitest.JSON[schema.Document](t, tool, "schema", "--json",
		clitest.Shared(t, shared, "test_float_types_rntuple_v1-0-0-0.root"))
	if c := d.Fields[4].Columns[0][0]; c.Type != "Real32Quant" || c.Bits != 1 || *c.Range != [2]float64{-2, 3} {
		t.Errorf("got %+v", d.Fields[4])
	}
	d = clitest.JSON[schema.Document](t, tool, "schema", "--json",
		clitest.Shared(t, shared, "cmsopendata2015_ttbar_19980_NANOAOD_RNTupleImporter_rntuple_v1-0-0-1.root"))
	fields, columns := 0, 0
	var walk func(list []*schema.FieldDocument)
	walk = func(list []*schema.FieldDocument) {
		for _, f := range list {
			fields++
			for _, r := range f.Columns {
				columns += len(r)
			}
			walk(f.Fields)
		}
	}
	walk(d.Fields)
	// ROOT counts the nameless root as a field too: 1680.
	if len(d.Fields) != 969 || fields != 1679 || columns != 947 {
		t.Errorf("%d top-level fields, %d fields, %d columns", len(d.Fields), fields, columns)
	}
	out := tool.RNT(t, "schema", clitest.Shared(t, shared, "test_stl_containers_rntuple_v1-0-0-0.root"))
	if !strings.Contains(out, "\n"+`vector_variant_int64_string  std::vector<std::variant<std::int64_t,std::string>>  collection  SplitIndex64
└─ _0                        std::variant<std::int64_t,std::string>               variant     Switch
   ├─ _0                     std::int64_t                                         scalar      SplitInt64
   └─ _1                     std::string                                          string      SplitIndex64 + Char
`) {
		t.Errorf("got\n%s", out)
	}
}
