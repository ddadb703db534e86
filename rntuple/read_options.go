package rntuple

import (
	"cmp"
	"context"
	"fmt"

	"github.com/go-rntuple/go-rntuple/internal/entrance"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/remote"
)

// ReadOptions say how RNTuples are read. The zero value stands for the defaults, and so does a
// nil pointer. The functions that take ReadOptions copy them.
type ReadOptions struct {
	// Context is that of opening and reading, which return its error once it is done; see
	// Reader.WithContext. Default: context.Background().
	Context context.Context

	// Limits bound the memory that a file can demand.
	Limits Limits

	// Workers is the number of goroutines that fetch, decompress and decode pages for one view.
	// The order of values does not depend on it. Default: runtime.GOMAXPROCS(0), or 8 if that is
	// more and the file is far away.
	Workers int

	// ReadAhead is the size in bytes of the decoded pages that one view may hold besides the
	// current page of each column: pages read ahead if entries are read in order, and pages kept
	// for later if they are not. A negative size turns both off. Default: 64 MiB.
	ReadAhead int64

	// MaxOpen is the number of inputs that a Chain keeps open at a time. If more goroutines read
	// from different inputs, they wait for each other, and files are opened again and again.
	// Default: 16 or 2*runtime.GOMAXPROCS(0), whichever is larger.
	MaxOpen int

	// SkipChecksums is set to read pages without verifying their checksums. Those of the anchor
	// and the envelopes are always verified.
	SkipChecksums bool

	// NoMap is set to read local files without mapping them into memory, which saves a copy of
	// every page on systems that can do so. If a mapped file is truncated while it is read, or a
	// read fails, the result is an error as for other files.
	NoMap bool

	// AllowMissing is set to read fields that the file lacks as zero: fields that views ask for,
	// and members of structs at any depth, as if their tag had the option "optional":
	//
	//	Weight float32 `rntuple:"weight,optional"`
	//
	// Otherwise a missing field is an error that wraps ErrNoField, because its name may be
	// misspelt.
	AllowMissing bool

	// ZoneMaps says which zone maps are trusted. Default: those of local files.
	ZoneMaps ZoneMapTrust

	// Remote says how files are read whose names are URLs.
	Remote remote.Options
}

// A ZoneMapTrust says which zone maps are used: by conditions, which do not read clusters for
// which a map decides, and by package surgery, which keeps them in its outputs. A map that lies
// hides entries, or lets wrong ones through.
type ZoneMapTrust uint8

const (
	// TrustLocal uses zone maps unless the name of the file is a URL. An io.ReaderAt counts as a
	// local file unless it is a remote.RangeReader.
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
