package rescue

import (
	"fmt"
	"strings"
)

// String returns the range as a half-open interval: "[0, 100)". An unknown end is "?".
func (e Entries) String() string {
	if e.End < 0 {
		return fmt.Sprintf("[%d, ?)", e.First)
	}
	return fmt.Sprintf("[%d, %d)", e.First, e.End)
}

// String returns the entries and the reason.
func (l Loss) String() string { return fmt.Sprintf("entries %v: %s", l.Entries, l.Why) }

// String returns one line with the number of entries that were saved.
func (n *NTuple) String() string {
	if n.Entries < 0 {
		return fmt.Sprintf("RNTuple %q: %d entries saved", n.Path, n.Saved)
	}
	return fmt.Sprintf("RNTuple %q: %d of %d entries saved", n.Path, n.Saved, n.Entries)
}

// String returns a line for each RNTuple and for everything that was lost.
func (r *Report) String() string {
	var lines []string
	if r.Container != "" {
		lines = append(lines, "container: "+r.Container)
	}
	for i := range r.NTuples {
		n := &r.NTuples[i]
		lines = append(lines, n.String())
		for _, l := range n.Lost {
			lines = append(lines, "  lost: "+l.String())
		}
		for _, m := range n.Missing {
			lines = append(lines, "  lost: "+m)
		}
		for _, note := range n.Notes {
			lines = append(lines, "  "+note)
		}
	}
	for _, l := range r.Lost {
		lines = append(lines, "lost: "+l)
	}
	for _, l := range r.Left {
		lines = append(lines, "not copied: "+l)
	}
	return strings.Join(lines, "\n")
}
