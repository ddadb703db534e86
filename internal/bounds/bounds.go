package bounds

import (
	"math"

	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
)

// Ints returns bounds of signed integers.
func Ints(least, greatest int64) zonemap.Bounds {
	return zonemap.Bounds{Kind: zonemap.Int, Least: uint64(least), Greatest: uint64(greatest)}
}

// Floats returns bounds of floats.
func Floats(least, greatest float64, nan bool) zonemap.Bounds {
	return zonemap.Bounds{Kind: zonemap.Float, Least: math.Float64bits(least + 0),
		Greatest: math.Float64bits(greatest + 0), NaN: nan}
}

// None returns the bounds of no numbers of a kind.
func None(k zonemap.Kind) zonemap.Bounds { return zonemap.Bounds{Kind: k, Empty: true} }
