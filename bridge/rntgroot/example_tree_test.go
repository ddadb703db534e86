package rntgroot_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"go-hep.org/x/hep/groot"
	"go-hep.org/x/hep/groot/rtree"

	"github.com/go-rntuple/go-rntuple/bridge/rntgroot"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A TTree becomes an RNTuple; what it cannot have is refused by name.
func ExampleCreateFromTree() {
	dir, err := os.MkdirTemp("", "trees")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	in, out := filepath.Join(dir, "in.root"), filepath.Join(dir, "out.root")
	if err := writeTree(in); err != nil {
		log.Fatal(err)
	}

	tree, err := rntgroot.OpenTree("events", []string{in}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer tree.Close()
	entries, err := rntgroot.CreateFromTree(context.Background(), out, "", tree, nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(entries, "entries")

	r, err := rntuple.Open(out, "events", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	type entry struct {
		Run  int32     `rntuple:"run"`
		N    uint32    `rntuple:"n"`
		Pt   []float32 `rntuple:"pt"`
		Name string    `rntuple:"name"`
	}
	for e := range rntuple.Entries[entry](r) {
		fmt.Printf("%+v\n", e)
	}
	// Output:
	// 3 entries
	// &{Run:1 N:0 Pt:[] Name:event 0}
	// &{Run:1 N:1 Pt:[0] Name:event 1}
	// &{Run:1 N:2 Pt:[0 0.5] Name:event 2}
}

// writeTree has groot write a TTree.
func writeTree(path string) error {
	f, err := groot.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	event := struct {
		Run  int32     `groot:"run"`
		N    int32     `groot:"n"`
		Pt   []float32 `groot:"pt[n]"`
		Name string    `groot:"name"`
	}{Run: 1}
	w, err := rtree.NewWriter(f, "events", rtree.WriteVarsFromStruct(&event))
	if err != nil {
		return err
	}
	for i := range int32(3) {
		event.N, event.Name, event.Pt = i, fmt.Sprintf("event %d", i), event.Pt[:0]
		for j := range i {
			event.Pt = append(event.Pt, float32(j)/2)
		}
		if _, err := w.Write(); err != nil {
			return err
		}
	}
	return w.Close()
}

// The branches of a tree, and the fields that they become.
func ExampleTrees() {
	dir, err := os.MkdirTemp("", "trees")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	in := filepath.Join(dir, "in.root")
	if err := writeTree(in); err != nil {
		log.Fatal(err)
	}

	trees, err := rntgroot.Trees(in, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range trees {
		fmt.Println(t.Name, t.Entries)
		for _, b := range t.Branches {
			fmt.Println("  ", b.Name, b.Type)
		}
	}
	// Output:
	// events 3
	//    run int
	//    n int
	//    pt float[n]
	//    name char*
}
