package sampletest

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

// Whole reports whether sweeps are made whole.
func Whole() bool { return os.Getenv("RNTUPLE_CAMPAIGN") != "" }

// Rand returns a source of random numbers that no earlier run had, unless RNTUPLE_SEED is
// set. The test prints its seed if it fails or is verbose.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("RNTUPLE_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("RNTUPLE_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// Cases returns which of n cases to take, in ascending order: as many as wanted, by chance,
// or all if the sweep is made whole.
func Cases(rnd *rand.Rand, n, wanted int) []int {
	cases := rnd.Perm(n)
	if !Whole() {
		cases = cases[:min(n, wanted)]
	}
	slices.Sort(cases)
	return cases
}
