package partition

// A Part is a part of what is divided: from Begin to End, End excluded.
type Part struct{ Begin, End int }

// Equal divides things, given by their weights, which must not be negative, into at most n parts of
// neighbours. Each has an n-th of the total weight, and at most about half of its first and of its
// last thing more or less. If nothing weighs anything, there is one part; if there is nothing,
// none.
func Equal(weights []int64, n int) (parts []Part) {
	total := 0.0
	for _, w := range weights {
		total += float64(w)
	}
	before, last := 0.0, -1
	for i, w := range weights {
		at := 0 // the part that the middle is in
		if total > 0 {
			at = min(n-1, int((before+float64(w)/2)*float64(n)/total))
		}
		if before += float64(w); at != last {
			parts, last = append(parts, Part{Begin: i}), at
		}
		parts[len(parts)-1].End = i + 1
	}
	return parts
}
