package rntuple

import (
	"context"
	"fmt"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/remote"
)

// An Option changes how an RNTuple is read.
type Option func(*ntuple.ReadOptions) error

// Context sets the context of opening and reading, which return its error once it is done;
// see Reader.WithContext. Default: context.Background().
func Context(ctx context.Context) Option {
	return func(o *ntuple.ReadOptions) error {
		o.Context = ctx
		return nil
	}
}

// VerifyPages sets whether the checksums of pages are verified. Those of the anchor and the
// envelopes always are. Default: true.
func VerifyPages(verify bool) Option {
	return func(o *ntuple.ReadOptions) error {
		o.SkipChecksums = !verify
		return nil
	}
}

// ReadWorkers sets the number of goroutines that fetch, decompress and decode pages for one
// view. The order of values does not depend on it. Default: runtime.GOMAXPROCS(0), or 8 if that is
// more and the file is far away.
func ReadWorkers(n int) Option {
	return func(o *ntuple.ReadOptions) error {
		if n <= 0 {
			return fmt.Errorf("ReadWorkers: %d; the number must be positive", n)
		}
		o.Workers = n
		return nil
	}
}

// ReadAhead sets the size in bytes of the decoded pages that one view may hold besides the
// current page of each column: pages read ahead if entries are read in order, and pages
// kept for later if they are not. 0 turns both off. Default: 64 MiB.
func ReadAhead(bytes int64) Option {
	return func(o *ntuple.ReadOptions) error {
		if bytes < 0 {
			return fmt.Errorf("ReadAhead: %d bytes; the size must not be negative", bytes)
		}
		o.ReadAhead = bytes
		return nil
	}
}

// MapFile sets whether Open maps the file into memory, on systems that can do so, which
// saves a copy of every page. If a mapped file is truncated while it is read, or a read
// fails, the result is an error as for other files. Default: true.
func MapFile(yes bool) Option {
	return func(o *ntuple.ReadOptions) error {
		o.NoMap = !yes
		return nil
	}
}

// Remote sets how files are read whose names are URLs. Default: the zero value.
func Remote(o remote.Options) Option {
	return func(to *ntuple.ReadOptions) error {
		to.Remote = o
		return nil
	}
}

// TrustZoneMaps sets whether zone maps are used: by conditions, which do not read clusters for which
// they decide, and by package surgery, which takes them over. A map that lies hides entries, or lets
// wrong ones through; see docs/reference/zonemaps.md. By default, zone maps are used unless the name of the file is a URL. An
// io.ReaderAt counts as a local file unless it is a remote.RangeReader.
func TrustZoneMaps(yes bool) Option {
	return func(o *ntuple.ReadOptions) error {
		o.TrustZones = &yes
		return nil
	}
}

// AllowMissing makes fields that the file lacks read as zero: fields that views ask for,
// and members of structs at any depth, as if their tag had the option "optional":
//
//	Weight float32 `rntuple:"weight,optional"`
//
// Default: a missing field is an error that wraps ErrNoField, because its name may be
// misspelt.
func AllowMissing() Option {
	return func(o *ntuple.ReadOptions) error {
		o.AllowMissing = true
		return nil
	}
}
