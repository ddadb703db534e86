package rntuple

import (
	"context"
	"fmt"
	"runtime"
)

// An Option changes how an RNTuple is read.
type Option func(*config) error

type config struct {
	ctx           context.Context
	skipChecksums bool
	limits        Limits
	workers       int
	readAhead     int64
	copies        bool // read local files without mapping them
	maxOpen       int  // inputs of a chain, 0 for the default
	allowMissing  bool
}

var defaults = config{
	ctx:       context.Background(),
	readAhead: 64 << 20,
}

func newConfig(opts []Option) (*config, error) {
	c := defaults
	c.workers = runtime.GOMAXPROCS(0)
	for _, opt := range opts {
		if err := opt(&c); err != nil {
			return nil, err
		}
	}
	return &c, nil
}

// Context has opening and reading stop with the context's error once it is
// done; see Reader.WithContext. Default: context.Background().
func Context(ctx context.Context) Option {
	return func(c *config) error {
		c.ctx = ctx
		return nil
	}
}

// VerifyPages tells whether the checksums of pages are verified. Those of
// anchor and envelopes always are. Default: true.
func VerifyPages(verify bool) Option {
	return func(c *config) error {
		c.skipChecksums = !verify
		return nil
	}
}

// Limits bound how much memory a file can ask for. What is beyond one is an
// error that wraps ErrUnsupported. A member that is set holds as it is; one that
// is 0 stands for a default that depends on the size of the file: a small file
// that claims to hold very much is rather an attack than data.
//
//	              default: bytes per byte of the file   at least   at most
//	PageBytes     4096                                  4 MiB      1 GiB
//	EntryBytes    4096                                  4 MiB      1 GiB
//	EnvelopeBytes 512                                   256 KiB    1 GiB
//
// docs/limits.md has the reasons, and the limits that are no options.
type Limits struct {
	// PageBytes is the size of the largest page, uncompressed and in memory. ROOT
	// writes 1 MiB unless told otherwise.
	PageBytes int64
	// EntryBytes is how much memory the collections and strings of one entry may
	// need in the Go types that they are read into.
	EntryBytes int64
	// EnvelopeBytes is the uncompressed size of the header, of the footer, and of
	// all page lists together.
	EnvelopeBytes int64
}

// maxLimit is the most that limits are by default.
const maxLimit = 1 << 30

// For returns the limits that hold for a file of size bytes: l with the defaults.
func (l Limits) For(size int64) Limits {
	scale := func(limit *int64, perByte, least int64) {
		if *limit == 0 {
			*limit = max(least, min(size, maxLimit/perByte)*perByte)
		}
	}
	scale(&l.PageBytes, 4096, 4<<20)
	scale(&l.EntryBytes, 4096, 4<<20)
	scale(&l.EnvelopeBytes, 512, 256<<10)
	return l
}

// WithLimits sets the limits on what the file can claim.
func WithLimits(l Limits) Option {
	return func(c *config) error {
		if l.PageBytes < 0 || l.EntryBytes < 0 || l.EnvelopeBytes < 0 {
			return fmt.Errorf("WithLimits: %+v", l)
		}
		c.limits = l
		return nil
	}
}

// ReadWorkers sets how many goroutines fetch, decompress and decode pages for
// one view; values come in order all the same. Default: GOMAXPROCS.
func ReadWorkers(n int) Option {
	return func(c *config) error {
		if n <= 0 {
			return fmt.Errorf("ReadWorkers: %d", n)
		}
		c.workers = n
		return nil
	}
}

// ReadAhead sets how many bytes of decoded pages one view may have at hand
// beyond those that it is reading, of which it holds one a column: pages that
// are read ahead where entries are read in order, pages that are kept for the
// next time where they are not. 0 turns both off. Default: 64 MiB.
func ReadAhead(bytes int64) Option {
	return func(c *config) error {
		if bytes < 0 {
			return fmt.Errorf("ReadAhead: %d bytes", bytes)
		}
		c.readAhead = bytes
		return nil
	}
}

// MapFile tells whether Open reads the file through a memory map, where the
// system has them: it saves a copy of every page. If such a file is cut short
// while it is read, or a read fails, there is an error as for other files.
// Default: true.
func MapFile(yes bool) Option {
	return func(c *config) error {
		c.copies = !yes
		return nil
	}
}

// AllowMissing has what the file has no field for read as zero: what views ask for,
// and members of structs at any depth, as if they had the option "optional" in
// their tag:
//
//	Weight float32 `rntuple:"weight,optional"`
//
// Default: it is an error that wraps ErrNoField, as the name may be misspelt.
func AllowMissing() Option {
	return func(c *config) error {
		c.allowMissing = true
		return nil
	}
}
