package surgery

import (
	"maps"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestMeter counts each file once, and tells only what rises.
func TestMeter(t *testing.T) {
	var told []int64
	tell := func(done, total int64) { told = append(told, done, total) }
	inputs := []Input{{Path: "a", Name: "x"}, {Path: "b"}}
	var c config
	c.Progress = tell
	m := newMeter([]*job{{inputs: inputs, config: c}, {inputs: []Input{{Path: "a", Name: "y"}}}})
	if !maps.Equal(m.inputs, map[string]int64{"a": 2, "b": 1}) {
		t.Errorf("%v", m.inputs)
	}
	m.total = 300
	within := m.within(rntuple.EntryRange{First: 10, End: 20}, 100)
	for _, entry := range []int64{10, 15, 15, 14, 20} {
		within(entry)
	}
	m.end(100)
	m.within(rntuple.EntryRange{First: 5, End: 5}, 100)(5)
	m.within(rntuple.EntryRange{End: 4}, 200)(1)
	m.end(200)
	if want := []int64{50, 300, 100, 300, 150, 300, 300, 300}; !slices.Equal(told, want) {
		t.Errorf("told %d, want %d", told, want)
	}
}
