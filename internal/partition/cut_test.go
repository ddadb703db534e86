package partition

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestEqual(t *testing.T) {
	for _, c := range []struct {
		weights []int64
		n       int
		want    []int
	}{
		{nil, 3, nil},
		{[]int64{0, 0}, 3, []int{0}},
		{[]int64{1, 1, 1, 1}, 1, []int{0}},
		{[]int64{1, 1, 1, 1}, 2, []int{0, 2}},
		{[]int64{1, 1, 1, 1}, 4, []int{0, 1, 2, 3}},
		{[]int64{1, 1, 1, 1}, 9, []int{0, 1, 2, 3}},
		{[]int64{10, 1, 1, 10}, 2, []int{0, 2}},
		{[]int64{1, 100, 1}, 3, []int{0, 1, 2}},
		{[]int64{1 << 62, 1 << 62, 1 << 62, 1 << 62}, 2, []int{0, 2}},
	} {
		if got := begins(t, c.weights, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%v in %d: %v, want %v", c.weights, c.n, got, c.want)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		weights, n, total, most := make([]int64, 1+random.IntN(50)), 1+random.IntN(60), int64(0), int64(0)
		for i := range weights {
			weights[i] = random.Int64N(1000)
			total, most = total+weights[i], max(most, weights[i])
		}
		begins := begins(t, weights, n)
		if begins[0] != 0 || len(begins) > n || !slices.IsSorted(begins) ||
			len(slices.Compact(slices.Clone(begins))) != len(begins) {
			t.Fatalf("%v in %d: %v", weights, n, begins)
		}
		for i, begin := range begins {
			end, sum := len(weights), int64(0)
			if i+1 < len(begins) {
				end = begins[i+1]
			}
			for _, w := range weights[begin:end] {
				sum += w
			}
			if float64(sum) > float64(total)/float64(n)+float64(most)+1e-6 {
				t.Fatalf("%v in %d: part %d weighs %d", weights, n, i, sum)
			}
		}
	}
}

// begins returns where parts begin, each of which must end where the next one begins.
func begins(t *testing.T, weights []int64, n int) (all []int) {
	t.Helper()
	next := 0
	for _, p := range Equal(weights, n) {
		if p.Begin != next || p.End <= p.Begin {
			t.Errorf("%v in %d: %v", weights, n, p)
		}
		all, next = append(all, p.Begin), p.End
	}
	if next != len(weights) {
		t.Errorf("%v in %d: up to %d", weights, n, next)
	}
	return all
}
