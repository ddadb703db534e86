package surgery

import (
	"testing"
)

// TestTakes tells the RNTuples that jobs take from other objects.
func TestTakes(t *testing.T) {
	r := &run{taken: takenBy([]*job{{inputs: []Input{{"a", "/d/n;3"}, {"b", ""}}}, {inputs: []Input{{"c", "m"}}}})}
	for _, c := range []struct {
		o    Object
		want bool
	}{
		{Object{"a", "d/n", "ROOT::RNTuple"}, true},
		{Object{"a", "n", "ROOT::RNTuple"}, false},
		{Object{"a", "d/n", "TTree"}, false},
		{Object{"b", "any", "ROOT::RNTuple"}, true},
		{Object{"b", "d/any", "ROOT::RNTuple"}, false},
		{Object{"c", "m", "ROOT::RNTuple"}, true},
		{Object{"c", "n", "ROOT::RNTuple"}, false},
	} {
		if got := r.takes(c.o); got != c.want {
			t.Errorf("%v: %v", c.o, got)
		}
	}
}
