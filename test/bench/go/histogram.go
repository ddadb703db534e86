package main

import (
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
)

// histogram fills a histogram with the pt of the jets of events with two jets above 30 and a
// muon above 20: 100 bins of 2 GeV, the first and the last one for less and for more.
func histogram(file string, threads int) ([]uint64, error) {
	var parsed []*expression.Expression
	for _, text := range []string{"count(Jet_pt, # > 30) >= 2 && any(Muon_pt, # > 20)", "Jet_pt"} {
		e, err := expression.Parse(text)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, e)
	}
	return overEntries(file, threads, 102, func(r *rntuple.Reader, entries rntuple.EntryRange, bins []uint64) error {
		program, err := expression.Compile(r, parsed...)
		if err != nil {
			return err
		}
		for b, err := range program.In(r, entries) {
			if err != nil {
				return err
			}
			keep, err := columnar.Values[bool](b.Values[0])
			if err != nil {
				return err
			}
			jets := b.Values[1]
			pts, err := columnar.Values[float64](jets.Children[0])
			if err != nil {
				return err
			}
			for i, keep := range keep {
				if !keep {
					continue
				}
				for _, pt := range pts[jets.Offsets[i]:jets.Offsets[i+1]] {
					switch {
					case pt < 0:
						bins[0]++
					case pt < 200:
						bins[1+int(100*pt/200)]++
					default:
						bins[101]++
					}
				}
			}
		}
		return nil
	})
}
