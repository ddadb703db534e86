package rntgroot_test

import (
	"fmt"
	"log"

	"go-hep.org/x/hep/groot"
	"go-hep.org/x/hep/groot/rhist"
	"go-hep.org/x/hep/groot/riofs"

	"github.com/go-rntuple/go-rntuple/bridge/rntgroot"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// The entries of this RNTuple contain histograms.
func ExampleViewOf() {
	r, err := rntuple.Open("../../testdata/good/objects.root", "objects", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	histograms, err := rntgroot.ViewOf[*rhist.H1D](r, "h")
	if err != nil {
		log.Fatal(err)
	}
	for i, h := range histograms.All() {
		if i < 3 {
			fmt.Printf("%s: %d bins up to %g\n", h.Title(), h.NbinsX(), h.XAxis().XMax())
		}
	}
	if err := histograms.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// histogram 0: 5 bins up to 1
	// histogram 1: 5 bins up to 2
	// histogram 2: 5 bins up to 3
}

// Objects of a class without a Go type are read as *Object.
func ExampleObject() {
	r, err := rntuple.Open("../../testdata/good/special_streamer.root", "streamed", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	objects, err := rntgroot.ViewOf[*rntgroot.Object](r, "obj")
	if err != nil {
		log.Fatal(err)
	}
	o, err := objects.At(2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(o.Class(), o.Names, o.Get("n"), o.Get("v"))
	// Output:
	// SStreamed [n d s v] 1 [1 1 1]
}

// Dynamic values can contain objects at any depth.
func ExampleDecoder_Value() {
	r, err := rntuple.Open("../../testdata/good/objects.root", "objects", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	decoder, err := rntgroot.NewDecoder(r)
	if err != nil {
		log.Fatal(err)
	}
	records, err := rntuple.RecordsOf(r, "holder")
	if err != nil {
		log.Fatal(err)
	}
	record, err := records.At(2)
	if err != nil {
		log.Fatal(err)
	}
	chain, err := r.Schema().Lookup("holder")
	if err != nil {
		log.Fatal(err)
	}
	holder, err := decoder.Value(chain[0], record.Get("holder"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%T\n", holder)
	// Output:
	// value.Record
}

// The file was opened by groot.
func ExampleOpen() {
	f, err := groot.Open("../../testdata/good/special_dirs.root")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	r, err := rntgroot.Open(f, "dir/sub/ntuple", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.NumEntries(), "entries")

	obj, err := riofs.Dir(f).Get("dir/other")
	if err != nil {
		log.Fatal(err)
	}
	if r, err = obj.(*rntgroot.RNTuple).Open(nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.NumEntries(), "entries")
	// Output:
	// 7 entries
	// 3 entries
}
