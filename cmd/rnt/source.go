package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/foreign"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A source is what a command reads entries from: the RNTuple of one file, or those of several,
// one after the other; or a temporary RNTuple, made of files of another kind.
type source struct {
	entries rntuple.Source
	first   *rntuple.Reader // that of the first file, for the schema
	paths   []string
	chain   *rntuple.Chain // nil if there is one file
	name    string         // of the first file, for messages
	kind    foreign.Kind
	left    []error // what could not be read of a file of another kind, and was warned of

	mu      sync.Mutex
	omitted [][]string // by file that has been opened: its fields that the first one lacks
}

// A part is what of files of other kinds is needed; the zero value stands for the fields alone.
type part struct {
	fields       []string // patterns; all if empty
	first, count cli.Entries
	like         *schema.Document // see foreign.Options
}

// openSource opens the RNTuples called name in the files that arguments name. Of files of another
// kind it reads the part that is needed.
func openSource(ctx context.Context, t *cli.Tool, args []string, name string, p part) (*source, error) {
	s := &source{name: cli.Shown(args[0]), kind: foreign.RNTuple}
	for _, arg := range args {
		path, err := t.Input.File(ctx, arg)
		if err != nil {
			return nil, err
		}
		s.paths = append(s.paths, path)
	}
	opts := t.Input.Options(ctx)
	var err error
	if s.first, err = rntuple.Open(s.paths[0], name, opts...); err != nil {
		kind, unknown := foreign.Detect(ctx, s.paths[0], name, t.Input.Remote())
		switch {
		case unknown != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, unknown
		case kind == foreign.RNTuple || unknown != nil:
			return nil, err
		}
		return fromForeign(ctx, t, s.name, s.paths, foreign.Options{Kind: kind, Name: name, Skip: true}, "", p)
	}
	s.entries = s.first
	if len(args) > 1 {
		if err := s.openChain(piecesOf(s.paths, name), opts); err != nil {
			s.first.Close()
			return nil, err
		}
	}
	return s, nil
}

// openEntries is openSource for the arguments FILE [NTUPLE].
func openEntries(ctx context.Context, t *cli.Tool, args []string, p part) (*source, error) {
	name, err := cli.CheckedName(args)
	if err != nil {
		return nil, err
	}
	return openSource(ctx, t, args[:1], name, p)
}

// checkName refuses the name of an RNTuple or TTree for a file of a kind that has no names.
func checkName(kind foreign.Kind, name, path string) error {
	if name != "" && kind != foreign.RNTuple && kind != foreign.Tree {
		return cli.UsageError(fmt.Sprintf("%s is %s, in which nothing is called %q", path, kind.Title(), name))
	}
	return nil
}

func (s *source) Close() {
	s.first.Close()
	if s.chain != nil {
		s.chain.Close()
	}
}

// openChain makes pieces the entries of the source.
func (s *source) openChain(pieces []surgery.Piece, opts []rntuple.Option) (err error) {
	s.omitted = make([][]string, len(pieces))
	var inputs []rntuple.Input
	for i, p := range pieces {
		inputs = append(inputs, rntuple.Input{Path: p.Path, Name: p.Name, Entries: rntuple.EntryRange{First: p.First, End: p.End}, Check: func(r *rntuple.Reader) error {
			s.compare(i, r)
			if p.Check == nil {
				return nil
			}
			return p.Check(r)
		}})
	}
	if s.chain, err = rntuple.NewChain(inputs, opts...); err == nil {
		s.entries = s.chain
	}
	return err
}

// compare notes which fields of the i-th file the first one lacks.
func (s *source) compare(i int, r *rntuple.Reader) {
	var omitted []string
	for _, f := range r.Schema().TopLevel() {
		if _, err := s.first.Schema().Lookup(f.Name); err != nil {
			omitted = append(omitted, f.Name)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.omitted[i] = omitted
}

// leaveOmitted warns of the fields of other files that the first one lacks, unless flags have chosen fields.
func (s *source) leaveOmitted(t *cli.Reporter, chosen []string) {
	if len(chosen) > 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, name := range slices.Concat(s.omitted...) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	t.Omit(names, false)
}

// named adds the file to an error that does not name it: the first one, whose schema is that of all.
func (s *source) named(err error) error {
	if errors.As(err, new(*rntuple.InputError)) {
		return withPath(err)
	}
	return fmt.Errorf("%s: %w", s.name, err)
}

// numEntries returns the number of entries of all files, or -1 if it is not known yet.
func (s *source) numEntries() int64 {
	if s.chain != nil {
		return -1
	}
	return s.first.NumEntries()
}

// where returns the entries for which all of --where hold.
func (s *source) where(ctx context.Context, t *cli.Reporter, f *filter) (rntuple.Source, error) {
	if len(f.where) == 0 && len(f.define) > 0 {
		return nil, cli.UsageError("--define gives names for --where; rnt slim and rnt convert add fields")
	}
	if _, err := untyped(f.define); err != nil {
		return nil, err
	}
	zones := &zonemap.Use{Off: f.noZones}
	c, err := f.condition(zones)
	if err != nil || c == nil {
		return s.entries, err
	}
	some, err := rntuple.Where(s.entries, c)
	if err != nil {
		return nil, s.named(err)
	}
	warnOfZones(t, zones)
	return some.WithContext(ctx), nil
}

// isProjected reports whether a field is an untyped collection, as those that stand for the arrays
// of a TTree, whose members all have projected fields at the top of the schema.
func isProjected(f *schema.Field, s *schema.Schema) bool {
	if f.Shape != schema.Collection || f.TypeName != "" || f.Source != nil || f.Children[0].Shape != schema.Record {
		return false
	}
	for _, member := range f.Children[0].Children {
		if !slices.ContainsFunc(s.Fields, func(p *schema.Field) bool {
			return p.Source == f && len(p.Children) == 1 && p.Children[0].Source == member
		}) {
			return false
		}
	}
	return true
}
