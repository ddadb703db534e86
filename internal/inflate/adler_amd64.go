//go:build !purego

package inflate

// sums is plainSums with the vectors that every amd64 machine has.
//
//go:noescape
func sums(data []byte) (sum, weighted uint64)
