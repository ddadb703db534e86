package rntuple

import "fmt"

// String returns the range as a half-open interval: "[0, 100)".
func (e EntryRange) String() string { return fmt.Sprintf("[%d, %d)", e.First, e.End) }

// String returns the path.
func (i Info) String() string { return i.Path }

// String returns one line with the size of the RNTuple.
func (i *Inspection) String() string {
	return fmt.Sprintf("%d entries in %d clusters, %d columns, %d pages: %d bytes on disk, %d in memory",
		i.Entries, i.Clusters, len(i.Columns), i.Total.Pages, i.Disk(), i.Total.Memory)
}
