package surgery

import (
	"fmt"
	"strings"
	"testing"
)

// TestStrings has the texts of pieces, reports and modes.
func TestStrings(t *testing.T) {
	in := Input{Path: "f"}
	r := &Report{Inputs: 1, InputEntries: 2, Entries: 3, Clusters: 4, ClusterGroups: 5}
	r.Levels[Reseal].add(6, 7)
	r.Levels[Reseal].add(1, 1)
	r.Dropped, r.Omitted, r.Without = []string{"a", "b"}, []string{"c"}, []string{"d"}
	r.LeftBehind, r.Unlisted = []Object{{"f", "h", "TH1F"}}, []error{errLevel, errLevel}
	for _, c := range []struct {
		v    fmt.Stringer
		want string
	}{
		{in, "f"},
		{Input{"f", "n"}, "f:n"},
		{Piece{Input: in}, "f"},
		{Piece{Input: in, First: 1}, "f[1:]"},
		{Piece{Input: in, First: 1, End: 2}, "f[1:2]"},
		{Piece{Input: in, End: 2}, "f[0:2]"},
		{Filter, "filter"}, {Strict, "strict"}, {Union, "union"}, {Union + 1, "Mode(3)"},
		{Object{"f", "d/h", "TH1F"}, "f:d/h (TH1F)"},
		{&Report{}, "0 inputs with 0 entries; output: 0 entries, 0 clusters, 0 cluster groups"},
		{r, "1 inputs with 2 entries; output: 3 entries, 4 clusters, 5 cluster groups; reseal: 7 pages, 8 bytes; dropped: a, b; " +
			"omitted: c; 1 files without an RNTuple; 1 objects left behind; 2 files whose objects could not be listed"},
	} {
		if got := c.v.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	for text, want := range map[string]Mode{"filter": Filter, "Strict": Strict, "UNION": Union} {
		if m, err := ParseMode(text); m != want || err != nil {
			t.Errorf("%q: %v, %v", text, m, err)
		}
	}
	if _, err := ParseMode("Mode(1)"); err == nil || !strings.Contains(err.Error(), "filter, strict, union") {
		t.Error(err)
	}
}
