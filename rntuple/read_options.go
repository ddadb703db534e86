package rntuple

import (
	"cmp"
	"context"
	"fmt"

	"github.com/go-rntuple/go-rntuple/internal/entrance"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/remote"
)

// ReadOptions configures how RNTuples are read. The zero value and a nil pointer select the
// defaults. Functions that take ReadOptions copy them.
type ReadOptions struct {
	// Context is used for opening and reading, which return its error when it is done; see
	// Reader.WithContext. Default: context.Background().
	Context context.Context

	// Limits bounds the memory that reading a file can require.
	Limits Limits

	// Workers is the number of goroutines that fetch, decompress and decode pages for one view. The
	// order of values does not depend on it. Default: runtime.GOMAXPROCS(0), but at least 8 for a
	// remote file.
	Workers int

	// ReadAhead limits the size in bytes of the decoded pages that a view keeps in addition to the
	// current page of each column: prefetched pages for sequential reads, and cached pages for
	// random access. A negative size disables both. Default: 64 MiB.
	ReadAhead int64

	// MaxOpen is the maximum number of inputs that a Chain keeps open. If more goroutines read from
	// different inputs, they wait for each other, and files are reopened repeatedly. Default: 16 or
	// 2*runtime.GOMAXPROCS(0), whichever is larger.
	MaxOpen int

	// SkipChecksums reads pages without verifying their checksums. Those of the anchor and the
	// envelopes are always verified.
	SkipChecksums bool

	// NoMap disables memory mapping of local files, which avoids a copy of every page where it is
	// supported. If a mapped file is truncated while it is read, or a read fails, the result is an
	// error as for other files.
	NoMap bool

	// AllowMissing reads fields that are missing from the file as zero: the fields of views, and
	// members of structs at any depth, as if their tag had the option "optional":
	//
	//	Weight float32 `rntuple:"weight,optional"`
	//
	// Otherwise a missing field is an error that wraps ErrNoField, because its name might be
	// misspelled.
	AllowMissing bool

	// ZoneMaps selects the zone maps that are trusted. Default: those of local files.
	ZoneMaps ZoneMapTrust

	// Remote configures how URLs are read.
	Remote remote.Options
}

// A ZoneMapTrust selects which zone maps are used: by conditions, which do not read clusters for
// which a map determines the result, and by package surgery, which propagates them to its outputs.
// An incorrect zone map hides matching entries or accepts wrong ones.
type ZoneMapTrust uint8

const (
	// TrustLocal uses zone maps unless the file is remote. An io.ReaderAt counts as local unless it
	// is a remote.RangeReader.
	TrustLocal ZoneMapTrust = iota
	TrustAll                // uses all zone maps
	TrustNone               // uses none
)

// base returns the options of package ntuple.
func (o *ReadOptions) base() (*ntuple.ReadOptions, error) {
	o = cmp.Or(o, new(ReadOptions))
	if o.Workers < 0 || o.MaxOpen < 0 || o.ZoneMaps > TrustNone {
		return nil, fmt.Errorf("ReadOptions: Workers %d, MaxOpen %d, ZoneMaps %d; the numbers must not be negative, nor ZoneMaps above %d",
			o.Workers, o.MaxOpen, o.ZoneMaps, TrustNone)
	}
	if err := o.Limits.check(); err != nil {
		return nil, fmt.Errorf("ReadOptions: %w", err)
	}
	base := ntuple.NewReadOptions()
	base.Context = cmp.Or(o.Context, base.Context)
	base.Limits, base.Workers, base.MaxOpen, base.Remote = ntuple.Limits(o.Limits), o.Workers, o.MaxOpen, o.Remote
	base.SkipChecksums, base.NoMap, base.AllowMissing = o.SkipChecksums, o.NoMap, o.AllowMissing
	if o.ReadAhead != 0 {
		base.ReadAhead = max(0, o.ReadAhead)
	}
	if o.ZoneMaps != TrustLocal {
		base.TrustZones = new(o.ZoneMaps == TrustAll)
	}
	return base, nil
}

// with returns a copy of the options with another context.
func (o *ReadOptions) with(ctx context.Context) *ReadOptions {
	c := *cmp.Or(o, new(ReadOptions))
	c.Context = ctx
	return &c
}

// Package surgery, which builds on the readers and writers of package ntuple, takes the same
// options.
func init() {
	entrance.ReadOptions = func(o any) (*ntuple.ReadOptions, error) { return o.(*ReadOptions).base() }
	entrance.WriteOptions = func(o any) (*ntuple.WriteOptions, error) { return o.(*WriteOptions).base() }
}
