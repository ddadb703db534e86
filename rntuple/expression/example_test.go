package expression_test

import (
	"fmt"
	"log"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
)

const sample = "../../testdata/dimuon.root"

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
	r, err := rntuple.Open(sample, "", nil)
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
		sums, _ := columnar.Values[float64](b.Values[0])
		chosen, _ := columnar.Values[bool](b.Values[1])
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

// The transverse momentum of the leading muon, which is missing in entries without muons, with all
// of them.
func ExampleValues() {
	r, err := rntuple.Open(sample, "", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	lead, err := expression.Parse("max(Muon_pt)")
	if err != nil {
		log.Fatal(err)
	}
	all, err := expression.Parse("Muon_pt")
	if err != nil {
		log.Fatal(err)
	}
	p, err := expression.Compile(r, lead, all)
	if err != nil {
		log.Fatal(err)
	}
	leads, err := expression.Values[*float64](p, 0)
	if err != nil {
		log.Fatal(err)
	}
	momenta, err := expression.Values[[]float64](p, 1)
	if err != nil {
		log.Fatal(err)
	}
	_, err = expression.Values[float64](p, 0)
	fmt.Println(err)
	for b, err := range p.In(r, rntuple.EntryRange{End: 3}) {
		if err != nil {
			log.Fatal(err)
		}
		some := momenta(b)
		for i, pt := range leads(b) {
			if pt != nil {
				fmt.Printf("%.1f of %.1f\n", *pt, some[i])
			}
		}
	}
	// Output:
	// expression: float64 does not fit max(Muon_pt) (float, may be missing); *float64 does
	// 7.1 of [7.1 3.4]
	// 6.1 of [6.1 5.2]
	// 30.3 of [30.3 7.1]
}
