// Package diskfile writes files atomically: other programs, and the file system after a power
// failure, see either the old or the new contents.
//
// A new file is written under a temporary name in the target's folder, synced and renamed; an
// existing file is updated in place. A writer holds an exclusive advisory lock on the file; any
// other attempt to update or replace it fails with [ErrLocked]. Readers are not affected. No lock
// is taken on file systems that do not support it, such as some network file systems, nor on
// platforms for which this package does not implement locks: plan9, WebAssembly, and AIX, where a
// process loses its locks as soon as it closes any descriptor of the file.
package diskfile
