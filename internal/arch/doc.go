// Package arch holds the tests of the repository's structure.
package arch
