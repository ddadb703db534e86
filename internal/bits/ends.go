package bits

// Ends sets dst to the ends of ranges, each of which begins where the one before it ends, plus
// shift. It reports whether none of them is lower than the one before it, of which begin is the
// first, or above the largest int64. dst and ends may be the same.
func Ends(dst, ends []uint64, begin, shift uint64) bool {
	dst = head(dst, len(ends))
	n, wrong := endsBlocks(dst, ends, begin, shift) // wrong: its highest bit is set once there is such an end
	before := begin
	if n > 0 {
		before = dst[n-1] - shift
	}
	for i, end := range ends[n:] {
		dst[n+i] = end + shift
		wrong |= end | (end - before)
		before = end
	}
	return int64(wrong|begin) >= 0
}
