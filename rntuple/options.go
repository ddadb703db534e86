package rntuple

import (
	"context"
	"fmt"
)

// An Option changes how an RNTuple is read.
type Option func(*config) error

type config struct {
	ctx           context.Context
	skipChecksums bool
	maxPage       int64
	maxEntry      int64
}

var defaults = config{
	ctx:      context.Background(),
	maxPage:  1 << 30,
	maxEntry: 1 << 30,
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
