package bounds

import (
	"math"
	"reflect"
	"slices"

	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
)

// KindOf returns of which kind the bounds of elements are whose Go type has the given kind:
// Unknown if they are no numbers.
func KindOf(k reflect.Kind) zonemap.Kind {
	switch {
	case k == reflect.Bool:
		return zonemap.Bool
	case k >= reflect.Int8 && k <= reflect.Int64:
		return zonemap.Int
	case k >= reflect.Uint8 && k <= reflect.Uint64:
		return zonemap.Uint
	case k == reflect.Float32 || k == reflect.Float64:
		return zonemap.Float
	}
	return zonemap.Unknown
}

// Of returns the bounds of elements: bools, or integers or floats of any width.
func Of[T any](elements []T) zonemap.Bounds {
	switch e := any(elements).(type) {
	case []bool:
		return ofBools(e)
	case []int8:
		return ofIntegers(zonemap.Int, e)
	case []int16:
		return ofIntegers(zonemap.Int, e)
	case []int32:
		return ofIntegers(zonemap.Int, e)
	case []int64:
		return ofIntegers(zonemap.Int, e)
	case []uint8:
		return ofIntegers(zonemap.Uint, e)
	case []uint16:
		return ofIntegers(zonemap.Uint, e)
	case []uint32:
		return ofIntegers(zonemap.Uint, e)
	case []uint64:
		return ofIntegers(zonemap.Uint, e)
	case []float32:
		return ofFloats(e)
	case []float64:
		return ofFloats(e)
	}
	return zonemap.Bounds{}
}

func ofBools(all []bool) zonemap.Bounds {
	b := zonemap.Bounds{Kind: zonemap.Bool, Empty: len(all) == 0}
	if slices.Contains(all, true) {
		b.Least, b.Greatest = 1, 1
	}
	if slices.Contains(all, false) {
		b.Least = 0
	}
	return b
}

func ofIntegers[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](k zonemap.Kind,
	all []T) zonemap.Bounds {
	if len(all) == 0 {
		return None(k)
	}
	least, greatest := all[0], all[0]
	for _, v := range all {
		least, greatest = min(least, v), max(greatest, v)
	}
	return zonemap.Bounds{Kind: k, Least: uint64(least), Greatest: uint64(greatest)}
}

func ofFloats[T float32 | float64](all []T) zonemap.Bounds {
	least, greatest, nan := T(math.Inf(1)), T(math.Inf(-1)), false
	for _, v := range all {
		if v < least {
			least = v
		}
		if v > greatest {
			greatest = v
		}
		nan = nan || v != v
	}
	if least > greatest {
		b := None(zonemap.Float)
		b.NaN = nan
		return b
	}
	return Floats(float64(least), float64(greatest), nan)
}
