package surgery

import (
	"cmp"
	"context"
	"errors"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/entrance"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Options contains the options common to all operations that write a new file. The zero value
// selects the defaults. A nil pointer to the options of an operation is equivalent to their zero
// value.
type Options struct {
	// Read configures how inputs are read. AllowMissing must not be set. The context is that of the
	// call.
	Read rntuple.ReadOptions

	// Write configures how the output is written. Compression applies to all pages; by default it
	// is that of the first pages of the inputs. Description, Projections, ZoneMap, ExtendSchema and
	// Limits must be zero. The context is that of the call.
	Write rntuple.WriteOptions

	// AtLeast is the minimum level of every page. Copy prevents sharing of blocks on disk,
	// Recompress recompresses all pages, and Rewrite writes new pages and clusters with the sizes
	// in Write, which combines many small clusters into few large ones. Default: Clone, the lowest
	// suitable level for each page.
	AtLeast Level

	// AtMost, if set, is the maximum level: it is an error if pages need a higher one. Copy
	// guarantees that no page is decompressed; Clone requires that the file system supports cloning
	// (runs of less than 64 KiB are copied even then). Attribute sets that are cut are exempt.
	AtMost *Level

	// KeepCompression preserves the compression of pages, so that they are copied even from inputs
	// with different settings, which the format allows. New pages are compressed as configured by
	// Write.
	KeepCompression bool

	// JoinClusters is the size on disk in bytes below which clusters are combined and rewritten to
	// the size configured by Write. Default: none.
	JoinClusters int64

	// DropAttributes drops attribute sets. Otherwise they are kept, sets with the same name are
	// merged, and ranges are renumbered with their entries.
	DropAttributes bool

	// Progress, if set, is called with the number of processed bytes of the input files, which
	// increases up to the total. It is called by the goroutine that called the operation, once for
	// each copied cluster and many times for each rewritten one.
	Progress func(done, total int64)

	groupPages int // at which a cluster group ends; 0: maxGroupPages
}

// MergeOptions are the options of Merge, Concat, MergeAll and MergeInto; the latter two do not
// support Name, Keep and Drop.
type MergeOptions struct {
	Options

	// Name is the name of the output RNTuple, which may contain directories: "dir/sub/name".
	// Default: that of the first input, at the top level.
	Name string

	// Keep selects the fields that match one of the patterns, with all their subfields and
	// enclosing records. Patterns have the syntax of path.Match, with dots instead of slashes as
	// separators: "Muon_*", "event.*.x". The name of a collection's items, "_0", may be omitted.
	//
	// Subfields of a class or another named type cannot be selected individually, because the type
	// requires all of them. Only top-level fields and members of untyped records can be selected,
	// including the records in untyped collections. Empty records are dropped. The source of a
	// projected field is kept with it, and a collection without any other remaining field keeps its
	// first one.
	//
	// Each pattern must match a field of the first input. Mode determines which fields other inputs
	// may lack.
	Keep []string

	// Drop drops the fields that match one of the patterns; see Keep for their syntax. It takes
	// precedence over Keep. Projected fields are dropped with their sources, and listed in the
	// report, but not vice versa.
	Drop []string

	// Mode configures how fields that are missing from some inputs are handled.
	Mode Mode

	// ConvertTypes allows fields with different types if their values can be converted: between
	// bool and integers, between floats, and collections and records of these. A value out of the
	// range of the first input's type is an error that wraps rntuple.ErrRange.
	ConvertTypes bool
}

// SlimOptions are those of Slim. Name, Keep and Drop are as in MergeOptions.
type SlimOptions struct {
	Options
	Name       string
	Keep, Drop []string

	// Define adds computed fields; see the functions Define and DefineColumns.
	Define []Definition
}

// SkimOptions are those of Skim and SkimPieces. Name, Keep, Drop, Mode and ConvertTypes are as in
// MergeOptions, Define is as in SlimOptions.
type SkimOptions struct {
	Options
	Name         string
	Keep, Drop   []string
	Mode         Mode
	ConvertTypes bool
	Define       []Definition
}

// SplitOptions are those of Split. Name, Keep and Drop are as in MergeOptions.
type SplitOptions struct {
	Options
	Name       string
	Keep, Drop []string
}

// HMergeOptions are those of HMerge. Name is as in MergeOptions.
type HMergeOptions struct {
	Options
	Name string

	// Prefix contains for each input, in order, a prefix for the names of its top-level fields and
	// attribute sets. Default, also for further inputs: none.
	Prefix []string
}

// RepackOptions are those of Repack. Name is as in MergeOptions.
type RepackOptions struct {
	Options
	Name string

	// EncodeAll is the encoding of all columns except those in Encode, those that would lose
	// precision, and those with a narrower encoding: Real16, Real32Trunc and Real32Quant are kept.
	// Default: unchanged.
	EncodeAll Encoding

	// Encode sets the encodings of the columns of fields, even if values lose precision. For a
	// collection of numbers it applies to the numbers, unless it is an encoding of offsets. A value
	// out of the range of the column is an error that wraps rntuple.ErrRange.
	Encode []FieldEncoding
}

// A FieldEncoding is how the column of a field is encoded.
type FieldEncoding struct {
	Path   string // of the field, as for rntuple.ViewOf
	Column schema.ColumnDocument
}

// InPlaceOptions are the options of operations that rewrite the metadata of an RNTuple in its file.
type InPlaceOptions struct {
	// Read configures how the RNTuple is read; see Options.
	Read rntuple.ReadOptions
	// Compression is the compression of the new metadata. Default: that of the first pages.
	Compression compress.Settings
	// File configures how the file is written. NoReplace must not be set. The context is that of
	// the call.
	File rntuple.FileOptions
}

// IndexOptions are those of Index. Keep and Drop are as in MergeOptions.
type IndexOptions struct {
	InPlaceOptions
	Keep, Drop []string

	// Progress, if set, is called with the number of processed clusters, which increases up to the
	// total.
	Progress func(done, total int64)
}

// config has the options of all operations.
type config struct {
	MergeOptions
	prefixes []string     // HMergeOptions.Prefix
	define   []Definition // of SlimOptions or SkimOptions

	most        Level // AtMost, or Rewrite
	read        *ntuple.ReadOptions
	compression *compress.Settings // nil: that of the first pages of the inputs
	invalid     error              // why the options cannot be honoured; then the operation does nothing
}

func (o *Options) config() *config {
	c := &config{MergeOptions: MergeOptions{Options: *o}, most: Rewrite}
	if o.AtMost != nil {
		c.most = *o.AtMost
	}
	var errs []error
	if o.Read.AllowMissing {
		errs = append(errs, errors.New("package surgery does not take the option Read.AllowMissing"))
	}
	w := &o.Write
	if w.Description != "" || len(w.Projections) > 0 || len(w.ZoneMap) > 0 || w.ExtendSchema ||
		w.Limits != (rntuple.Limits{}) {
		errs = append(errs, errors.New("package surgery does not take the options Write.Description, Projections, ZoneMap, ExtendSchema and Limits"))
	}
	var err error
	c.read, err = entrance.ReadOptions(&o.Read)
	errs = append(errs, err)
	write, err := entrance.WriteOptions(&c.Write)
	if errs = append(errs, err); err == nil && c.Write.Compression != 0 {
		c.compression = &write.Pages.Compression
	}
	c.invalid = errors.Join(errs...)
	return c
}

func (o *MergeOptions) config() *config {
	o = cmp.Or(o, new(MergeOptions))
	c := o.Options.config()
	c.MergeOptions = *o
	return c
}

// whole is config for operations that take RNTuples as they are.
func (o *MergeOptions) whole(operation string) *config {
	c := o.config()
	if c.Name != "" || len(c.Keep) > 0 || len(c.Drop) > 0 {
		c.invalid = errors.New("surgery." + operation + " does not take the options Name, Keep and Drop")
	}
	return c
}

func (o *InPlaceOptions) config() *config {
	o = cmp.Or(o, new(InPlaceOptions))
	c := (&Options{Read: o.Read, Write: rntuple.WriteOptions{File: o.File, Compression: o.Compression}}).config()
	if o.File.NoReplace {
		c.invalid = errors.New("an operation in place does not take the option File.NoReplace")
	}
	return c
}

// create makes a file of one RNTuple.
func (c *config) create(ctx context.Context, out string, j *job) (*Report, error) {
	return c.run(ctx, out, ntuple.CreateFile, j)
}

// run does a job in the file at path.
func (c *config) run(ctx context.Context, path string, open opener, j *job) (*Report, error) {
	if err := cmp.Or(c.invalid, check(c.define)); err != nil {
		return nil, err
	}
	j.config = *c
	reports, err := execute(ctx, path, open, j)
	pass(err)
	if err != nil {
		return nil, err
	}
	return reports[0], nil
}

// asStored keeps pages compressed as they are unless the compression is given.
func (c *config) asStored() *config {
	c.KeepCompression = c.KeepCompression || c.compression == nil
	return c
}
