package nearest

import "strings"

// Name returns the one of names that is nearest to name, by the number of letters
// that must be added, removed or changed, and without regard to case. It returns ""
// if none is within two letters, or if as many letters as name has would change.
func Name(name string, names []string) (like string) {
	least := 3
	for _, n := range names {
		if d := distance(strings.ToLower(n), strings.ToLower(name)); d < least && d < len(name) {
			like, least = n, d
		}
	}
	return like
}

// distance returns how many bytes must be added, removed or changed to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := min(row[j], row[j+1]) + 1
			if a[i] == b[j] {
				d = min(d, diagonal)
			} else {
				d = min(d, diagonal+1)
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
