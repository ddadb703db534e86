//go:build !purego

package inflate

// sums is plainSums with SSE2, which every amd64 processor has.
//
//go:noescape
func sums(data []byte) (sum, weighted uint64)
