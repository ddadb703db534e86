package rntuple

import (
	"errors"
	"fmt"
	"iter"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
)

// rows is the part of a Writer and of a Filler that writes entries.
type rows[T any] struct {
	sink *pagesink.Sink
	err  func() error // of the sink, or that it is closed
	plan *field.WritePlan
	part string // of the entries, for errors
}

var errNil = errors.New("nil is not an entry")

// Write writes one entry, which must not be nil. It retains no memory of the entry.
func (r *rows[T]) Write(entry *T) error {
	return r.write(entry, 1)
}

// write writes n entries from first on.
func (r *rows[T]) write(first *T, n int) error {
	if err := r.sink.Enter("Write"); err != nil {
		return err
	}
	defer r.sink.Leave()
	if err := r.err(); err != nil {
		return err
	}
	err := errNil
	if first != nil {
		err = r.plan.Write(unsafe.Pointer(first), n)
	}
	if err != nil {
		// Some columns may have the entry already, others not.
		r.sink.Fail(fmt.Errorf("entry %d%s: %w", r.sink.Entries(), r.part, err))
		return r.sink.Err()
	}
	return r.sink.EndEntries(int64(n))
}

// WriteBatch writes all entries of a slice, up to the first error. It is faster than Write: it
// takes one field of many entries at a time. Pages are divided a little differently then.
func (r *rows[T]) WriteBatch(entries []T) error {
	for len(entries) > 0 {
		n := 1
		if r.plan.Infallible { // if not, errors must tell the entry
			n = r.sink.Ahead(len(entries))
		}
		if err := r.write(&entries[0], n); err != nil {
			return err
		}
		entries = entries[n:]
	}
	return r.err()
}

// WriteAll writes all entries that seq yields, up to the first error. It must not be nil.
func (r *rows[T]) WriteAll(seq iter.Seq[T]) error {
	if seq == nil {
		return r.Write(nil)
	}
	for entry := range seq {
		if err := r.Write(&entry); err != nil {
			return err
		}
	}
	return r.err()
}
