package verify_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"

	"github.com/go-rntuple/go-rntuple/rntuple/verify"
)

func ExampleFile() {
	summary, err := verify.File(context.Background(), "../../testdata/dimuon.root", func(p verify.Problem) error {
		fmt.Println(p)
		return nil
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(summary.Problems, "problems in", summary.Clusters, "clusters,", summary.Pages, "pages")
	// Output:
	// 0 problems in 10 clusters, 120 pages
}

func ExampleReaderAt() {
	file, err := os.ReadFile("../../testdata/dimuon.root")
	if err != nil {
		log.Fatal(err)
	}
	file[100000] ^= 1 // a bit of a page
	_, err = verify.ReaderAt(context.Background(), bytes.NewReader(file), int64(len(file)), func(p verify.Problem) error {
		fmt.Println(p.Check, p.Kind(), p.Path())
		return nil
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// pages checksum RNTuple "Events", cluster 0, column 9, field "_collection0._0.Muon_phi", page 0
}
