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
	maxPage       int64
	maxEntry      int64
	workers       int
	readAhead     int64
	copies        bool // read local files without mapping them
}

var defaults = config{
	ctx:      context.Background(),
	maxPage:  1 << 30,
	maxEntry: 1 << 30,

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

// MaxPageSize sets the size in bytes, uncompressed, of the largest page that is
// read; a larger one is an error that wraps ErrUnsupported. Default: 1 GiB,
// 1024 times what ROOT writes unless told otherwise.
func MaxPageSize(bytes int64) Option {
	return func(c *config) error {
		if bytes <= 0 {
			return fmt.Errorf("MaxPageSize: %d bytes", bytes)
		}
		c.maxPage = bytes
		return nil
	}
}

// MaxEntrySize sets how many bytes of memory the collections and strings of
// one entry may need in the Go types they are read into; more is an error that
// wraps ErrUnsupported. It protects from small files that hold, compressed, far
// more than memory does. Default: 1 GiB.
func MaxEntrySize(bytes int64) Option {
	return func(c *config) error {
		if bytes <= 0 {
			return fmt.Errorf("MaxEntrySize: %d bytes", bytes)
		}
		c.maxEntry = bytes
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
