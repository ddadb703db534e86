// Mutants tests the tests: it changes one place of a package at a time, and runs the tests
// that should notice. A mutant that passes all of them has survived: a test is missing, or
// the mutant does what the original does and belongs into equivalent.txt, with the reason.
//
//	GOWORK=off go run -C .ci/mutants . [FLAGS] CHECKOUT
//
// No file of the checkout is written: the go command finds the changed files by its flag
// -overlay. Several mutants are compiled together, and an environment variable selects one for
// a run of the tests. Mutants are random; -seed repeats those of an earlier run.
package main
