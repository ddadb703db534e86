// Package reflink makes files share bytes on disk, which some file systems support:
// btrfs, XFS and others on Linux. A file that is written to later gets a copy of
// the bytes that change.
package reflink
