// Package arch contains tests of the repository's structure.
package arch
