// Package mmap reads local files through memory maps, which saves copying
// everything that is read.
//
// Memory maps have one danger: access to a page that the file no longer has,
// because it was truncated, or that the disk fails to read, raises a signal that
// kills the process. This package turns it into an error.
package mmap
