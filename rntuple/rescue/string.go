package rescue

import (
	"fmt"
	"strings"
)

// String returns the entries as a half-open interval, "[0, 100)", and the reason. An unknown end is
// "?".
func (l Loss) String() string {
	end := "?"
	if l.End >= 0 {
		end = fmt.Sprint(l.End)
	}
	return fmt.Sprintf("entries [%d, %s): %s", l.First, end, l.Why)
}

// String returns one line with the number of saved entries.
func (n *NTuple) String() string {
	if n.Entries < 0 {
		return fmt.Sprintf("RNTuple %q: %d entries saved", n.Path, n.Saved)
	}
	return fmt.Sprintf("RNTuple %q: %d of %d entries saved", n.Path, n.Saved, n.Entries)
}

// String returns a line for each RNTuple and for each loss.
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
