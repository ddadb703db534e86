package zonemap_test

import (
	"math"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/bounds"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
)

// TestContain has bounds that contain others, and bounds that do not.
func TestContain(t *testing.T) {
	for _, c := range []struct {
		outer, inner zonemap.Bounds
		want         bool
	}{
		{bounds.Ints(-1, 5), bounds.Ints(0, 5), true},
		{bounds.Ints(-1, 5), bounds.Ints(-2, 5), false},
		{bounds.Ints(-1, 5), bounds.None(zonemap.Int), true},
		{bounds.None(zonemap.Int), bounds.Ints(0, 0), false},
		{bounds.Ints(-1, 5), bounds.Floats(0, 0, false), false},
		{bounds.Floats(0, 1, false), bounds.Floats(0, 1, true), false},
		{bounds.Floats(0, 1, true), bounds.Floats(0, 1, false), true},
		{zonemap.Bounds{}, zonemap.Bounds{}, false},
	} {
		if got := c.outer.Contain(c.inner); got != c.want {
			t.Errorf("%v contain %v: %v", c.outer, c.inner, got)
		}
	}
	for _, b := range []zonemap.Bounds{{}, bounds.Ints(2, 1), bounds.Floats(math.NaN(), 1, false),
		bounds.Floats(2, 1, false), {Kind: zonemap.Bool, Greatest: 2}, {Kind: 77}, {Kind: zonemap.Int, NaN: true},
		{Kind: zonemap.Int, Empty: true, Least: 1, Greatest: 1}} {
		if b.Valid() {
			t.Errorf("%v is valid", b)
		}
	}
}
