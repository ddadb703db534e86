//go:build !unix

package rntflight_test

import "testing"

// makeFIFO reports that there are no FIFOs.
func makeFIFO(t *testing.T, _ string) bool {
	t.Log("no FIFO on this system")
	return false
}
