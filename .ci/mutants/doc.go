// Mutants is a mutation tester: it changes one place of a package at a time and runs the tests that
// should fail. A mutant that passes all of them has survived: either a test is missing, or the
// mutant is equivalent to the original and must be listed in equivalent.txt, with the reason.
//
//	GOWORK=off go run -C .ci/mutants . [FLAGS] CHECKOUT
//
// The checkout is not modified: the mutated files are passed with the go command's -overlay flag.
// Several mutants are compiled together, and an environment variable selects one for a run of the
// tests. Mutants are random; -seed reproduces those of an earlier run.
package main
