// Package mmap reads local files through memory maps, which saves a copy of
// everything that is read.
//
// A map has one danger: reading a place that the file no longer has, because it
// was cut short meanwhile, or that the disk cannot read, raises a signal that
// kills the process. Here it becomes an error.
package mmap
