// Package reflink clones ranges of files, so that they share blocks on disk, on file systems that
// support it: btrfs, XFS and others on Linux. Shared blocks are copied on write.
package reflink
