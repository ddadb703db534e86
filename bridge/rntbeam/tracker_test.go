package rntbeam

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/workunits"
)

// clustersOf returns random clusters, from entry first on, and their costs.
func clustersOf(random *rand.Rand, n int) (all []workunits.Cluster) {
	at := int64(0)
	for range n {
		end := at + 1 + random.Int64N(100)
		all = append(all, workunits.Cluster{EntryRange: rntuple.EntryRange{First: at, End: end},
			Cost: random.Int64N(3) * random.Int64N(1000)})
		at = end
	}
	return all
}

// TestTracker reads restrictions that are split at random, before and while they are read, and
// whose splits are split again. Each cluster is read once, and splits are where clusters end.
func TestTracker(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 500 {
		clusters := clustersOf(random, random.IntN(40))
		block := []int64{1, 500, 2000, 1 << 40}[round%4]
		whole, err := restrict(Input{}, workunits.File{}, clusters, block)
		if err != nil {
			t.Fatal(err)
		}
		f := &source[int]{ReadOptions{SplitBytes: 1 + random.Int64N(5000)}}
		waiting := f.SplitRestriction(Input{}, whole)
		total := 0.0
		for _, r := range waiting {
			total += f.RestrictionSize(Input{}, r)
		}
		if total != f.RestrictionSize(Input{}, whole) {
			t.Fatalf("the parts cost %g, and the whole %g", total, f.RestrictionSize(Input{}, whole))
		}
		var read []rntuple.EntryRange
		for len(waiting) > 0 {
			rt := f.CreateTracker(waiting[0])
			r := waiting[0]
			waiting = waiting[1:]
			split := func() {
				fraction := []float64{0, 0.3, 0.5, 0.99, 1, 2}[random.IntN(6)]
				before := rt.GetRestriction().(Restriction)
				primary, residual, err := rt.TrySplit(fraction)
				if err != nil {
					t.Fatal(err)
				}
				if residual == nil {
					return
				}
				p, q := primary.(Restriction), residual.(Restriction)
				if len(q.Ends) == 0 || len(p.Ends) > 0 && q.First != p.Ends[len(p.Ends)-1] ||
					!slices.Equal(before.Ends, append(slices.Clone(p.Ends), q.Ends...)) {
					t.Fatalf("%+v was split into %+v and %+v", before, p, q)
				}
				if fraction == 0 && !rt.IsDone() {
					t.Fatal("not done after a checkpoint")
				}
				waiting = append(waiting, q)
			}
			if random.IntN(4) == 0 {
				split()
			}
			for i := 0; rt.TryClaim(i); i++ {
				read = append(read, r.bounds(i))
				done, left := rt.GetProgress()
				if done < 0 || left < 0 || done+left != f.RestrictionSize(Input{}, rt.GetRestriction().(Restriction)) {
					t.Fatalf("progress is %g and %g", done, left)
				}
				if random.IntN(3) == 0 {
					split()
				}
			}
			if rt.GetError() != nil || !rt.IsDone() {
				t.Fatalf("done: %v, %v", rt.IsDone(), rt.GetError())
			}
		}
		slices.SortFunc(read, func(a, b rntuple.EntryRange) int { return int(a.First - b.First) })
		at := int64(0)
		for _, r := range read {
			ends := slices.ContainsFunc(clusters, func(c workunits.Cluster) bool { return c.End == r.End })
			if r.First != at || !ends {
				t.Fatalf("round %d: entries %v behind %d", round, r, at)
			}
			at = r.End
		}
		if n := len(clusters); n > 0 && at != clusters[n-1].End {
			t.Fatalf("%d entries of %d", at, clusters[n-1].End)
		}
	}
}

// TestFractions splits blocks of equal cost.
func TestFractions(t *testing.T) {
	r := Restriction{Ends: []int64{10, 20, 30, 40, 50, 60, 70, 80, 90, 100}, Costs: []int64{5, 5, 5, 5, 5, 5, 5, 5, 5, 5}}
	for _, test := range []struct {
		claimed  int
		fraction float64
		kept     int
	}{{0, 0, 0}, {0, 0.5, 5}, {2, 0.5, 6}, {2, 0, 2}, {9, 0.1, 10}, {8, 0.5, 9}, {10, 0, 10}, {3, 1, 10}} {
		rt := &tracker{rest: r}
		for i := range test.claimed {
			rt.TryClaim(i)
		}
		_, residual, err := rt.TrySplit(test.fraction)
		if n := len(rt.rest.Ends); err != nil || n != test.kept || (residual == nil) != (n == 10) {
			t.Errorf("%+v: %d blocks are kept, %v", test, n, err)
		}
	}
	rt := &tracker{rest: r}
	if rt.TryClaim(1) || rt.GetError() == nil || rt.IsDone() {
		t.Error("a block was claimed out of turn")
	}
}
