package edit

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/operation"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/source"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/units"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

// merging holds the flags of merge.
type merging struct {
	making
	mode, level, maxLevel, plan    string
	join                           int64
	all, into, convert, keep, fast bool
	skipBad                        bool
	filtering                      bool // the flag --mode is given
}

func mergeCommand(t *cli.Tool) *cobra.Command {
	var m merging
	cmd := &cobra.Command{
		Use:   "merge OUT IN...",
		Short: "Merge the entries of RNTuples",
		Long: `merge writes the entries of the RNTuples in the files IN, in the given order, to the
ROOT file OUT. The schema is that of the first input. Additional fields of other inputs
are dropped with a warning (--mode filter), are an error (strict) or are added (union);
with union, an input may also lack fields, which are then zero. Without --mode,
additional fields are dropped and the exit status is 3.

One RNTuple per file is merged; other objects are listed in a warning. --all merges all
RNTuples, with their directories, as hadd does; the exit status is 3 if a file has none.

Where possible, pages are cloned (OUT shares disk blocks with IN, if the file system
supports it) or else copied as stored. The higher levels are "recompress", "reseal",
which also re-encodes, and "rewrite", which writes new clusters and pages; --level sets
the minimum for every page.

OUT appears only when it is complete; after an error there is no new file. With --into,
OUT is an existing RNTuple and the first input; its entries are not moved.

With --plan, IN is the folder with the outputs of jobs; see "rnt plan --help". It must
contain exactly one complete output per unit of this plan, all made by the same command.
Otherwise merge prints the numbers of the missing units: 3,7,8.

` + source.SkipBadHelp,
		Example: "  rnt merge all.root run1.root run2.root\n" +
			"  rnt merge --level rewrite --cluster-size 100000000 few.root many/*.root",
		Args:              cli.OutArgs(cli.AnyNumber),
		ValidArgsFunction: cli.CompleteFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return merge(t, cmd, args[0], args[1:], m) },
	}
	m.flags(cmd, "that of the first input")
	m.modeFlag(cmd)
	m.WaitFlag(cmd)
	cli.ForceFlag(cmd, &m.force)
	source.SkipBadFlag(cmd, &m.skipBad)
	f := cmd.Flags()
	f.StringVar(&m.level, "level", "clone", `minimum level: "clone", "copy", "recompress", "reseal" or "rewrite"`)
	f.StringVar(&m.maxLevel, "max-level", "rewrite", "maximum level; fail if pages need a higher one")
	f.Int64Var(&m.join, "join-clusters", 0, "combine clusters with fewer bytes on disk into larger ones")
	f.BoolVar(&m.fast, "no-verify", false, "do not verify checksums of pages that are cloned or copied")
	f.BoolVar(&m.into, "into", false, "append to the RNTuple in OUT")
	f.StringVar(&m.plan, "plan", "",
		"merge the outputs of the plan `FILE`, in its order; IN is the folder with the outputs")
	f.BoolVar(&m.all, "all", false, "merge all RNTuples of the files, by name")
	for _, level := range []string{"level", "max-level"} {
		cli.CompleteValues(cmd, level, "clone", "copy", "recompress", "reseal", "rewrite")
	}
	return cmd
}

// modeFlag adds the flags that say which inputs are compatible.
func (m *merging) modeFlag(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&m.mode, "mode", "filter", `"filter", "strict" or "union"`)
	f.BoolVar(&m.convert, "convert", false, "convert values if types differ")
	f.BoolVar(&m.keep, "keep-compression", false, "copy pages regardless of their compression")
	cli.CompleteValues(cmd, "mode", "filter\tthe fields of the first input", "strict\tthe same fields everywhere",
		"union\tthe fields of all inputs")
	cli.NameFlag(cmd, &m.name, 1)
}

// options returns the options of package surgery.
func (m *merging) options() (*surgery.MergeOptions, error) {
	mode, err := surgery.ParseMode(m.mode)
	if err != nil {
		return nil, cli.UsageError("--mode: " + err.Error())
	}
	least, err := surgery.ParseLevel(m.level)
	if err != nil {
		return nil, cli.UsageError("--level: " + err.Error())
	}
	most, err := surgery.ParseLevel(m.maxLevel)
	if err != nil {
		return nil, cli.UsageError("--max-level: " + err.Error())
	}
	o := &surgery.MergeOptions{Mode: mode, ConvertTypes: m.convert}
	if o.Options, err = m.making.options(); err != nil {
		return nil, err
	}
	o.AtLeast, o.AtMost, o.JoinClusters, o.KeepCompression = least, &most, m.join, m.keep
	o.Read.SkipChecksums = m.fast
	return o, nil
}

func merge(t *cli.Tool, cmd *cobra.Command, out string, in []string, m merging) error {
	if m.all && (m.into || m.name != "") {
		return cli.UsageError("--all cannot be combined with --name or --into")
	}
	if m.plan != "" && (m.all || m.into || m.name != "" || len(in) != 1) {
		return cli.UsageError("--plan requires the arguments OUT and FOLDER, and excludes --all, --into and --name")
	}
	if m.into && m.force {
		return cli.UsageError("--into replaces no file; omit --force")
	}
	if m.skipBad && (m.into || m.plan != "") {
		return cli.UsageError("--skip-bad cannot be combined with --into or --plan")
	}
	opts, err := m.options()
	if err != nil {
		return err
	}
	m.filtering = cmd.Flags().Changed("mode")
	if m.plan != "" {
		files, identity, err := units.RNTuples(t, cmd, m.plan, in[0], m.fast)
		if err != nil {
			return err
		}
		in = files
		identity(&opts.Write.File)
	}
	paths, err := t.Input.Roots(cmd.Context(), in)
	if err != nil {
		return err
	}
	if m.into {
		report, err := mergeInto(t, cmd, surgery.Input{Path: out, Name: m.name}, paths, opts, m)
		if err != nil {
			return operation.Lacking(err, operation.AdviseUnion)
		}
		return printMerged(t, out, report, m.asJSON)
	}
	if err := t.Output.Begin(cmd.Context(), out, m.force, paths...); err != nil {
		return err
	}
	bad := source.BadFiles{Skip: m.skipBad, Out: out, Force: m.force, Name: m.name}
	if m.all {
		bad.Open = func(path string) error {
			_, err := rntuple.ListFile(cmd.Context(), path, new(t.Input.Remote()))
			return err
		}
	}
	return bad.Without(cmd.Context(), t, paths, func(files []string) error {
		if m.all {
			return mergeAll(t, cmd, out, files, m, opts, bad.Skipped)
		}
		report, err := operation.Run(cmd.Context(), t, m.filtering, &opts.Options, func() (*surgery.Report, error) {
			return surgery.Merge(cmd.Context(), out, source.Inputs(files, m.name), opts)
		})
		if err != nil {
			return operation.Lacking(err, operation.AdviseUnion)
		}
		return printMerged(t, out, report, m.asJSON, bad.Skipped...)
	})
}

// mergeInto adds the entries of the RNTuples in files to one in its file.
func mergeInto(t *cli.Tool, cmd *cobra.Command, into surgery.Input, files []string, opts *surgery.MergeOptions,
	m merging) (*surgery.Report, error) {
	if err := cli.CheckNotInput(into.Path, files...); err != nil {
		return nil, err
	}
	t.Output.Update(into.Path)
	return operation.Run(cmd.Context(), t, m.filtering, &opts.Options, func() (*surgery.Report, error) {
		return surgery.MergeInto(cmd.Context(), into, source.Inputs(files, m.name), opts)
	})
}

// mergeAll merges all RNTuples of files into the file out.
func mergeAll(t *cli.Tool, cmd *cobra.Command, out string, files []string, m merging, opts *surgery.MergeOptions,
	skipped []source.BadFile) error {
	var merged []surgery.Merged
	if _, err := operation.Run(cmd.Context(), t, m.filtering, &opts.Options, func() (_ *surgery.Report, err error) {
		merged, err = surgery.MergeAll(cmd.Context(), out, files, opts)
		if err != nil {
			return nil, err
		}
		return merged[0].Report, nil // what is left behind is the same for all
	}); err != nil {
		return operation.Lacking(err, operation.AdviseUnion)
	}
	if m.asJSON {
		list := []mergedJSON{}
		for _, one := range merged {
			list = append(list, mergedJSON{one.Name, reportOf(one.Report, skipped)})
		}
		return text.JSON(t.Out, list)
	}
	for i, one := range merged {
		if i > 0 && !t.Report.Quiet {
			fmt.Fprintln(t.Out)
		}
		if err := printMerged(t, out+":"+one.Name, one.Report, false); err != nil {
			return err
		}
	}
	return nil
}

// mergedJSON is one of several RNTuples that were merged, as JSON.
type mergedJSON struct {
	Name string `json:"name"`
	reportJSON
}
