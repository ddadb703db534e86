package bounds

import (
	"math"
	"reflect"

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
		return ofInts(e)
	case []int16:
		return ofInts(e)
	case []int32:
		return ofInts(e)
	case []int64:
		return ofInts(e)
	case []uint8:
		return ofUints(e)
	case []uint16:
		return ofUints(e)
	case []uint32:
		return ofUints(e)
	case []uint64:
		return ofUints(e)
	case []float32:
		return ofFloats(e)
	case []float64:
		return ofFloats(e)
	}
	return zonemap.Bounds{}
}

func ofBools(all []bool) zonemap.Bounds {
	b := None(zonemap.Bool)
	for i, v := range all {
		n := uint64(0)
		if v {
			n = 1
		}
		if i == 0 {
			b = zonemap.Bounds{Kind: zonemap.Bool, Least: n, Greatest: n}
		}
		b.Least, b.Greatest = min(b.Least, n), max(b.Greatest, n)
	}
	return b
}

func ofInts[T int8 | int16 | int32 | int64](all []T) zonemap.Bounds {
	if len(all) == 0 {
		return None(zonemap.Int)
	}
	least, greatest := extremes(all)
	return Ints(int64(least), int64(greatest))
}

func ofUints[T uint8 | uint16 | uint32 | uint64](all []T) zonemap.Bounds {
	if len(all) == 0 {
		return None(zonemap.Uint)
	}
	least, greatest := extremes(all)
	return zonemap.Bounds{Kind: zonemap.Uint, Least: uint64(least), Greatest: uint64(greatest)}
}

// extremes returns the least and the greatest of at least one number.
func extremes[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](all []T) (least, greatest T) {
	least, greatest = all[0], all[0]
	for _, v := range all {
		least, greatest = min(least, v), max(greatest, v)
	}
	return least, greatest
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
