package draw

import (
	"math"
	"strconv"
	"strings"
)

// A Tick is a place on an axis; those without a label are in between.
type Tick struct {
	Value float64
	Label string
}

// Ticks returns the ticks of an axis from low to high, at most most of them with labels:
// round numbers, or on a logarithmic axis powers of ten and what is between them.
func Ticks(low, high float64, log bool, most int) []Tick {
	if log {
		return logTicks(low, high, most)
	}
	most = max(most, 3)
	var all []Tick
	stepsFrom((high-low)/float64(most), []float64{1, 2, 5}, func(step float64) bool {
		first, last := math.Ceil(low/step-1e-9), math.Floor(high/step+1e-9)
		if last-first+1 > float64(most) {
			return false
		}
		parts := 5.0
		if digit := step / math.Pow(10, math.Floor(math.Log10(step)+1e-9)); math.Round(digit) == 2 {
			parts = 4
		}
		for i := math.Ceil(low/step*parts - 1e-9); i <= math.Floor(high/step*parts+1e-9); i++ {
			t := Tick{Value: i * (step / parts)}
			if i/parts == math.Trunc(i/parts) {
				t.Value = i/parts*step + 0 // not -0
				t.Label = label(t.Value, step)
			}
			all = append(all, t)
		}
		return true
	})
	return all
}

// label returns v with the digits that tell it from its neighbours at a distance of step.
func label(v, step float64) string {
	digits := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	if scaled := step * math.Pow(10, float64(digits)); math.Abs(scaled-math.Round(scaled)) > 1e-6 {
		digits++ // 0.25
	}
	if a := math.Abs(v); v != 0 && (a >= 1e6 || digits > 4) {
		significant := int(math.Floor(math.Log10(a))) - int(math.Floor(math.Log10(step)+1e-9))
		return exponent(strconv.FormatFloat(v, 'e', min(max(significant, 0), 16), 64))
	}
	if v == 0 {
		digits = 0
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// exponent returns a number in the notation 1e+06 without what is not needed: 1e6.
func exponent(s string) string {
	digits, power, ok := strings.Cut(s, "e")
	if !ok {
		return s
	}
	if strings.Contains(digits, ".") {
		digits = strings.TrimRight(strings.TrimRight(digits, "0"), ".")
	}
	sign := ""
	if power[0] == '-' {
		sign = "-"
	}
	if power = strings.TrimLeft(power[1:], "0"); power == "" {
		return digits
	}
	return digits + "e" + sign + power
}

// logTicks returns the ticks of a logarithmic axis.
func logTicks(low, high float64, most int) (all []Tick) {
	decades := math.Log10(high) - math.Log10(low)
	factors := map[float64]bool{1: true}
	switch {
	case 3*decades <= float64(most):
		factors[2], factors[5] = true, true
	case 2*decades <= float64(most):
		factors[3] = true
	}
	every := max(1, int(math.Ceil(decades/float64(max(most, 1)))))
	labels := 0
	for power := int(math.Floor(math.Log10(low))); power <= int(math.Floor(math.Log10(high)+1e-9)); power++ {
		for factor := 1.0; factor < 10; factor++ {
			v := factor * math.Pow(10, float64(power))
			if v < low*(1-1e-9) || v > high*(1+1e-9) {
				continue
			}
			t := Tick{Value: v}
			if factors[factor] && power%every == 0 {
				t.Label = Number(v, 3)
				labels++
			}
			all = append(all, t)
		}
	}
	if labels < 2 && decades < 1 && high > low { // all within a decade
		return Ticks(low, high, false, most)
	}
	return all
}

// Number returns v with up to some significant digits: 0.001, 12.346, 1e6.
func Number(v float64, digits int) string {
	a := math.Abs(v)
	if a >= 1e6 || v != 0 && a < 1e-3 {
		return exponent(strconv.FormatFloat(v, 'e', digits-1, 64))
	}
	if v != 0 {
		digits = max(0, digits-1-int(math.Floor(math.Log10(a))))
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// Ticks returns the ticks of the bins of an axis.
func (a *Axis) Ticks(most int) []Tick {
	if a.Words == nil {
		return Ticks(a.Low(), a.High(), a.Log, most)
	}
	var all []Tick
	for i, word := range a.Words {
		all = append(all, Tick{float64(i) + 0.5, word})
	}
	return all
}

// place returns where x lies on the axis, from 0 to 1 within it.
func (a *Axis) place(x float64) float64 { return Place(x, a.Low(), a.High(), a.Log) }

func Place(x, low, high float64, log bool) float64 {
	if log {
		return math.Log(x/low) / math.Log(high/low)
	}
	return (x - low) / (high - low)
}
