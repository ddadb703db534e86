package columnar_test

import (
	"fmt"
	"math"

	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// The momenta of three events, which have two muons, none and one, are put in the order of other
// events.
func Example() {
	pt := &columnar.Array{
		Name:     "Muon_pt",
		Shape:    schema.Collection,
		Len:      3,
		Offsets:  []int64{0, 2, 2, 3},
		Children: []*columnar.Array{columnar.New([]float32{41, 28, 17})},
	}
	picked := columnar.Like(pt)
	spans := []columnar.Span{{First: 2, N: 1}, {First: 0, N: 2}}
	if err := columnar.Append(picked, pt, spans, math.MaxInt64); err != nil {
		fmt.Println(err)
	}
	items, err := columnar.Values[float32](picked.Children[0])
	fmt.Println(picked.Offsets, items, err)
	// Output:
	// [0 1 3 3] [17 41 28] <nil>
}
