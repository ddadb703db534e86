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

// Options are what all operations have in common that make a file with an RNTuple. The zero value
// stands for the defaults. A nil pointer to the options of an operation stands for their zero
// value.
type Options struct {
	// Read says how inputs are read. AllowMissing must not be set. The context is that of the call.
	Read rntuple.ReadOptions

	// Write says how the output is written. Compression concerns all pages; by default it is that
	// of the first pages of the inputs. Description, Projections, ZoneMap, ExtendSchema and Limits
	// must be zero. The context is that of the call.
	Write rntuple.WriteOptions

	// AtLeast gives every page the given level or a higher one. Copy makes the output own its bytes
	// on disk, Recompress compresses all pages anew, and Rewrite makes new pages and clusters of
	// the sizes that Write says, so that many small clusters become few good ones. Default: Clone,
	// every page gets the lowest level that is right.
	AtLeast Level

	// AtMost, if set, makes it an error if pages need a higher level. With Copy, nothing is done
	// that takes long; with Clone, the file system must be able to clone (even then, less than 64
	// KiB in a row is copied). Attribute sets that are cut are exempt.
	AtMost *Level

	// KeepCompression is set to leave pages compressed as they are, so that they are copied even
	// from inputs that differ in it; the format allows that. What has to be made anew is compressed
	// as Write says.
	KeepCompression bool

	// JoinClusters is the size in bytes on disk of clusters below which they are rewritten into
	// larger ones, of the size that Write says. Default: none are.
	JoinClusters int64

	// DropAttributes is set to leave attribute sets behind. Otherwise they are kept, sets of the
	// same name become one, and ranges move with their entries.
	DropAttributes bool

	// Progress, if set, is called with the number of bytes of the input files that are done, which
	// rises to the total: many times for each cluster that is rewritten and once for each that is
	// copied, by the goroutine that called the operation.
	Progress func(done, total int64)

	groupPages int // at which a cluster group ends; 0: maxGroupPages
}

// MergeOptions are those of Merge and Concat, and, without Name, Keep and Drop, those of MergeAll
// and MergeInto.
type MergeOptions struct {
	Options

	// Name is that of the output RNTuple, which may lead through directories: "dir/sub/name".
	// Default: that of the first input, at the top level.
	Name string

	// Keep takes only the fields that match one of the patterns, with all that is below them and
	// the records that they are in. Patterns are those of path.Match, for paths whose names are
	// joined by dots instead of slashes: "Muon_*", "event.*.x". The name of a collection's items,
	// "_0", may be left out.
	//
	// Fields below a class or another type that has a name cannot be chosen: without one of them it
	// would not be that type any more. That leaves top-level fields and the members of untyped
	// records, also where these are the items of untyped collections. A record of which nothing is
	// left is dropped. A projected field brings its source, and a collection that has no other
	// field left its first one.
	//
	// Of the first input, each pattern must match a field. Which of these fields the other inputs
	// may lack, the mode says.
	Keep []string

	// Drop leaves out the fields that match one of the patterns, which are as those of Keep. It
	// takes precedence over Keep. Projected fields are dropped with their sources, which the report
	// says, but not the other way round.
	Drop []string

	// Mode says what becomes of fields that not all inputs have.
	Mode Mode

	// ConvertTypes is set to merge also fields whose types differ if their values can be converted:
	// bool and integers into each other, floats into each other, and collections and records of
	// those. A value that the type of the first input cannot hold is an error that wraps
	// rntuple.ErrRange.
	ConvertTypes bool
}

// SlimOptions are those of Slim. Name, Keep and Drop are as in MergeOptions.
type SlimOptions struct {
	Options
	Name       string
	Keep, Drop []string

	// Define adds fields; see the functions Define and DefineColumns.
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

	// Prefix has, for each input in their order, what is put before the names of its top-level
	// fields and attribute sets; inputs beyond have none.
	Prefix []string
}

// RepackOptions are those of Repack. Name is as in MergeOptions.
type RepackOptions struct {
	Options
	Name string

	// EncodeAll encodes all columns in the given way, except those that Encode names, those that
	// would lose something by it, and those whose encoding is narrower: Real16, Real32Trunc and
	// Real32Quant stay. Default: as they are.
	EncodeAll Encoding

	// Encode encodes the columns of fields in the given ways, even if values lose bits by that. For
	// a collection of numbers it means these, unless the column is one of offsets. A value that the
	// column cannot hold is an error that wraps rntuple.ErrRange.
	Encode []FieldEncoding
}

// A FieldEncoding is how the column of a field is encoded.
type FieldEncoding struct {
	Path   string // of the field, as for rntuple.ViewOf
	Column schema.ColumnDocument
}

// InPlaceOptions are those of operations that write metadata anew in the file of an RNTuple.
type InPlaceOptions struct {
	// Read says how the RNTuple is read; see Options.
	Read rntuple.ReadOptions
	// Compression is that of what is written. Default: that of the first pages.
	Compression compress.Settings
	// File says how the file is written. NoReplace must not be set. The context is that of the
	// call.
	File rntuple.FileOptions
}

// IndexOptions are those of Index. Keep and Drop are as in MergeOptions.
type IndexOptions struct {
	InPlaceOptions
	Keep, Drop []string

	// Progress, if set, is called with the number of clusters that are done, which rises to the
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
