package surgery

import (
	"context"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery/internal/rewrite"
)

// A Renaming says what gets which name.
type Renaming struct {
	// Name is that of the RNTuple. If it is empty the old one stays.
	Name string
	// Fields holds new names by the path of the field: of a top-level field, or of a
	// member of an untyped record. Members of classes have the names that the classes
	// give them.
	Fields map[string]string
}

func (to Renaming) edit(s *rewrite.Shape) error { return s.Rename(to.Name, to.Fields) }

// Rename makes a ROOT file at out with the RNTuple of the input under other names. Pages
// are copied. The new name of the RNTuple may lead through directories.
//
// It is an error if there is no field of a path, or a name is not allowed or taken.
//
// Options: AtLeast, AtMost, Compression, KeepCompression, JoinClusters, DropAttributes,
// Read, Write, Progress.
func Rename(ctx context.Context, out string, in Input, to Renaming, opts ...Option) (*Report, error) {
	c, err := configure("Rename", takesPages, opts)
	if err != nil {
		return nil, err
	}
	return c.asStored().create(ctx, out, &rewrite.Job{Inputs: inputsOf(in), Edit: to.edit})
}

// RenameInPlace gives names to an RNTuple and its fields in the file that it is in:
// header, footer and page lists are written anew, pages stay where they are. It replaces
// the RNTuple of the old name, and stays in its directory. Older cycles get the new name
// of the RNTuple as well, and are otherwise as they were; if the name of the input says a
// cycle, as "name;1", that one alone is renamed. If anything fails the file is as it was.
//
// Options: Compression, of what is written anew, Read, Write.
func RenameInPlace(ctx context.Context, in Input, to Renaming, opts ...Option) error {
	return renameInPlace(ctx, ntuple.UpdateFile, in, to, opts)
}

// renameInPlace is RenameInPlace in the file that open opens.
func renameInPlace(ctx context.Context, open rewrite.Opener, in Input, to Renaming, opts []Option) error {
	c, err := configure("RenameInPlace", []string{"Compression", "Read", "Write"}, opts)
	if err != nil {
		return err
	}
	return rewrite.RenameInPlace(ctx, rewrite.Input(in), open, to.edit, c.Options)
}
