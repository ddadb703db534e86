package surgery

import (
	"fmt"
	"strings"
)

// String returns a line that says what was done.
func (r *Report) String() string {
	text := fmt.Sprintf("%d inputs with %d entries; output: %d entries, %d clusters, %d cluster groups",
		r.Inputs, r.InputEntries, r.Entries, r.Clusters, r.ClusterGroups)
	for level, w := range r.Levels {
		if w.Pages > 0 {
			text += fmt.Sprintf("; %v: %d pages, %d bytes", Level(level), w.Pages, w.Bytes)
		}
	}
	if len(r.Dropped) > 0 {
		text += "; dropped: " + strings.Join(r.Dropped, ", ")
	}
	if n := len(r.LeftBehind); n > 0 {
		text += fmt.Sprintf("; %d objects left behind", n)
	}
	if n := len(r.Unlisted); n > 0 {
		text += fmt.Sprintf("; %d files whose objects could not be listed", n)
	}
	return text
}
