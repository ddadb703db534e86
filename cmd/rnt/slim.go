package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/surgery"
)

// cutting is how to cut: what slim, skim, concat and split have in common.
type cutting struct {
	keep, drop        []string
	name, compression string
	clusterSize       int64
	dropSets, asJSON  bool
}

// flags adds the flags to a command; keep is what the one for fields is called.
func (c *cutting) flags(cmd *cobra.Command, keep string) {
	f := cmd.Flags()
	f.StringSliceVar(&c.keep, keep, nil, "fields to keep: paths, with * and ? (default all)")
	f.StringSliceVar(&c.drop, "drop", nil, "fields to leave out")
	f.StringVar(&c.compression, "compression", "", `"zstd:5", "lz4:4", "zlib:1", "lzma:7" or "none" (default as it is)`)
	f.Int64Var(&c.clusterSize, "cluster-size", 128<<20, "wanted size of clusters that are rewritten, in bytes")
	f.BoolVar(&c.dropSets, "drop-attributes", false, "leave attribute sets behind")
	f.BoolVar(&c.asJSON, "json", false, "print JSON, sizes in bytes")
}

// cutting returns the options of package surgery. They have a bar show progress,
// until done is called.
func (t *tool) cutting(c *cutting) (opts []surgery.Option, done func(), err error) {
	if c.clusterSize <= 0 {
		return nil, nil, usageError("--cluster-size must be positive")
	}
	opts, err = compressionOption(c.compression)
	if err != nil {
		return nil, nil, err
	}
	opts = append(opts, surgery.Keep(c.keep...), surgery.Drop(c.drop...), surgery.Write(rntuple.ClusterSize(c.clusterSize)))
	if c.dropSets {
		opts = append(opts, surgery.DropAttributes())
	}
	var bar bar
	opts = append(opts, surgery.Progress(func(done, total int64) {
		if bar.b == nil {
			bar = t.progress("bytes", total)
		}
		bar.set(done)
	}))
	return opts, func() { bar.done() }, nil
}

// printCut prints what was done.
func (t *tool) printCut(out string, r *surgery.Report, asJSON bool) error {
	if asJSON {
		return printJSON(t.out, cutOf(r))
	}
	for _, f := range r.Dropped {
		fmt.Fprintf(t.stderr, "rnt: field %q is dropped: it is a view on one that is\n", f)
	}
	fmt.Fprintf(t.out, "%s: %s of %s entries\n\n", filepath.Base(out), count(r.Entries), count(r.InputEntries))
	levels := newTable("LEVEL", ">PAGES", ">BYTES")
	for _, l := range reportOf(r).Levels {
		levels.row(l.Level, count(l.Pages), size(l.Bytes))
	}
	return levels.print(t.out)
}

// cutJSON is a report as JSON.
type cutJSON struct {
	reportJSON
	InputEntries int64    `json:"input_entries"`
	Dropped      []string `json:"dropped"` // views whose sources were dropped
}

func cutOf(r *surgery.Report) cutJSON {
	return cutJSON{reportOf(r), r.InputEntries, append([]string{}, r.Dropped...)}
}

func (t *tool) slimCommand() *cobra.Command {
	var c cutting
	cmd := &cobra.Command{
		Use:   "slim OUT IN [NTUPLE]",
		Short: "Keep or drop fields",
		Long: `slim makes a ROOT file OUT with some fields of the RNTuple in the file IN. Its pages
are copied as they are stored; entries, clusters and attribute sets stay the same.

Fields are named by their paths, in which * stands for any letters but a dot, ? for
one and [a-z] for some: "Muon_*", "event.vertex.*". With --keep, those that match are
kept with all that is below them; those that match --drop are left out in any case.
Members can be chosen of untyped records only: a class without one of its members
would not be that class. What a kept field is a view on is kept, too; views on what
is dropped are dropped.`,
		Example: "  rnt slim --keep 'Muon_*,run,event' muons.root events.root\n" +
			"  rnt slim --drop 'HLT_*' small.root events.root Events",
		Args:              outIn(3),
		ValidArgsFunction: completeOutIn,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(c.keep)+len(c.drop) == 0 {
				return usageError("which fields? There are --keep and --drop")
			}
			opts, done, err := t.cutting(&c)
			if err != nil {
				return err
			}
			in := surgery.Input{Path: args[1]}
			if len(args) > 2 {
				in.Name = args[2]
			}
			report, err := surgery.Slim(cmd.Context(), args[0], in, opts...)
			done()
			if err != nil {
				return err
			}
			return t.printCut(args[0], report, c.asJSON)
		},
	}
	c.flags(cmd, "keep")
	return cmd
}

// outIn checks the arguments OUT IN and more, limit in all.
func outIn(limit int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return usageError("which file is to be made?")
		case 1:
			return usageError("of which file?")
		}
		return fileArgs(limit)(cmd, args)
	}
}

// completeOutIn completes OUT IN [NTUPLE] in the shell.
func completeOutIn(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) < 2 {
		return []string{"root"}, cobra.ShellCompDirectiveFilterFileExt
	}
	return completeArgs(2)(cmd, args[1:], word)
}
