// Package reflink has files share bytes on disk, as some file systems can do it:
// btrfs, XFS and others on Linux. Whichever file is written to then gets bytes of
// its own.
package reflink
