package rntuple

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
)

// Limits bounds the memory that reading a file can require. Exceeding a limit is a
// *frame.LimitError, which wraps ErrUnsupported. A zero field selects a default that depends on the
// size of the file, because a small file that claims to contain a lot of data is more likely an
// attack:
//
//	              default: bytes per byte of the file   at least   at most
//	PageBytes     4096                                  4 MiB      1 GiB
//	EntryBytes    4096                                  4 MiB      1 GiB
//	EnvelopeBytes 512                                   256 KiB    1 GiB
//
// PageBytes limits the size of a page, uncompressed and in memory; ROOT's default page size is 1
// MiB. EntryBytes limits the memory of the collections and strings of one entry, in the Go types
// they are read into. EnvelopeBytes limits the uncompressed size of the header, of the footer, and
// of all page lists together. The method For returns the limits that apply to a file of a given
// size.
//
// ExpressionBytes limits the memory of the values that package expression computes for a batch of
// at most 8192 entries, per goroutine. It also limits the work per batch, to 16 steps, of about one
// value each, per byte. Default: 256 MiB.
//
// Writer.Needs returns the limits that readers of a new file must raise, if any.
//
// docs/reference/limits.md explains the limits, including those that are not configurable.
type Limits struct {
	PageBytes       int64
	EntryBytes      int64
	EnvelopeBytes   int64
	ExpressionBytes int64
}

// For returns the limits for a file of size bytes: l with zero fields replaced by their defaults.
func (l Limits) For(size int64) Limits { return Limits(ntuple.Limits(l).For(size)) }

func (l Limits) check() error {
	if l.PageBytes < 0 || l.EntryBytes < 0 || l.EnvelopeBytes < 0 || l.ExpressionBytes < 0 {
		return fmt.Errorf("Limits: %+v; limits must not be negative", l)
	}
	return nil
}
