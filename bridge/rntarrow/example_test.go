package rntarrow_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

func ExampleNewReader() {
	r, err := rntuple.Open("../../testdata/dimuon.root", "Events", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	records, err := rntarrow.NewReader(r, &rntarrow.Options{Fields: []string{"run", "Muon_pt"}})
	if err != nil {
		log.Fatal(err)
	}
	defer records.Release()
	muons := 0
	for records.Next() {
		pt := records.RecordBatch().Column(1).(*array.LargeList)
		muons += pt.ListValues().Len()
	}
	if err := records.Err(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(records.Schema().Field(1).Type, muons)
	// Output: large_list<item: float32> 159025
}

func ExampleCreate() {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "energy", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Float32)},
	}, nil)
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, s,
		strings.NewReader(`[{"id": 1, "energy": [0.5]}, {"id": 2, "energy": []}]`))
	if err != nil {
		log.Fatal(err)
	}
	records, err := array.NewRecordReader(s, []arrow.RecordBatch{batch})
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	entries, err := rntarrow.Create(filepath.Join(dir, "events.root"), "events", records, nil, nil)
	fmt.Println(entries, err)
	// Output: 2 <nil>
}
