package convert

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/selection"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/source"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/terminal"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// streaming holds the flags of arrow.
type streaming struct {
	selecting
	first, count cli.Entries
	batch, lists int
	binary       bool
	structs      bool
	pairs        bool
}

func arrowCommand(t *cli.Tool) *cobra.Command {
	s := streaming{count: cli.All}
	cmd := &cobra.Command{
		Use:   "arrow FILE...",
		Short: "Write entries as an Arrow stream",
		Long: `arrow writes the entries of the RNTuples in the files, one file after the other, to
standard output as an Arrow IPC stream, which pyarrow, Polars, DuckDB and others read
without copying. It has the fields of the first file; see "rnt convert --help".

Vectors and strings become large lists and large strings, with 64-bit offsets; use
--lists 32 for programs that do not support them. Optionals become nullable values.
Variants become dense unions, or with --structs structs with one nullable member per
alternative. Maps become maps, or with --pairs lists of structs.

After an error the stream ends in the middle of a message, so that its reader fails,
too.`,
		Example: "  rnt arrow data.root --fields 'run,Muon_*' > events.arrows\n" +
			"  python -c 'import pyarrow.ipc, sys; print(pyarrow.ipc.open_stream(sys.stdin.buffer).read_all())' < events.arrows",
		Args:              cli.FileArgs(cli.AnyNumber),
		ValidArgsFunction: cli.CompleteFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := selection.CheckFields(cmd, s.fields); err != nil {
				return err
			}
			return arrow(cmd.Context(), t, args, s)
		},
	}
	s.selecting.flags(cmd)
	selection.DefineFlag(cmd, &s.Define, "define a name for use in --where, `NAME=EXPR`; may be repeated")
	f := cmd.Flags()
	f.Var(&s.first, "first",
		"start with entry N, counted from 0, of those selected by --where; beyond the last one, the stream is empty")
	f.Var(&s.count, "count", "number of entries to write (default all)")
	f.IntVar(&s.batch, "batch-size", 1<<16, "maximum number of entries per record batch")
	f.IntVar(&s.lists, "lists", 64, "width of the offsets of lists and strings in `BITS`: 64 or 32")
	f.BoolVar(&s.binary, "binary", false, "write strings as binary; they need not be UTF-8")
	f.BoolVar(&s.structs, "structs", false, "write variants as structs")
	f.BoolVar(&s.pairs, "pairs", false, "write maps as lists of structs")
	return cmd
}

func arrow(ctx context.Context, t *cli.Tool, args []string, s streaming) error {
	switch {
	case terminal.Is(t.Stdout):
		return cli.UsageError("refusing to write an Arrow stream to a terminal")
	case s.lists != 32 && s.lists != 64:
		return cli.UsageError("--lists must be 64 or 32")
	case s.batch <= 0:
		return cli.UsageError("--batch-size must be positive")
	}
	need := source.Part{Count: cli.All}
	if len(s.Where) == 0 {
		need.Fields = s.fields
	}
	from, err := source.Open(ctx, t, args, s.name, need)
	if err != nil {
		return err
	}
	defer from.Close()
	chosen, fields, err := s.choose(ctx, t, from)
	if err != nil {
		return err
	}
	o := rntarrow.Options{Fields: fields, BatchSize: s.batch, Lists32: s.lists == 32, Binary: s.binary, Structs: s.structs,
		Reuse: true, Pairs: s.pairs}
	end := int64(s.first) + min(int64(s.count), int64(cli.All-s.first))
	r, err := rntarrow.NewRangeReader(chosen, rntuple.EntryRange{First: int64(s.first), End: end}, &o)
	if err != nil {
		return from.Named(err)
	}
	defer r.Release()
	bar := t.Report.Bar("entries")
	defer bar.Done()
	total := from.NumEntries()
	if _, err := rntarrow.WriteStream(t.Out, r, func(done int64) { bar.Set(done, total) }); err != nil {
		return from.Named(err)
	}
	from.LeaveOmitted(t.Report, s.fields)
	return nil
}
