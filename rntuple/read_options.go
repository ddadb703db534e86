package rntuple

import (
	"context"
	"fmt"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
)

// An Option changes how an RNTuple is read.
type Option func(*ntuple.ReadOptions) error

// Context has opening and reading stop with the context's error once it is
// done; see Reader.WithContext. Default: context.Background().
func Context(ctx context.Context) Option {
	return func(o *ntuple.ReadOptions) error {
		o.Context = ctx
		return nil
	}
}

// VerifyPages tells whether the checksums of pages are verified. Those of
// anchor and envelopes always are. Default: true.
func VerifyPages(verify bool) Option {
	return func(o *ntuple.ReadOptions) error {
		o.SkipChecksums = !verify
		return nil
	}
}

// Limits bound how much memory a file can ask for. What is beyond one is an
// error that wraps ErrUnsupported. A member that is 0 stands for a default that
// depends on the size of the file, as a small file that claims to hold very much
// is an attack rather than data:
//
//	              default: bytes per byte of the file   at least   at most
//	PageBytes     4096                                  4 MiB      1 GiB
//	EntryBytes    4096                                  4 MiB      1 GiB
//	EnvelopeBytes 512                                   256 KiB    1 GiB
//
// PageBytes is the size of the largest page, uncompressed and in memory; ROOT
// writes 1 MiB unless told otherwise. EntryBytes is how much memory the
// collections and strings of one entry may need in the Go types that they are
// read into. EnvelopeBytes is the uncompressed size of the header, of the footer,
// and of all page lists together. The method For returns the limits that hold for
// a file of a given size.
//
// docs/limits.md has the reasons, and the limits that are no options.
type Limits = ntuple.Limits

// WithLimits sets the limits on what the file can claim.
func WithLimits(l Limits) Option {
	return func(o *ntuple.ReadOptions) error {
		if l.PageBytes < 0 || l.EntryBytes < 0 || l.EnvelopeBytes < 0 {
			return fmt.Errorf("WithLimits: %+v", l)
		}
		o.Limits = l
		return nil
	}
}

// ReadWorkers sets how many goroutines fetch, decompress and decode pages for
// one view; values come in order all the same. Default: GOMAXPROCS.
func ReadWorkers(n int) Option {
	return func(o *ntuple.ReadOptions) error {
		if n <= 0 {
			return fmt.Errorf("ReadWorkers: %d", n)
		}
		o.Workers = n
		return nil
	}
}

// ReadAhead sets how many bytes of decoded pages one view may have at hand
// beyond those that it is reading, of which it holds one a column: pages that
// are read ahead where entries are read in order, pages that are kept for the
// next time where they are not. 0 turns both off. Default: 64 MiB.
func ReadAhead(bytes int64) Option {
	return func(o *ntuple.ReadOptions) error {
		if bytes < 0 {
			return fmt.Errorf("ReadAhead: %d bytes", bytes)
		}
		o.ReadAhead = bytes
		return nil
	}
}

// MapFile tells whether Open reads the file through a memory map, where the
// system has them: it saves a copy of every page. If such a file is cut short
// while it is read, or a read fails, there is an error as for other files.
// Default: true.
func MapFile(yes bool) Option {
	return func(o *ntuple.ReadOptions) error {
		o.NoMap = !yes
		return nil
	}
}

// AllowMissing makes fields that the file lacks read as zero: those that views ask
// for, and members of structs at any depth, as if they had the option "optional"
// in their tag:
//
//	Weight float32 `rntuple:"weight,optional"`
//
// Default: it is an error that wraps ErrNoField, as the name may be misspelt.
func AllowMissing() Option {
	return func(o *ntuple.ReadOptions) error {
		o.AllowMissing = true
		return nil
	}
}
