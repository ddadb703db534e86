// Package bufpool pools the memory of pages for reuse. Allocating, zeroing and garbage collecting a
// buffer takes longer than decoding a page into it.
package bufpool
