package rewrite

import (
	"context"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagecopy"
	"github.com/go-rntuple/go-rntuple/remote"
)

// An Input names an RNTuple in a file.
type Input struct {
	Path string
	Name string // may be empty if there is one at the top level of the file
}

func (i Input) String() string {
	path := remote.Redact(i.Path)
	if i.Name == "" {
		return path
	}
	return path + ":" + i.Name
}

// A Job describes one RNTuple to be made of others.
type Job struct {
	// Inputs are the RNTuples that the entries come from, one after the other.
	Inputs []Input
	// SideBySide makes one entry of those with the same number in all inputs, which
	// have different fields.
	SideBySide bool
	// InPlace continues the RNTuple of the first input, in its file, with the
	// entries of the others.
	InPlace bool
	// Prefix holds what comes before the names of the top-level fields and attribute
	// sets of each input that lies side by side with others; those beyond have none.
	Prefix []string
	// Select returns which entries of the n-th input to take. It is called in both
	// passes. Nil takes all entries. It is not used side by side or in place.
	Select func(ctx context.Context, n int, r *ntuple.Reader) (Selection, error)
	// Edit changes the schema of the output, which is that of the first input. It
	// must keep the fields and their numbers.
	Edit func(*Shape) error

	Options
}

// Options say how outputs are made. The options of package surgery document them.
type Options struct {
	Mode            Mode
	Least, Most     pagecopy.Level
	Name            string
	Read            *ntuple.ReadOptions
	Write           func(c compress.Settings) (*ntuple.WriteOptions, error) // c is the default compression
	Compression     *compress.Settings                                      // nil: that of the first pages of the inputs
	KeepCompression bool
	MinCluster      int64 // bytes; smaller clusters are joined
	Convert         bool  // also merge types whose values can be converted
	DropAttributes  bool
	Keep, Drop      []string // patterns of fields
	GroupPages      int      // at which a cluster group ends; 0: maxGroupPages
	Progress        func(done, total int64)
}

// A Mode says what becomes of the top-level fields that not all inputs have. The
// numbers are those of surgery.Mode.
type Mode uint8

const (
	Filter Mode = iota
	Strict
	Union
)

// An Opener opens the file at a path that is written: ntuple.CreateFile or
// ntuple.UpdateFile.
type Opener func(path string, o *ntuple.WriteOptions) (*ntuple.File, error)
