package surgery

import (
	"context"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
)

// A job describes one RNTuple to be made of others: which RNTuples the entries come from,
// which entries those are, and what becomes of the schema. Each operation fills in one, and
// execute does jobs in two passes over the inputs. The first one finds out whether they go
// together, before anything is written; the second one copies:
//
//	plan:  for each step  open its inputs, compare their schemas, close them
//	do:    for each step  open its inputs, map their fields to those of the output,
//	                      copy the entries and then the attribute sets, close them
//
// A step has one input, or all of them if they lie side by side. Its mapping says where
// each field of the output comes from. There is one loop that copies entries
// (mapping.copyEntries). It takes over whole clusters page by page, at the lowest level
// that is right (clusters.go), joins the clusters of several inputs where that gives good
// ones (beside.go), and otherwise copies elements into new pages (copier.go). Columns of
// the extension are created when their first element that is not zero arrives, so that they
// become deferred columns.
type job struct {
	// inputs are the RNTuples that the entries come from, one after the other.
	inputs []Input
	// sideBySide makes one entry of those with the same number in all inputs, which
	// have different fields.
	sideBySide bool
	// inPlace continues the RNTuple of the first input, in its file, with the
	// entries of the others.
	inPlace bool
	// choose returns which entries of the n-th input to take. It is called in both
	// passes. Nil takes all entries. It is not used side by side or in place.
	choose func(ctx context.Context, n int, r *ntuple.Reader) (selection, error)
	// edit changes the schema of the output, which is that of the first input. It
	// must keep the fields and their numbers.
	edit func(*shape) error

	config
}

// An opener opens the file at a path that is written: ntuple.CreateFile or
// ntuple.UpdateFile.
type opener func(path string, o *ntuple.WriteOptions) (*ntuple.File, error)
