package ntuple

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/remote"
)

// An InputError says in which of several inputs an error occurred.
type InputError struct {
	Index int // number of the input, from 0
	Path  string
	Err   error
}

// Error returns the path or the number of the input, and Err.
func (e *InputError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("input %d of the chain: %v", e.Index, e.Err)
	}
	return fmt.Sprintf("%s: %v", remote.Redact(e.Path), e.Err)
}

// Unwrap returns Err.
func (e *InputError) Unwrap() error { return e.Err }
