package main

import (
	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/surgery"
)

// hmerging is how to merge side by side.
type hmerging struct {
	names, prefixes []string
	compression     string
	clusterSize     int64
	drop, asJSON    bool
}

func (t *tool) hmergeCommand() *cobra.Command {
	var h hmerging
	cmd := &cobra.Command{
		Use:   "hmerge OUT IN...",
		Short: "Put the fields of RNTuples side by side",
		Long: `hmerge makes a ROOT file OUT with one RNTuple, which has the fields of those in the
files IN. They must have the same number of entries. Names that several have are an
error, which lists them all; --prefix makes them different.

Pages are copied where clusters end at the same entries, or do so after a few
clusters. Else clusters are rewritten.

OUT comes into being as a whole: if anything is wrong, a file that was there stays.`,
		Example: "  rnt hmerge all.root events.root weights.root\n" +
			"  rnt hmerge --prefix ,new_ both.root old.root new.root",
		Args:              outAndInputs("put side by side"),
		ValidArgsFunction: completeFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return t.hmerge(cmd, args[0], args[1:], h) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&h.names, "name", nil, "names of the RNTuples, by file; the last one is that of all others, too (default the one that a file has)")
	f.StringSliceVar(&h.prefixes, "prefix", nil, "prefixes of the names of fields and attribute sets, by file")
	f.StringVar(&h.compression, "compression", "", `"zstd:5", "lz4:4", "zlib:1", "lzma:7" or "none" (default as it is)`)
	f.Int64Var(&h.clusterSize, "cluster-size", 128<<20, "wanted size of clusters that are rewritten, in bytes")
	f.BoolVar(&h.drop, "drop-attributes", false, "leave attribute sets behind")
	f.BoolVar(&h.asJSON, "json", false, "print JSON, sizes in bytes")
	return cmd
}

// outAndInputs checks the arguments OUT IN....
func outAndInputs(done string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return usageError("which file is to be made?")
		case 1:
			return usageError("which files are to be " + done + "?")
		}
		return nil
	}
}

// completeFiles completes the names of ROOT files.
func completeFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"root"}, cobra.ShellCompDirectiveFilterFileExt
}

func (t *tool) hmerge(cmd *cobra.Command, out string, in []string, h hmerging) error {
	opts, err := compressionOption(h.compression)
	if err != nil {
		return err
	}
	if h.clusterSize <= 0 {
		return usageError("--cluster-size must be positive")
	}
	if len(h.prefixes) > len(in) || len(h.names) > len(in) {
		return usageError("there are more names or prefixes than files")
	}
	opts = append(opts, surgery.Prefix(h.prefixes...), surgery.Write(rntuple.ClusterSize(h.clusterSize)))
	if h.drop {
		opts = append(opts, surgery.DropAttributes())
	}
	inputs := make([]surgery.Input, len(in))
	for i, path := range in {
		inputs[i].Path = path
		if n := len(h.names); n > 0 {
			inputs[i].Name = h.names[min(i, n-1)]
		}
	}
	return t.operate(out, h.asJSON, func(progress surgery.Option) (*surgery.Report, error) {
		return surgery.HMerge(cmd.Context(), out, inputs, append(opts, progress)...)
	})
}
