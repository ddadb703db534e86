package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/foreign"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
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
	first, count entries
	like         *schema.Document // see foreign.Options
}

// openSource opens the RNTuples called name in the files that arguments name. Of files of another
// kind it reads the part that is needed.
func (t *tool) openSource(ctx context.Context, args []string, name string, p part) (*source, error) {
	s := &source{name: shown(args[0]), kind: foreign.RNTuple}
	for _, arg := range args {
		path, err := t.inputOf(ctx, arg, false)
		if err != nil {
			return nil, err
		}
		s.paths = append(s.paths, path)
	}
	opts := append(t.reading(), rntuple.Context(ctx))
	var err error
	if s.first, err = rntuple.Open(s.paths[0], name, opts...); err != nil {
		kind, unknown := foreign.Detect(ctx, s.paths[0], name, t.remote.options)
		switch {
		case unknown != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, unknown
		case kind == foreign.RNTuple || unknown != nil:
			return nil, err
		}
		c := conversion{selecting: selecting{fields: p.fields, name: name}, skip: true}
		return t.openTable(ctx, args, s.paths, kind, c, p)
	}
	s.entries = s.first
	if len(args) > 1 {
		if err := s.openChain(piecesOf(inputsOf(s.paths, name)), opts); err != nil {
			s.first.Close()
			return nil, err
		}
	}
	return s, nil
}

// openEntries is openSource for the arguments FILE [NTUPLE].
func (t *tool) openEntries(ctx context.Context, args []string, p part) (*source, error) {
	name := ""
	if len(args) > 1 {
		if name = args[1]; name == "" {
			return nil, usageError("NTUPLE is empty")
		}
	}
	return t.openSource(ctx, args[:1], name, p)
}

// checkName refuses the name of an RNTuple or TTree for a file of a kind that has no names.
func checkName(kind foreign.Kind, name, path string) error {
	if name != "" && kind != foreign.RNTuple && kind != foreign.Tree {
		return usageError(fmt.Sprintf("%s is %s, in which nothing is called %q", path, kind.Title(), name))
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
func (t *tool) leaveOmitted(s *source, chosen []string) {
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
	t.omit(names)
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

// selecting holds the flags of commands that choose entries and fields of a source.
type selecting struct {
	filter
	fields      []string
	name        string
	collections bool
}

// choose returns the entries that meet the condition of the flags, and the paths of their fields.
func (s *selecting) choose(ctx context.Context, t *tool, from *source) (rntuple.Source, []string, error) {
	chosen, err := choose(from.first.Schema(), s.fields)
	if err != nil {
		return nil, nil, from.named(err)
	}
	fields := paths(chosen)
	if len(fields) == 0 {
		t.warnHidden(from.first, from.name, nil, from.left...)
		for _, f := range from.first.Schema().Fields {
			if s.collections || !isProjected(f, from.first.Schema()) {
				fields = append(fields, f.Name)
			}
		}
	}
	entries, err := s.entries(ctx, t, from)
	return entries, fields, err
}

// openTable makes a temporary RNTuple of part of files of another kind, and opens it.
func (t *tool) openTable(ctx context.Context, args, paths []string, kind foreign.Kind, c conversion, p part) (*source, error) {
	c.fields = p.fields
	table, err := t.table(ctx, args, paths, kind, c, func(o *foreign.Options) {
		o.Choose = func(columns []string) ([]string, error) { return mayHold(columns, p.fields), nil }
		o.First, o.Count, o.Like = int64(p.first), int64(p.count), p.like
	})
	if err != nil {
		return nil, err
	}
	defer table.Close()
	f, place, err := t.temporary()
	if err != nil {
		return nil, err
	}
	t.isCopy(place, shown(args[0]))
	plain, err := compress.ParseSettings("none")
	if err != nil {
		return nil, err
	}
	w, err := rntuple.NewFile(f, "temporary.root", rntuple.Compression(plain), rntuple.WriteContext(ctx), rntuple.PageChecksums(false))
	if err != nil {
		return nil, err
	}
	if _, err := table.Add(w, path.Base(c.nameOf(table))); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	r, err := rntuple.Open(place, "", append(t.reading(), rntuple.Context(ctx))...)
	if err != nil {
		return nil, err
	}
	return &source{entries: r, first: r, paths: []string{place}, name: shown(args[0]), kind: kind, left: table.Warnings()}, nil
}

// mayHold returns the columns that hold fields that patterns name, or all if there is a doubt.
func mayHold(columns, patterns []string) []string {
	var some []string
	for _, p := range patterns {
		found := false
		for _, name := range columns {
			if matchesColumn(p, name) || strings.HasPrefix(p, name+".") {
				found = true
				if !slices.Contains(some, name) {
					some = append(some, name)
				}
			}
		}
		if !found {
			return columns
		}
	}
	if len(patterns) == 0 {
		return columns
	}
	return some
}
