package edit

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

// hmerging holds the flags of hmerge.
type hmerging struct {
	making
	names, prefixes []string
}

func hmergeCommand(t *cli.Tool) *cobra.Command {
	var h hmerging
	cmd := &cobra.Command{
		Use:   "hmerge OUT IN...",
		Short: "Merge RNTuples horizontally: combine their fields",
		Long: `hmerge combines the fields of all RNTuples in the files IN into one RNTuple in the ROOT
file OUT. All inputs must have the same number of entries. Duplicate names are an error;
--prefix makes them unique.

Pages are copied where the cluster boundaries of the inputs coincide at least every few
clusters; otherwise clusters are rewritten.

OUT appears only when it is complete; after an error there is no new file.`,
		Example: "  rnt hmerge all.root events.root weights.root\n" +
			"  rnt hmerge --prefix ,new_ both.root old.root new.root",
		Args:              cli.OutArgs(cli.AnyNumber),
		ValidArgsFunction: cli.CompleteFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return hmerge(t, cmd, args[0], args[1:], h) },
	}
	h.flags(cmd, "unchanged")
	cli.ForceFlag(cmd, &h.force)
	f := cmd.Flags()
	f.StringSliceVar(&h.names, "name", nil,
		"names of the RNTuples, one per file; the last applies to all remaining files (default the only one in each file)")
	f.StringSliceVar(&h.prefixes, "prefix", nil, "prefixes for the names of fields and attribute sets, one per file")
	cli.CompleteNames(cmd, "name", 1)
	return cmd
}

func hmerge(t *cli.Tool, cmd *cobra.Command, out string, in []string, h hmerging) error {
	common, err := h.options()
	if err != nil {
		return err
	}
	if len(h.prefixes) > len(in) || len(h.names) > len(in) {
		return cli.UsageError("more names or prefixes than files")
	}
	o := &surgery.HMergeOptions{Options: common, Prefix: h.prefixes}
	report, err := makeFrom(cmd.Context(), t, out, h.force, in, "", &o.Options,
		func(inputs []surgery.Input) (*surgery.Report, error) {
			if n := len(h.names); n > 0 {
				for i := range inputs {
					inputs[i].Name = h.names[min(i, n-1)]
				}
			}
			return surgery.HMerge(cmd.Context(), out, inputs, o)
		})
	if err != nil {
		return withNames(err)
	}
	return printMerged(t, out, report, h.asJSON)
}

// withNames returns an error of hmerge, which says how names become different if some occur more
// than once.
func withNames(err error) error {
	var wrong *surgery.IncompatibleError
	if !errors.As(err, &wrong) {
		return err
	}
	same, collections := false, false
	for _, p := range wrong.Problems {
		if p.Clashes {
			same, collections = true, collections || strings.HasPrefix(p.Field, "_collection")
		}
	}
	if same {
		err = fmt.Errorf("%w\nuse --prefix to make names unique: --prefix ,second_", err)
	}
	if collections {
		err = fmt.Errorf("%w; for a TTree, rnt convert --flat writes fields without a _collection", err)
	}
	return err
}
