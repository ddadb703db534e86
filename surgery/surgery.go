// Package surgery makes RNTuples out of others without going through their values
// where it can be done: pages are copied as they are stored, recompressed or
// encoded anew, whichever is the least that is needed. Only where clusters are cut
// or joined are elements moved one by one, column by column.
//
// Where the file system can have files share bytes (btrfs, XFS, ... on Linux) and
// both are on the same, pages are not even copied; see Share.
//
// Inputs are never written to, and an output file appears whole or not at all.
// What is copied or shared is read and verified; Read(rntuple.VerifyPages(false))
// leaves that out, and with it the reading of what is shared. All functions use as many goroutines as
// rntuple.Workers says, and memory that does not depend on the number of inputs
// or their size: a cluster of the output, twice, and the metadata of one input.
//
// Source: ROOT's document on merging, "RNTuple merging process".
package surgery

import (
	"fmt"
	"strings"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// An Input names an RNTuple in a file, as rntuple.Open does it.
type Input struct {
	Path string
	Name string // may be empty if there is one at the top level of the file
}

func (i Input) String() string {
	if i.Name == "" {
		return i.Path
	}
	return i.Path + ":" + i.Name
}

// A Level is how much is done to a page. The numbers are those of ROOT's document.
type Level uint8

const (
	Share      Level = iota // the file system has the output share its bytes with the input
	Copy                    // the bytes are copied as they are stored
	Recompress              // decompressed and compressed
	Reseal                  // decoded and encoded, too, with the same elements
	Rewrite                 // the elements are written to new pages and clusters
)

var levelNames = [...]string{"share", "copy", "recompress", "reseal", "rewrite"}

func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("Level(%d)", uint8(l))
}

// ParseLevel reads a level by its name, "copy", or as "L1" or "1".
func ParseLevel(s string) (Level, error) {
	for i, name := range levelNames {
		if number := fmt.Sprint(i); strings.EqualFold(s, name) || s == number || strings.EqualFold(s, "L"+number) {
			return Level(i), nil
		}
	}
	return 0, fmt.Errorf("unknown level %q; there are %s", s, strings.Join(levelNames[:], ", "))
}

// A Mode says what becomes of the top-level fields that not all inputs have.
type Mode uint8

const (
	// Filter takes the fields of the first input, which all others must have.
	Filter Mode = iota
	// Strict wants the same fields in all inputs.
	Strict
	// Union takes the fields of all inputs. An input that lacks some has zeros
	// there: 0, false, empty collections and strings, variants without a value.
	Union
)

var modeNames = [...]string{"filter", "strict", "union"}

func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// ParseMode reads a mode by its name.
func ParseMode(s string) (Mode, error) {
	for i, name := range modeNames {
		if strings.EqualFold(s, name) {
			return Mode(i), nil
		}
	}
	return 0, fmt.Errorf("unknown mode %q; there are %s", s, strings.Join(modeNames[:], ", "))
}

// An Option changes how an output is made.
type Option func(*settings)

type settings struct {
	mode            Mode
	least, most     Level
	name            string
	read            []rntuple.Option
	write           []rntuple.WriteOption
	compression     *compress.Settings
	keepCompression bool
	minCluster      int64
	convert         bool
	dropAttributes  bool
	keep, drop      []string // patterns of fields
	groupPages      int      // at which a cluster group ends
	progress        func(done, total int64)
	encodeAll       Encoding
	encode          []encode
	prefix          []string
}

func newSettings(opts []Option) *settings {
	s := &settings{least: Share, most: Rewrite, groupPages: maxGroupPages}
	for _, opt := range opts {
		opt(s)
	}
	return s
}

// WithMode sets the mode. Default: Filter.
func WithMode(m Mode) Option { return func(s *settings) { s.mode = m } }

// Name sets the name of the output RNTuple, which may lead through directories:
// "dir/sub/name". Default: that of the first input, at the top level.
func Name(name string) Option { return func(s *settings) { s.name = name } }

// AtLeast has every page get the given level or a higher one: Copy gives the output
// bytes of its own on disk, Recompress has all compressed anew, Rewrite makes new pages and clusters of the sizes that Write's
// options ask for, so that many small clusters become few good ones. Default:
// every page gets the lowest level that is right.
func AtLeast(l Level) Option { return func(s *settings) { s.least = l } }

// AtMost has pages that need a higher level be an error: with Copy, nothing is
// done that takes long; with Share, it is an error if the file system cannot share
// (what lies in fewer than 64 KiB in a row is copied even so). The ranges of
// attribute sets are exempt. Default: Rewrite.
func AtMost(l Level) Option { return func(s *settings) { s.most = l } }

// Compression sets how all pages are compressed. Default: as the first pages of
// the inputs are.
func Compression(c compress.Settings) Option { return func(s *settings) { s.compression = &c } }

// KeepCompression leaves pages compressed as they are, so that inputs that differ
// in it are copied all the same; the format allows that. What has to be made anew
// is compressed as Compression says.
func KeepCompression() Option { return func(s *settings) { s.keepCompression = true } }

// JoinClusters has clusters that have fewer bytes on disk be rewritten into larger
// ones, of the size that Write(rntuple.ClusterSize) says. Default: 0, none.
func JoinClusters(bytes int64) Option { return func(s *settings) { s.minCluster = bytes } }

// ConvertTypes also merges fields whose types differ if the values can be
// converted: bool and integers into each other, floats into each other, and
// collections and records of those. A value that the type of the first input
// cannot hold is an error that wraps rntuple.ErrRange.
func ConvertTypes() Option { return func(s *settings) { s.convert = true } }

// DropAttributes leaves attribute sets behind. Default: they are kept, sets of the
// same name become one, and ranges move with their entries.
func DropAttributes() Option { return func(s *settings) { s.dropAttributes = true } }

// Read sets options of the inputs: VerifyPages, MapFile, the limits.
func Read(opts ...rntuple.Option) Option {
	return func(s *settings) { s.read = append(s.read, opts...) }
}

// Write sets options of the output: sizes of clusters and pages, Workers, Clock.
// Compression here has the same meaning as rntuple.Compression.
func Write(opts ...rntuple.WriteOption) Option {
	return func(s *settings) { s.write = append(s.write, opts...) }
}

// Progress has a function told how many bytes of the inputs are done. It is called
// by the goroutine that called Merge.
func Progress(f func(done, total int64)) Option { return func(s *settings) { s.progress = f } }

// A Report says what was done.
type Report struct {
	Inputs        int
	InputEntries  int64 // of the inputs
	Entries       int64 // of the output
	Clusters      int64 // of the output that came from the inputs
	ClusterGroups int
	// Levels counts what was done to the pages of the inputs, attribute sets
	// included; not those that stay in place.
	Levels [Rewrite + 1]Work
	// Dropped are the projected fields that went with what they are views on.
	Dropped []string
}

// Work are pages of inputs.
type Work struct {
	Pages, Bytes int64 // as stored, with checksums
}

func (w *Work) add(pages, bytes int64) {
	w.Pages += pages
	w.Bytes += bytes
}

// A Problem is a reason why an input cannot be merged.
type Problem struct {
	Input string
	Field string // its path; empty if it is about the whole input
	What  string
}

func (p Problem) String() string {
	if p.Field == "" {
		return fmt.Sprintf("%s: %s", p.Input, p.What)
	}
	return fmt.Sprintf("%s: field %q: %s", p.Input, p.Field, p.What)
}

// An IncompatibleError lists everything in which inputs do not go together.
type IncompatibleError struct{ Problems []Problem }

func (e *IncompatibleError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	if len(lines) == 1 {
		return "the inputs do not go together: " + lines[0]
	}
	return fmt.Sprintf("the inputs do not go together, %d problems:\n\t%s", len(lines), strings.Join(lines, "\n\t"))
}
