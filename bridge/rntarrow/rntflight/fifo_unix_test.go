//go:build unix

package rntflight_test

import (
	"syscall"
	"testing"
)

// makeFIFO makes a FIFO and reports whether there can be any.
func makeFIFO(t *testing.T, path string) bool {
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Logf("no FIFO: %v", err)
		return false
	}
	return true
}
