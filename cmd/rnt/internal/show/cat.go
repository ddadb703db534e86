package show

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/foreign"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/selection"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/source"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/terminal"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// printing holds the flags that say which part of an RNTuple to print.
type printing struct {
	selection.Filter
	fields       []string // patterns; all if empty
	first, count cli.Entries
}

func catCommand(t *cli.Tool) *cobra.Command {
	sel := printing{count: cli.All}
	cmd := &cobra.Command{
		Use:   "cat FILE [NTUPLE]",
		Short: "Print entries as JSON Lines",
		Long: `cat prints entries as JSON, one object per line. TTrees and Parquet, Arrow and CSV files
are printed as the RNTuple that convert would write. The members are the top-level
fields in the order of the schema, or the fields selected by --fields in that order.

Integers are exact; floats use the shortest representation that reads back to the same
value; negative zero is -0.0. Non-finite floats are the strings "NaN", "Infinity" and
"-Infinity". Characters, bytes and enums are integers. Bytes of strings that are not
valid UTF-8 become the lone surrogates \udc80 to \udcff with the byte in the low half.
Maps are objects if their keys are unique strings, otherwise arrays of [key,value];
pairs and tuples are arrays; bitsets are strings of 0 and 1, highest bit first.
Optionals, pointers and variants are their value, or null. In variants, floats have a
point or an exponent, 3.0, to distinguish them from integers.`,
		Example: "  rnt cat data.root --fields 'run,Muon_*' --first 1000 --count 10\n" +
			"  rnt cat data.root --where 'nMuon == 2' --count 10\n" +
			"  rnt cat data.root Events --fields event.vertex.x | jq .",
		Args:              cli.FileArgs(2),
		ValidArgsFunction: cli.CompleteArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cat(t, cmd, args, sel)
		},
	}
	sel.fieldsFlag(cmd)
	sel.Flags(cmd)
	cmd.Flags().Var(&sel.first, "first", "start with entry N, counted from 0, of those selected by --where")
	cmd.Flags().Var(&sel.count, "count", "number of entries to print (default all)")
	return cmd
}

func headCommand(t *cli.Tool) *cobra.Command {
	sel := printing{count: 10}
	cmd := &cobra.Command{
		Use:               "head FILE [NTUPLE]",
		Short:             "Print the first entries as JSON Lines",
		Long:              "head prints the first entries in the format of cat. -5 is short for -n 5.",
		Example:           "  rnt head -5 data.root",
		Args:              cli.FileArgs(2),
		ValidArgsFunction: cli.CompleteArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cat(t, cmd, args, sel)
		},
	}
	sel.fieldsFlag(cmd)
	sel.Flags(cmd)
	cmd.Flags().VarP(&sel.count, "count", "n", "number of entries to print")
	return cmd
}

func (s *printing) fieldsFlag(cmd *cobra.Command) {
	selection.FieldsFlag(cmd, &s.fields, "fields to print", 0)
}

func cat(t *cli.Tool, cmd *cobra.Command, args []string, sel printing) error {
	if err := selection.CheckFields(cmd, sel.fields); err != nil {
		return err
	}
	ctx := cmd.Context()
	need := source.Part{Count: cli.All}
	if len(sel.Where) == 0 { // which may need other fields and entries
		need = source.Part{Fields: sel.fields, First: sel.first, Count: sel.count}
		if need.First > 0 { // the entry before tells whether the first one is beyond the end
			need.First, need.Count = need.First-1, min(need.Count, cli.All-1)+1
		}
	}
	from, err := source.OpenArgs(ctx, t, args, need)
	if err != nil {
		return err
	}
	defer from.Close()
	if err := source.CheckName(from.Kind, cli.NameOf(args), from.Name); err != nil {
		return err
	}
	source.WarnHidden(t, from.Reader, from.Name, sel.fields, from.Left...)
	entries, err := from.Where(ctx, t.Report, &sel.Filter)
	if err != nil {
		return err
	}
	view, err := viewOf(entries, from.Reader.Schema(), from.Name, sel.fields)
	if err != nil {
		return err
	}
	first, n := int64(sel.first), entries.(interface{ NumEntries() int64 }).NumEntries()
	there := fmt.Sprintf(": there are %d entries", n)
	if from.Kind != foreign.RNTuple && need.First > 0 { // the others were not read
		first, there = first-int64(need.First), ""
	}
	if first > n {
		return fmt.Errorf("%s: no entry %d to start with%s", from.Name, sel.first, there)
	}
	return printEntries(ctx, t, from.Name, view, first, first+min(int64(sel.count), n-first))
}

// viewOf returns a view of the fields that match patterns, or of all that can be read,
// in entries of an RNTuple in the file at path.
func viewOf(entries rntuple.Source, s *schema.Schema, path string,
	patterns []string) (*rntuple.View[value.Record], error) {
	chosen, err := selection.Choose(s, patterns)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	view, err := rntuple.RecordsOf(entries, selection.Paths(chosen)...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return view, nil
}

// A batch has about as many entries as make wantText bytes of text.
const (
	firstBatch = 16
	maxBatch   = 1 << 14
	wantText   = 1 << 20
)

// printEntries prints the entries from first up to but not including end of an
// RNTuple in the file at path.
func printEntries(ctx context.Context, t *cli.Tool, path string, view *rntuple.View[value.Record],
	first, end int64) error {
	bar := t.Report.Bar("entries")
	defer bar.Done()
	batch := make([]value.Record, firstBatch)
	var text []byte
	for at := first; at < end; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := view.Read(batch[:min(int64(len(batch)), end-at)], at)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		size := 0
		for _, entry := range batch[:n] {
			text = append(value.AppendJSON(text[:0], entry), '\n')
			size += len(text)
			if _, err := t.Out.Write(text); err != nil {
				return err
			}
		}
		at += int64(n)
		if !terminal.Is(t.Stdout) { // where the entries themselves show progress
			bar.Set(at-first, end-first)
		}
		switch {
		case size > 2*wantText && len(batch) > 1:
			batch = make([]value.Record, len(batch)/2)
		case size < wantText/2 && len(batch) < maxBatch:
			batch = make([]value.Record, len(batch)*2)
		}
	}
	return nil
}
