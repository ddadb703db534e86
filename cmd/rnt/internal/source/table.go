package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/foreign"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/pattern"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// OpenTable opens files that are no RNTuples, the first of which messages call name, and warns of
// what it cannot read.
func OpenTable(ctx context.Context, t *cli.Tool, name string, paths []string,
	o foreign.Options) (foreign.Table, error) {
	bar := t.Report.Bar("entries")
	o.Context, o.Remote, o.Progress = ctx, t.Input.Remote(), bar.Set
	table, err := foreign.Open(paths, o)
	if err != nil {
		return nil, err
	}
	for _, w := range table.Warnings() {
		t.Report.Warn("%s: %w", name, w)
	}
	return barred{table, bar}, nil
}

// barred is a table with a progress bar, which closing it removes.
type barred struct {
	foreign.Table
	bar *cli.Bar
}

func (b barred) Close() error {
	b.bar.Done()
	return b.Table.Close()
}

// FromTable makes a temporary RNTuple of part of files of another kind, the first of which messages
// call name, and opens it. The RNTuple is called as the last element of newName, or as the table if
// that is empty.
func FromTable(ctx context.Context, t *cli.Tool, name string, paths []string, o foreign.Options, newName string,
	p Part) (*Source, error) {
	o.Choose = func(columns []string) ([]string, error) { return mayHold(columns, p.Fields), nil }
	o.First, o.Count, o.Like = int64(p.First), int64(p.Count), p.Like
	table, err := OpenTable(ctx, t, name, paths, o)
	if err != nil {
		return nil, err
	}
	defer table.Close()
	f, place, err := t.Input.Temporary()
	if err != nil {
		return nil, err
	}
	t.Report.Call(place, name)
	w, err := rntuple.NewFile(f, "temporary.root", &rntuple.FileOptions{Context: ctx})
	if err != nil {
		return nil, err
	}
	plain := &rntuple.WriteOptions{Compression: compress.None, NoChecksums: true}
	if _, err := table.Add(w, path.Base(cmp.Or(newName, table.Name(), DefaultName)), plain); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	s, err := FromTemporary(ctx, t, place, name)
	if err != nil {
		return nil, err
	}
	s.Kind, s.Left = o.Kind, table.Warnings()
	return s, nil
}

// DefaultName is what an RNTuple is called that is made of files in which nothing has a name.
const DefaultName = "Events"

// FromTemporary opens the only RNTuple in a temporary file, which messages call name.
func FromTemporary(ctx context.Context, t *cli.Tool, path, name string) (*Source, error) {
	r, err := rntuple.Open(path, "", t.Input.Options(ctx))
	if err != nil {
		return nil, err
	}
	return &Source{Entries: r, Reader: r, Paths: []string{path}, Name: name, Kind: foreign.RNTuple}, nil
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

// ChooseColumns returns the columns that patterns name.
func ChooseColumns(columns, patterns []string) ([]string, error) {
	if len(patterns) == 0 {
		return columns, nil
	}
	var chosen []string
	var errs []error
	seen := map[string]bool{}
	for _, p := range patterns {
		found := false
		for _, name := range columns {
			if matchesColumn(p, name) {
				found = true
				if !seen[name] {
					seen[name], chosen = true, append(chosen, name)
				}
			}
		}
		if !found {
			errs = append(errs, fmt.Errorf("%w %q", schema.ErrNoField, p))
		}
	}
	return chosen, errors.Join(errs...)
}

// matchesColumn reports whether a pattern names a column at the top.
func matchesColumn(p, name string) bool {
	return pattern.Match(p, &schema.Field{Field: envelope.Field{Name: name}})
}
