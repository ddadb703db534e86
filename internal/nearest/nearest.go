package nearest

import "strings"

// Name returns the element of names that is nearest to name by the number of letters to
// add, remove or change, regardless of case. It returns "" if none is within two letters, or
// if the number of letters to change is not less than the length of name.
func Name(name string, names []string) (like string) {
	least := 3
	for _, n := range names {
		if d := distance(strings.ToLower(n), strings.ToLower(name)); d < least && d < len(name) {
			like, least = n, d
		}
	}
	return like
}

// distance returns the number of bytes to add, remove or change to turn a into b.
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
