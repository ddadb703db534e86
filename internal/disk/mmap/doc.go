// Package mmap reads local files through memory maps, which avoids copying.
//
// Accessing a mapped page that no longer exists, because the file was truncated, or that the disk
// fails to read, raises a signal that would kill the process. This package converts it to an error.
package mmap
