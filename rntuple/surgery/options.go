package surgery

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// An Option changes how an output is made. The operations say which ones they take; it
// is an error to give them others.
type Option func(*config) error

type config struct {
	operation string
	takes     []string // names of options
	given     struct { // by the options Read and Write
		read  []rntuple.Option
		write []rntuple.WriteOption
	}

	mode            Mode
	least, most     Level
	name            string
	read            *ntuple.ReadOptions
	compression     *compress.Settings // nil: that of the first pages of the inputs
	keepCompression bool
	minCluster      int64 // bytes; smaller clusters are joined
	convert         bool  // also merge types whose values can be converted
	dropAttributes  bool
	keep, drop      []string // patterns of fields
	prefixes        []string
	encodeAll       Encoding
	encode          []fieldEncoding
	define          []definition
	groupPages      int // at which a cluster group ends; 0: maxGroupPages
	progress        func(done, total int64)
}

// The options that operations have in common, by what they concern.
var (
	takesPages = []string{"AtLeast", "AtMost", "Compression", "DropAttributes", "JoinClusters", "KeepCompression", "Progress", "Read", "Write"}
	takesName  = append([]string{"Name"}, takesPages...)
	takesCut   = append([]string{"Drop", "Keep"}, takesName...)
	takesMerge = append([]string{"ConvertTypes", "WithMode"}, takesCut...)
	takesSlim  = append([]string{"Define", "DefineColumns"}, takesCut...)
	takesSkim  = append([]string{"Define", "DefineColumns"}, takesMerge...)
)

// configure applies options to the defaults. The operation must take them.
func configure(operation string, takes []string, opts []Option) (*config, error) {
	c := &config{operation: operation, takes: takes, most: Rewrite}
	var errs []error
	for _, opt := range opts {
		errs = append(errs, opt(c))
	}
	var err error
	c.read, err = ntuple.NewReadOptions(c.given.read)
	errs = append(errs, err)
	if err == nil && c.read.AllowMissing {
		errs = append(errs, errors.New("surgery.Read does not take the option rntuple.AllowMissing"))
	}
	write, err := ntuple.NewWriteOptions(c.given.write)
	errs = append(errs, err)
	if write.Description != "" || len(write.Projections) > 0 || write.ZoneMap {
		errs = append(errs, errors.New("surgery.Write does not take the options rntuple.Description, rntuple.Project and rntuple.ZoneMap"))
	}
	return c, errors.Join(errs...)
}

// option returns an option that operations must take by its name.
func option(name string, set func(*config)) Option {
	return func(c *config) error {
		if !slices.Contains(c.takes, name) {
			return fmt.Errorf("surgery.%s does not take the option %s", c.operation, name)
		}
		set(c)
		return nil
	}
}

// create makes a file of one RNTuple.
func (c *config) create(ctx context.Context, out string, j *job) (*Report, error) {
	return c.run(ctx, out, ntuple.CreateFile, j)
}

// run does a job in the file at path.
func (c *config) run(ctx context.Context, path string, open opener, j *job) (*Report, error) {
	j.config = *c
	reports, err := execute(ctx, path, open, j)
	pass(err)
	if err != nil {
		return nil, err
	}
	return reports[0], nil
}

// asStored keeps pages compressed as they are unless the option Compression is given.
func (c *config) asStored() *config {
	c.keepCompression = c.keepCompression || c.compression == nil
	return c
}

// WithMode sets the mode. Default: Filter.
func WithMode(m Mode) Option {
	return option("WithMode", func(c *config) { c.mode = m })
}

// Name sets the name of the output RNTuple, which may lead through directories:
// "dir/sub/name". Default: that of the first input, at the top level.
func Name(name string) Option { return option("Name", func(c *config) { c.name = name }) }

// AtLeast gives every page the given level or a higher one. Copy makes the output own
// its bytes on disk, Recompress compresses all pages anew, and Rewrite makes new pages
// and clusters of the sizes that the options in Write say, so that many small clusters
// become few good ones. Default: Clone, every page gets the lowest level that is right.
func AtLeast(l Level) Option {
	return option("AtLeast", func(c *config) { c.least = l })
}

// AtMost makes it an error if pages need a higher level. With Copy, nothing is done that
// takes long; with Clone, the file system must be able to clone (even then, less than
// 64 KiB in a row is copied). Attribute sets that are cut are exempt. Default: Rewrite.
func AtMost(l Level) Option {
	return option("AtMost", func(c *config) { c.most = l })
}

// Compression sets how all pages are compressed. Default: as the first pages of the
// inputs are.
func Compression(s compress.Settings) Option {
	return option("Compression", func(c *config) { c.compression = &s })
}

// KeepCompression leaves pages compressed as they are, so that they are copied even from
// inputs that differ in it; the format allows that. What has to be made anew is
// compressed as Compression says.
func KeepCompression() Option {
	return option("KeepCompression", func(c *config) { c.keepCompression = true })
}

// JoinClusters rewrites clusters that have fewer bytes on disk into larger ones, of the
// size that Write(rntuple.ClusterSize) says. Default: 0, none.
func JoinClusters(bytes int64) Option {
	return option("JoinClusters", func(c *config) { c.minCluster = bytes })
}

// ConvertTypes also merges fields whose types differ if their values can be converted:
// bool and integers into each other, floats into each other, and collections and
// records of those. A value that the type of the first input cannot hold is an error
// that wraps rntuple.ErrRange.
func ConvertTypes() Option { return option("ConvertTypes", func(c *config) { c.convert = true }) }

// DropAttributes leaves attribute sets behind. Default: they are kept, sets of the same
// name become one, and ranges move with their entries.
func DropAttributes() Option {
	return option("DropAttributes", func(c *config) { c.dropAttributes = true })
}

// Keep takes only the fields that match one of the patterns, with all that is below
// them and the records that they are in. Patterns are those of path.Match, for paths
// whose names are joined by dots instead of slashes: "Muon_*", "event.*.x". The name of
// a collection's items, "_0", may be left out.
//
// Fields below a class or another type that has a name cannot be chosen: without one of
// them it would not be that type any more. That leaves top-level fields and the members
// of untyped records, also where these are the items of untyped collections. A record
// of which nothing is left is dropped. A projected field brings its source, and a
// collection that has no other field left its first one.
//
// Of the first input, each pattern must match a field. Which of these fields the other
// inputs may lack, the mode says.
func Keep(patterns ...string) Option {
	return option("Keep", func(c *config) { c.keep = append(c.keep, patterns...) })
}

// Drop leaves out the fields that match one of the patterns, which are as those of Keep.
// It takes precedence over Keep. Projected fields are dropped with their sources, which
// the report says, but not the other way round.
func Drop(patterns ...string) Option {
	return option("Drop", func(c *config) { c.drop = append(c.drop, patterns...) })
}

// Prefix puts a prefix before the names of the top-level fields and attribute sets of
// each input, in their order; inputs beyond have none.
func Prefix(each ...string) Option { return option("Prefix", func(c *config) { c.prefixes = each }) }

// EncodeAll encodes all columns in the given way, except those that Encode names, those
// that would lose something by it, and those whose encoding is narrower: Real16,
// Real32Trunc and Real32Quant stay.
func EncodeAll(e Encoding) Option { return option("EncodeAll", func(c *config) { c.encodeAll = e }) }

// Encode encodes the column of a field in the given way, even if values lose bits by
// that; the path is as for rntuple.ViewOf. For a collection of numbers it means these,
// unless the column is one of offsets. A value that the column cannot hold is an error
// that wraps rntuple.ErrRange.
func Encode(path string, column schema.ColumnDocument) Option {
	return option("Encode", func(c *config) { c.encode = append(c.encode, fieldEncoding{path, column}) })
}

// Read sets options of the inputs: VerifyPages, MapFile, the limits.
func Read(opts ...rntuple.Option) Option {
	return option("Read", func(c *config) { c.given.read = append(c.given.read, opts...) })
}

// Write sets options of the output: sizes of clusters and pages, Workers, Clock, Sync,
// LockWait.
// Compression here has the same meaning as rntuple.Compression.
func Write(opts ...rntuple.WriteOption) Option {
	return option("Write", func(c *config) { c.given.write = append(c.given.write, opts...) })
}

// Progress calls a function with the number of bytes of the input files that are done,
// which rises to the total. It is called many times for each cluster that is rewritten
// and once for each that is copied, by the goroutine that called the operation.
func Progress(f func(done, total int64)) Option {
	return option("Progress", func(c *config) { c.progress = f })
}
