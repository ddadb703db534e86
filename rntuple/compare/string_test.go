package compare

import "testing"

func TestResultString(t *testing.T) {
	r := &Result{Entries: [2]int64{3, 3}}
	if got := r.String(); got != "equal" {
		t.Errorf("got %q", got)
	}
	r = &Result{
		Entries: [2]int64{3, 4},
		Schema:  []Difference{{"x", "type", "float", "double"}},
		Fields: []Field{{Path: "x", Entries: 1, First: 2, Values: 5, MaxAbs: 0.5, MaxRel: 0.25},
			{Path: "y", First: -1, MaxAbs: 1}},
	}
	const want = `3 entries, 4 entries
x: type: "float", "double"
x: 5 values differ in 1 entries, first 2; largest differences 0.5, relative 0.25
y: within the tolerance; largest differences 1, relative 0`
	if got := r.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
