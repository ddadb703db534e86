package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow"
)

// streaming holds the flags of arrow.
type streaming struct {
	selecting
	first, count entries
	batch, lists int
	binary       bool
	structs      bool
	pairs        bool
}

func (t *tool) arrowCommand() *cobra.Command {
	s := streaming{count: all}
	cmd := &cobra.Command{
		Use:   "arrow FILE...",
		Short: "Write entries as an Arrow stream",
		Long: `arrow writes the entries of the RNTuples in the files, one after the other, to
standard output as a stream of Arrow's IPC format, which pyarrow, Polars, DuckDB and
others read without a copy. It has the fields of the first file, as "rnt convert --help"
says.

Vectors and strings are large lists and large strings, with 64-bit offsets; --lists 32
is for programs that know no others. Optionals are nullable values, variants dense
unions, or with --structs structs with a nullable member for each alternative; maps are
maps, or with --pairs lists of structs.

After an error the stream ends within a message, so that its reader fails, too.`,
		Example: "  rnt arrow data.root --fields 'run,Muon_*' > events.arrows\n" +
			"  python -c 'import pyarrow.ipc, sys; print(pyarrow.ipc.open_stream(sys.stdin.buffer).read_all())' < events.arrows",
		Args:              fileArgs(anyNumber),
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFields(cmd, s.fields); err != nil {
				return err
			}
			return t.arrow(cmd.Context(), args, s)
		},
	}
	s.selecting.flags(cmd)
	defineFlag(cmd, &s.define, "a name for an expression that --where uses, `NAME=EXPR`; may be given again")
	f := cmd.Flags()
	f.Var(&s.first, "first", "start with entry N, counted from 0, of those that --where chooses; beyond the last one, the stream has no entries")
	f.Var(&s.count, "count", "write N entries (default all)")
	f.IntVar(&s.batch, "batch-size", 1<<16, "the most entries of a record batch")
	f.IntVar(&s.lists, "lists", 64, "`BITS` of the offsets of lists and strings: 64 or 32")
	f.BoolVar(&s.binary, "binary", false, "make binaries of strings, which need not be UTF-8")
	f.BoolVar(&s.structs, "structs", false, "make structs of variants")
	f.BoolVar(&s.pairs, "pairs", false, "make lists of structs of maps")
	return cmd
}

// flags adds the flags.
func (s *selecting) flags(cmd *cobra.Command) {
	fieldsFlag(cmd, &s.fields, "fields to read")
	completeFields(cmd, "fields", 0)
	f := cmd.Flags()
	s.whereFlags(cmd)
	f.BoolVar(&s.collections, "collections", false, "with all fields, also untyped collections whose members have projected fields")
	f.StringVar(&s.name, "name", "", "name of the RNTuples (default the only one of each file)")
	completeNames(cmd, "name", 0)
}

func (t *tool) arrow(ctx context.Context, args []string, s streaming) error {
	switch {
	case isTerminal(t.stdout):
		return usageError("standard output is a terminal, and an Arrow stream no text")
	case s.lists != 32 && s.lists != 64:
		return usageError("--lists must be 64 or 32")
	case s.batch <= 0:
		return usageError("--batch-size must be positive")
	}
	need := part{count: all}
	if len(s.where) == 0 {
		need.fields = s.fields
	}
	from, err := t.openSource(ctx, args, s.name, need)
	if err != nil {
		return err
	}
	defer from.Close()
	source, fields, err := s.choose(ctx, t, from)
	if err != nil {
		return err
	}
	o := rntarrow.Options{Fields: fields, BatchSize: s.batch, Lists32: s.lists == 32, Binary: s.binary, Structs: s.structs, Reuse: true, Pairs: s.pairs}
	end := int64(s.first) + min(int64(s.count), int64(all-s.first))
	r, err := rntarrow.NewRangeReader(source, int64(s.first), end, o)
	if err != nil {
		return from.named(err)
	}
	defer r.Release()
	bar := t.bar("entries")
	defer bar.done()
	total := from.numEntries()
	if _, err := rntarrow.WriteStream(t.out, r, func(done int64) { bar.setOf(done, total) }); err != nil {
		return from.named(err)
	}
	t.leaveOmitted(from, s.fields)
	return nil
}
