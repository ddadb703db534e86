package schema

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/go-rntuple/go-rntuple/column"
)

// A Mismatch is a field that does not fit the Go type that it is read into or
// written from, or that does not exist.
type Mismatch struct {
	Path string       // of the field, or the name that the Go struct gives
	Have string       // what the file has, as a C++ type; empty if it has no such field
	Go   reflect.Type // what is asked for
	Fits string       // a Go type that would fit; empty if there is none
	Err  error        // why the field is not there, if Have is empty
}

func (m Mismatch) String() string {
	if m.Have == "" {
		return m.Err.Error()
	}
	path, items := m.Path, ""
	for strings.HasSuffix(path, "._0") {
		path, items = strings.TrimSuffix(path, "._0"), items+"items of "
	}
	s := fmt.Sprintf("%sfield %q: %s does not fit %v", items, path, m.Have, m.Go)
	if path == "" {
		s = fmt.Sprintf("an entry does not fit %v", m.Go)
	}
	if m.Fits != "" {
		s += ", " + m.Fits + " would"
	}
	return s
}

// A MismatchError lists every field that does not fit.
type MismatchError struct{ Mismatches []Mismatch }

func (e *MismatchError) Error() string {
	all := make([]string, len(e.Mismatches))
	for i, m := range e.Mismatches {
		all[i] = m.String()
	}
	return "the Go type does not fit the RNTuple: " + strings.Join(all, "; ")
}

// Unwrap returns why fields are not there.
func (e *MismatchError) Unwrap() (errs []error) {
	for _, m := range e.Mismatches {
		if m.Err != nil {
			errs = append(errs, m.Err)
		}
	}
	return errs
}

// A ConversionError reports a value that the Go type it is read into cannot hold.
// It wraps column.ErrRange.
type ConversionError struct {
	Path  string       // of the field
	Entry int64        // of the RNTuple, from 0, that the value belongs to
	Value any          // as the field has it: a number
	Go    reflect.Type // what is asked for
}

func (e *ConversionError) Error() string {
	return fmt.Sprintf("field %q, entry %d: %v: %v does not fit %v", e.Path, e.Entry, column.ErrRange, e.Value, e.Go)
}

// Unwrap returns column.ErrRange.
func (e *ConversionError) Unwrap() error { return column.ErrRange }
