// Package sampletest draws samples of sweeps that take long. It is for tests only.
//
// By day a test takes some of its cases, by chance, from a seed that it prints; with
// RNTUPLE_CAMPAIGN=1, as in the nightly gate, it takes all. RNTUPLE_SEED=N repeats the
// sample of seed N.
package sampletest
