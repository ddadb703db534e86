//go:build !purego

package bits

import "testing"

// forKernels runs a test for the kernels of each vector size.
func forKernels(t *testing.T, test func(t *testing.T)) {
	if hasAVX2 {
		t.Run("AVX2", test)
		defer func() { hasAVX2 = true }()
		hasAVX2 = false
	}
	t.Run("SSE2", test)
}
