//go:build purego || !amd64

package bits

import "testing"

func forKernels(t *testing.T, test func(t *testing.T)) { test(t) }
