package rntuple

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
)

// Limits bound the memory that a file can demand. Exceeding one is a *frame.LimitError, which
// wraps ErrUnsupported. A member that is 0 stands for a default that depends on the size of the
// file, because a small file that claims to hold very much is an attack rather than data:
//
//	              default: bytes per byte of the file   at least   at most
//	PageBytes     4096                                  4 MiB      1 GiB
//	EntryBytes    4096                                  4 MiB      1 GiB
//	EnvelopeBytes 512                                   256 KiB    1 GiB
//
// PageBytes is the size of the largest page, uncompressed and in memory; ROOT
// writes 1 MiB unless told otherwise. EntryBytes is the memory that the collections and
// strings of one entry may need in the Go types they are read into. EnvelopeBytes is the
// uncompressed size of the header, of the footer, and of all page lists together. The
// method For returns the limits that apply to a file of a given size.
//
// ExpressionBytes is the memory of the values that package expression computes for a batch of at
// most 8192 entries, in each goroutine; it also bounds the work on a batch, at 16 steps, about one
// value each, for a byte. Default: 256 MiB.
//
// Writer.Needs says which limits the readers of a new file must raise, if any.
//
// docs/reference/limits.md gives the reasons, and the limits that are not options.
type Limits struct {
	PageBytes       int64
	EntryBytes      int64
	EnvelopeBytes   int64
	ExpressionBytes int64
}

// For returns the limits for a file of size bytes: l with defaults for members that are 0.
func (l Limits) For(size int64) Limits { return Limits(ntuple.Limits(l).For(size)) }

func (l Limits) check() error {
	if l.PageBytes < 0 || l.EntryBytes < 0 || l.EnvelopeBytes < 0 || l.ExpressionBytes < 0 {
		return fmt.Errorf("Limits: %+v; limits must not be negative", l)
	}
	return nil
}
