// Package sampletest selects random samples of exhaustive tests that take long. It is for tests
// only.
//
// By default, a test runs a random sample of its cases, with a seed that it prints; with
// RNTUPLE_CAMPAIGN=1, as in the nightly CI run, it runs all of them. RNTUPLE_SEED=N reproduces the
// sample of seed N.
package sampletest
