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

// ErrMoved is the error of a file that has no longer the name under which it was opened.
var ErrMoved = errors.New("the file was moved, removed or replaced")

// CheckAlone returns an error if [File.OtherWriters] finds a process, if there was one since
// [File.Watch], or if another file has the name of f. It wraps ErrOpenElsewhere or ErrMoved, and
// does not name the file.
func (f *File) CheckAlone() error {
	if !names(f.name, f.disk) {
		return ErrMoved
	}
	if others := f.OtherWriters(); len(others) > 0 {
		return openElsewhere(fmt.Sprintf("process %d (%s) has the file open for writing", others[0].ID, others[0].Command))
	}
	if f.watch.closed() {
		return openElsewhere("another process had the file open for writing") // and has closed it
	}
	return nil
}

// openElsewhere is the text of an error that wraps ErrOpenElsewhere.
type openElsewhere string

func (e openElsewhere) Error() string { return string(e) }
func (e openElsewhere) Unwrap() error { return ErrOpenElsewhere }
