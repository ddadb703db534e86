package diskfile

import (
	"errors"
	"fmt"
)

// ErrOpenElsewhere is the error of a file that a process without its lock has open for
// writing.
var ErrOpenElsewhere = errors.New("another process has the file open for writing")

// A Process is one that has a file open for writing.
type Process struct {
	ID      int
	Command string
}

// An OpenElsewhereError names a process; it wraps ErrOpenElsewhere.
type OpenElsewhereError struct{ Process }

func (e *OpenElsewhereError) Error() string {
	return fmt.Sprintf("process %d (%s) has the file open for writing", e.ID, e.Command)
}

func (e *OpenElsewhereError) Unwrap() error { return ErrOpenElsewhere }
