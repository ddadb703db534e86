// Package reflink clones bytes of files: both files share them on disk, as btrfs,
// XFS and other file systems on Linux allow. Whichever file is written to then gets
// bytes of its own.
package reflink
