package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/foreign"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/selection"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Source is what a command reads entries from: the RNTuple of one file, or those of several,
// one after the other; or a temporary RNTuple, made of files of another kind.
type Source struct {
	Entries rntuple.Source
	Reader  *rntuple.Reader // that of the first file, for the schema
	Paths   []string
	chain   *rntuple.Chain // nil if there is one file
	Name    string         // of the first file, for messages
	Kind    foreign.Kind
	Left    []error // what could not be read of a file of another kind, and was warned of

	mu      sync.Mutex
	omitted [][]string // by file that has been opened: its fields that the first one lacks
}

// A Part is what of files of other kinds is needed; the zero value stands for the fields alone.
type Part struct {
	Fields       []string // patterns; all if empty
	First, Count cli.Entries
	Like         *schema.Document // see foreign.Options
}

// Open opens the RNTuples called name in the files that arguments name. Of files of another
// kind it reads the part that is needed.
func Open(ctx context.Context, t *cli.Tool, args []string, name string, p Part) (*Source, error) {
	paths, err := t.Input.Files(ctx, args)
	if err != nil {
		return nil, err
	}
	s := &Source{Paths: paths, Name: cli.Shown(args[0]), Kind: foreign.RNTuple}
	if s.Reader, err = rntuple.Open(paths[0], name, t.Input.Options(ctx)); err != nil {
		kind, unknown := foreign.Detect(ctx, paths[0], name, t.Input.Remote())
		switch {
		case unknown != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, unknown
		case kind == foreign.RNTuple || unknown != nil:
			return nil, err
		}
		return FromTable(ctx, t, s.Name, paths, foreign.Options{Kind: kind, Name: name, Skip: true}, "", p)
	}
	s.Entries = s.Reader
	if len(args) > 1 {
		if err := s.OpenChain(ctx, t, Pieces(paths, name)); err != nil {
			s.Reader.Close()
			return nil, err
		}
	}
	return s, nil
}

// OpenArgs is Open for the arguments FILE [NTUPLE].
func OpenArgs(ctx context.Context, t *cli.Tool, args []string, p Part) (*Source, error) {
	name, err := cli.CheckedName(args)
	if err != nil {
		return nil, err
	}
	return Open(ctx, t, args[:1], name, p)
}

// CheckName refuses the name of an RNTuple or TTree for a file of a kind that has no names.
func CheckName(kind foreign.Kind, name, path string) error {
	if name != "" && kind != foreign.RNTuple && kind != foreign.Tree {
		return cli.UsageError(fmt.Sprintf("%s is %s, which contains nothing named %q", path, kind.Title(), name))
	}
	return nil
}

// Close closes the files.
func (s *Source) Close() {
	s.Reader.Close()
	if s.chain != nil {
		s.chain.Close()
	}
}

// OpenChain makes pieces the entries of the source.
func (s *Source) OpenChain(ctx context.Context, t *cli.Tool, pieces []surgery.Piece) (err error) {
	s.omitted = make([][]string, len(pieces))
	var inputs []rntuple.Input
	for i, p := range pieces {
		inputs = append(inputs, rntuple.Input{Path: p.Path, Name: p.Name,
			Entries: rntuple.EntryRange{First: p.First, End: p.End}, Check: func(r *rntuple.Reader) error {
				s.compare(i, r)
				if p.Check == nil {
					return nil
				}
				return p.Check(r)
			}})
	}
	if s.chain, err = rntuple.NewChain(inputs, t.Input.Options(ctx)); err == nil {
		s.Entries = s.chain
	}
	return err
}

// compare notes which fields of the i-th file the first one lacks.
func (s *Source) compare(i int, r *rntuple.Reader) {
	var omitted []string
	for _, f := range r.Schema().TopLevel() {
		if _, err := s.Reader.Schema().Lookup(f.Name); err != nil {
			omitted = append(omitted, f.Name)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.omitted[i] = omitted
}

// LeaveOmitted warns of the fields of other files that the first one lacks, unless flags have
// chosen fields.
func (s *Source) LeaveOmitted(t *cli.Reporter, chosen []string) {
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

// Named adds the file to an error that does not name it: the first one, whose schema is that of
// all.
func (s *Source) Named(err error) error {
	if errors.As(err, new(*rntuple.InputError)) {
		return WithPath(err)
	}
	return fmt.Errorf("%s: %w", s.Name, err)
}

// NumEntries returns the number of entries of all files, or -1 if it is not known yet.
func (s *Source) NumEntries() int64 {
	if s.chain != nil {
		return -1
	}
	return s.Reader.NumEntries()
}

// Where returns the entries for which all of --where hold.
func (s *Source) Where(ctx context.Context, t *cli.Reporter, f *selection.Filter) (rntuple.Source, error) {
	if len(f.Where) == 0 && len(f.Define) > 0 {
		return nil, cli.UsageError("--define requires --where; to add fields, use rnt slim or rnt convert")
	}
	if _, err := selection.Untyped(f.Define); err != nil {
		return nil, err
	}
	zones := &rntuple.ZoneUse{Off: f.NoZones}
	c, err := f.Condition(zones)
	if err != nil || c == nil {
		return s.Entries, err
	}
	some, err := rntuple.Where(s.Entries, c, nil)
	if err != nil {
		return nil, s.Named(err)
	}
	selection.WarnOfZones(t, zones)
	return some.WithContext(ctx), nil
}

// IsProjected reports whether a field is an untyped collection, as those that stand for the arrays
// of a TTree, whose members all have projected fields at the top of the schema.
func IsProjected(f *schema.Field, s *schema.Schema) bool {
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
