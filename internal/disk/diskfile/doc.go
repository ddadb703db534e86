// Package diskfile writes files on disk so that other programs, and the file system
// after a power failure, see them as they were before or as they are afterwards.
//
// A new file is written under a temporary name in the folder of its target, synced,
// and renamed; an existing one is updated in place. Who writes a file holds an
// exclusive advisory lock on it: [ErrLocked] is the error of everybody else who wants
// to update or replace it. Readers are not affected. File systems without locks, such
// as some network file systems, are written to without; so are all files on systems
// for which this package has none: plan9, WebAssembly, and AIX, whose locks a process
// loses as soon as it closes any descriptor of the file.
package diskfile
