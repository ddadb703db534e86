//go:build !linux

package cli

// takePending does nothing: the system does not tell of signals that no thread has taken.
func takePending() {}
