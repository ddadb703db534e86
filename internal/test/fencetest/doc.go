// Package fencetest allocates memory between two inaccessible pages: an out-of-bounds access, such
// as by faulty assembly, crashes the test. It is for tests only.
package fencetest
