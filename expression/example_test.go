package expression_test

import (
	"fmt"
	"log"

	"github.com/go-rntuple/go-rntuple/expression"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

const sample = "../testdata/dimuon.root"

// An expression is parsed; errors say where in the text they are.
func ExampleParse() {
	e, err := expression.Parse("nMuon == 2 and all(Muon_pt, # > 20)")
	fmt.Println(e, err)
	_, err = expression.Parse("nMuon == 2 and (Muon_pt[0] > 20")
	fmt.Println(err)
	// Output:
	// nMuon == 2 and all(Muon_pt, # > 20) <nil>
	// expression, character 31: unexpected token EOF
}

// The sum of the muons' momenta, of the entries that have two muons.
func ExampleCompile() {
	r, err := rntuple.Open(sample, "")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	sum, err := expression.Parse("sum(Muon_pt)")
	if err != nil {
		log.Fatal(err)
	}
	pairs, err := expression.Parse("len(Muon_pt) == 2")
	if err != nil {
		log.Fatal(err)
	}
	p, err := expression.Compile(r, sum, pairs)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Fields(), p.Type(0), p.Type(1))
	total := 0.0
	for b, err := range p.In(r, rntuple.EntryRange{End: r.NumEntries()}) {
		if err != nil {
			log.Fatal(err)
		}
		sums, _ := rntuple.Values[float64](b.Values[0])
		chosen, _ := rntuple.Values[bool](b.Values[1])
		for i, x := range sums {
			if chosen[i] {
				total += x
			}
		}
	}
	fmt.Printf("%.2f\n", total)
	// Output:
	// [Muon_pt] float bool
	// 1738319.48
}
