package source

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/foreign"
	"github.com/go-rntuple/go-rntuple/internal/input"
	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

// OpenRNTuple opens the RNTuple that the arguments FILE [NTUPLE] name.
func OpenRNTuple(ctx context.Context, t *cli.Tool, args []string) (*rntuple.Reader, error) {
	name, err := cli.CheckedName(args)
	if err != nil {
		return nil, err
	}
	path, err := t.Input.Root(ctx, args[0])
	if err != nil {
		return nil, err
	}
	r, err := rntuple.Open(path, name, t.Input.Options(ctx))
	if err != nil {
		return nil, WithKind(ctx, t, path, name, err)
	}
	return r, nil
}

// WithKind returns an error of opening an RNTuple, and says what else the file is, if it is of
// another kind.
func WithKind(ctx context.Context, t *cli.Tool, path, name string, err error) error {
	if kind, _ := foreign.Detect(ctx, path, name, t.Input.Remote()); kind != "" && kind != foreign.RNTuple {
		err = fmt.Errorf("%w; it is %s, which rnt convert converts to an RNTuple", err, kind.Title())
	}
	return err
}

// OpenFile opens the file that an argument names and returns its size.
func OpenFile(ctx context.Context, t *cli.Tool, arg string) (input.File, int64, error) {
	path, err := t.Input.Root(ctx, arg)
	if err != nil {
		return nil, 0, err
	}
	return input.Open(ctx, location.Parse(path), false, t.Input.Remote())
}

// WithPath returns an error of a chain, which says which file it is about, without saying so twice.
func WithPath(err error) error {
	var in *rntuple.InputError
	if errors.As(err, &in) && strings.Contains(in.Err.Error(), remote.Redact(in.Path)) {
		return in.Err
	}
	return err
}

// Inputs returns the RNTuples called name in files.
func Inputs(files []string, name string) []surgery.Input {
	inputs := make([]surgery.Input, len(files))
	for i, path := range files {
		inputs[i] = surgery.Input{Path: path, Name: name}
	}
	return inputs
}

// Pieces returns all entries of the RNTuples called name in files.
func Pieces(files []string, name string) []surgery.Piece {
	pieces := make([]surgery.Piece, len(files))
	for i, in := range Inputs(files, name) {
		pieces[i].Input = in
	}
	return pieces
}

// WarnHidden warns of the fields of an RNTuple in the file at path that cannot be read, if no
// patterns choose fields. left are those of a file of another kind, of which there were warnings.
func WarnHidden(t *cli.Tool, r *rntuple.Reader, path string, patterns []string, left ...error) {
	if len(patterns) == 0 {
		t.Report.Incomplete = t.Report.Incomplete || len(left) > 0
		for _, h := range r.Schema().Hidden {
			t.Report.Leave("%s: skipping field %q: %w", path, h.Field.Name, h.Err)
		}
	}
}
