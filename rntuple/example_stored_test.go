package rntuple_test

import (
	"context"
	"fmt"
	"log"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// The first page of a column is read with the packages of the format: the page list says where it
// is, package compress decompresses it, package column decodes it.
func ExampleReader_StoredPage() {
	ctx := context.Background()
	r, err := rntuple.Open(sample, "Events", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	chain, err := r.Schema().Lookup("run")
	if err != nil {
		log.Fatal(err)
	}
	run := chain[0].Columns[0][0] // of the first representation

	list, err := r.PageList(ctx, 0)
	if err != nil {
		log.Fatal(err)
	}
	pages := list.Pages[0].Columns[run.ID].Pages // in the first cluster
	stored, err := r.StoredPage(ctx, nil, run, pages[0])
	if err != nil {
		log.Fatal(err)
	}
	page := make([]byte, run.Format().PageSize(pages[0].NumElements))
	if err := compress.Decompress(page, stored[:pages[0].Locator.Size]); err != nil {
		log.Fatal(err)
	}
	decoder, err := column.NewDecoder[uint32](run.Format())
	if err != nil {
		log.Fatal(err)
	}
	elements := make([]uint32, pages[0].NumElements)
	if err := decoder.Decode(elements, page); err != nil {
		log.Fatal(err)
	}
	fmt.Println(run, elements[:3])
	fmt.Println(r.Anchor().Epoch, len(r.Footer().ClusterGroups), r.Header().Name)
	// Output:
	// column 0 of run: SplitUInt32 [194050 194050 194050]
	// 1 1 Events
}
