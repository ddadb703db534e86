package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

func (t *tool) appendCommand() *cobra.Command {
	m := merging{into: true, level: "copy", maxLevel: "rewrite"}
	cmd := &cobra.Command{
		Use:   "append INTO IN...",
		Short: "Add entries to an RNTuple in its file",
		Long: `append adds the entries of the RNTuples in the files IN to the one in the file INTO,
behind those that it has. If IN is "-", entries are read from standard input, JSON
Lines as cat prints them.

What INTO has stays where it is, and is not even read; pages of IN are copied where
that is right. Readers see the new entries once all are there. The RNTuple gets a
higher cycle, and stays readable as it was under its own.`,
		Example: "  rnt append all.root today.root\n" +
			`  echo '{"run": 7, "pt": [1.5, 2]}' | rnt append all.root -`,
		Args: func(_ *cobra.Command, args []string) error {
			switch len(args) {
			case 0:
				return usageError("which file is to get more entries?")
			case 1:
				return usageError("which entries are to be added?")
			}
			return nil
		},
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch lines := slices.Contains(args[1:], "-"); {
			case lines && len(args) > 2:
				return usageError(`"-" goes without other files`)
			case lines:
				return t.appendLines(cmd, args[0], m)
			}
			return t.merge(cmd, args[0], args[1:], m)
		},
	}
	f := cmd.Flags()
	f.StringVar(&m.mode, "mode", "filter", `"filter", "strict" or "union", as for merge`)
	f.StringVar(&m.name, "name", "", "name of the RNTuples (default the one that a file has)")
	f.StringVar(&m.compression, "compression", "", `"zstd:5", "lz4:4", "zlib:1", "lzma:7" or "none" (default that of INTO)`)
	f.BoolVar(&m.keep, "keep-compression", false, "copy pages whatever their compression")
	f.Int64Var(&m.clusterSize, "cluster-size", 128<<20, "wanted size of clusters that are written anew, in bytes")
	f.BoolVar(&m.convert, "convert", false, "convert values where types differ")
	f.BoolVar(&m.drop, "drop-attributes", false, "do not add attribute sets")
	f.BoolVar(&m.asJSON, "json", false, "print JSON, sizes in bytes")
	return cmd
}

// appendLines adds the entries on standard input.
func (t *tool) appendLines(cmd *cobra.Command, into string, m merging) error {
	if m.clusterSize <= 0 {
		return usageError("--cluster-size must be positive")
	}
	opts := []rntuple.WriteOption{rntuple.WriteContext(cmd.Context()), rntuple.ClusterSize(m.clusterSize)}
	if m.compression != "" {
		c, err := compress.ParseSettings(m.compression)
		if err != nil {
			return usageError("--compression: " + err.Error())
		}
		opts = append(opts, rntuple.Compression(c))
	}
	w, err := rntuple.AppendRecords(into, m.name, opts...)
	if err != nil {
		return err
	}
	before := w.NumEntries()
	if err := t.writeLines(cmd.InOrStdin(), w); err != nil {
		return err
	}
	if m.asJSON {
		return printJSON(t.out, map[string]int64{"added": w.NumEntries() - before, "entries": w.NumEntries()})
	}
	_, err = fmt.Fprintf(t.out, "%s entries added, %s in all\n", count(w.NumEntries()-before), count(w.NumEntries()))
	return err
}
