package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

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
}

func (t *tool) mergeCommand() *cobra.Command {
	var m merging
	cmd := &cobra.Command{
		Use:   "merge OUT IN...",
		Short: "Join the entries of RNTuples",
		Long: `merge makes a ROOT file OUT with the entries of the RNTuples in the files IN, in
this order. The schema is that of the first one. Other fields that an IN has are
left out with a warning (--mode filter), are an error (strict) or are added (union);
with union, an IN may also lack fields, which are then zero. Without --mode, fields
are left out, too, and the exit status is then 3.

One RNTuple of each file is merged, and the other objects are named in a warning;
--all merges all RNTuples, with their directories, as hadd does, and ends with status 3
if a file has none.

Pages are taken as they are stored wherever possible: cloned, so that OUT shares
blocks on disk with IN, if the file system supports it, otherwise copied. The higher levels are "recompress",
"reseal", which also encodes again, and "rewrite", which makes new clusters and
pages; --level is the least that is done to every page.

OUT appears only once it is complete: after an error there is no new file. With
--into, OUT is an existing RNTuple, the first of the inputs; its entries stay where
they are.

With --plan, IN is the folder in which jobs have put the outputs of units, which "rnt
plan" describes. Each must be there, once, of this plan, complete, and made by the same
command; otherwise the numbers of those that are not are printed: 3,7,8.

` + skipBadHelp,
		Example: "  rnt merge all.root run1.root run2.root\n" +
			"  rnt merge --level rewrite --cluster-size 100000000 few.root many/*.root",
		Args:              outArgs(anyNumber, "merged"),
		ValidArgsFunction: completeFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return t.merge(cmd, args[0], args[1:], m) },
	}
	m.flags(cmd, "that of the first input")
	m.modeFlag(cmd)
	m.waitFlag(cmd)
	forceFlag(cmd, &m.force)
	skipBadFlag(cmd, &m.skipBad)
	f := cmd.Flags()
	f.StringVar(&m.level, "level", "clone", `at least "clone", "copy", "recompress", "reseal" or "rewrite"`)
	f.StringVar(&m.maxLevel, "max-level", "rewrite", "fail where pages need a higher level")
	f.Int64Var(&m.join, "join-clusters", 0, "rewrite clusters of fewer bytes on disk into larger ones")
	f.BoolVar(&m.fast, "no-verify", false, "do not check the checksums of what is taken as it is")
	f.BoolVar(&m.into, "into", false, "add to the RNTuple in OUT")
	f.StringVar(&m.plan, "plan", "", "join what jobs have made of the units of the plan `FILE`, in its order; IN is their folder")
	f.BoolVar(&m.all, "all", false, "merge all RNTuples of the files, those of the same name with each other")
	for _, level := range []string{"level", "max-level"} {
		completeValues(cmd, level, "clone", "copy", "recompress", "reseal", "rewrite")
	}
	return cmd
}

// modeFlag adds the flags that say which inputs are compatible.
func (m *merging) modeFlag(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&m.mode, "mode", "filter", `"filter", "strict" or "union"`)
	f.BoolVar(&m.convert, "convert", false, "convert values where types differ")
	f.BoolVar(&m.keep, "keep-compression", false, "copy pages whatever their compression")
	completeValues(cmd, "mode", "filter\tthe fields of the first input", "strict\tthe same fields everywhere", "union\tthe fields of all inputs")
	m.nameFlag(cmd, "name of the RNTuples (default the only one of each file)", 1)
}

// options returns the options of package surgery.
func (m *merging) options() ([]surgery.Option, error) {
	mode, err := surgery.ParseMode(m.mode)
	if err != nil {
		return nil, usageError("--mode: " + err.Error())
	}
	least, err := surgery.ParseLevel(m.level)
	if err != nil {
		return nil, usageError("--level: " + err.Error())
	}
	most, err := surgery.ParseLevel(m.maxLevel)
	if err != nil {
		return nil, usageError("--max-level: " + err.Error())
	}
	opts, err := m.making.options()
	if err != nil {
		return nil, err
	}
	opts = append(opts, surgery.WithMode(mode), surgery.AtLeast(least), surgery.AtMost(most), surgery.JoinClusters(m.join))
	if m.keep {
		opts = append(opts, surgery.KeepCompression())
	}
	if m.convert {
		opts = append(opts, surgery.ConvertTypes())
	}
	if m.fast {
		opts = append(opts, surgery.Read(rntuple.VerifyPages(false)))
	}
	return opts, nil
}

func (t *tool) merge(cmd *cobra.Command, out string, in []string, m merging) error {
	if m.all && (m.into || m.name != "") {
		return usageError("--all cannot be combined with --name or --into")
	}
	if m.plan != "" && (m.all || m.into || m.name != "" || len(in) != 1) {
		return usageError("--plan takes the arguments OUT and the folder of the units, and no --all, --into and --name")
	}
	if m.into && m.force {
		return usageError("--into replaces no file; leave out --force")
	}
	if m.skipBad && (m.into || m.plan != "") {
		return usageError("--skip-bad cannot be combined with --into or --plan")
	}
	opts, err := m.options()
	if err != nil {
		return err
	}
	t.filtering = cmd.Flags().Changed("mode")
	if m.plan != "" {
		files, identity, err := t.planned(cmd, in[0], m)
		if err != nil {
			return err
		}
		in, opts = files, append(opts, identity)
	}
	inputs, err := t.inputs(cmd, in, m.name)
	if err != nil {
		return err
	}
	if m.into {
		report, err := t.mergeInto(cmd, surgery.Input{Path: out, Name: m.name}, inputs, opts)
		if err != nil {
			return lacking(err, adviseUnion)
		}
		return t.printMerged(out, report, m.asJSON)
	}
	if err := t.beginOutput(cmd.Context(), out, m.force, pathsOf(inputs)...); err != nil {
		return err
	}
	bad := t.bad(cmd.Context(), m.skipBad, out, m.force, m.name)
	if m.all {
		bad.open = func(path string) error {
			_, err := rntuple.ListFile(path, append(t.reading(), rntuple.Context(cmd.Context()))...)
			return err
		}
	}
	return t.without(cmd.Context(), bad, pathsOf(inputs), func(files []string) error {
		if m.all {
			return t.mergeAll(cmd, out, files, m, opts)
		}
		report, err := t.withBar(func(more ...surgery.Option) (*surgery.Report, error) {
			return surgery.Merge(cmd.Context(), out, inputsOf(files, m.name), slices.Concat(opts, more)...)
		})
		if err != nil {
			return lacking(err, adviseUnion)
		}
		return t.printMerged(out, report, m.asJSON)
	})
}

// mergeInto adds the entries of inputs to an RNTuple in its file.
func (t *tool) mergeInto(cmd *cobra.Command, into surgery.Input, inputs []surgery.Input, opts []surgery.Option) (*surgery.Report, error) {
	if err := checkNotInput(into.Path, pathsOf(inputs)...); err != nil {
		return nil, err
	}
	t.output.begin(updated, into.Path)
	return t.withBar(func(more ...surgery.Option) (*surgery.Report, error) {
		return surgery.MergeInto(cmd.Context(), into, inputs, append(opts, more...)...)
	})
}

// mergeAll merges all RNTuples of files into the file out.
func (t *tool) mergeAll(cmd *cobra.Command, out string, files []string, m merging, opts []surgery.Option) error {
	var merged []surgery.Merged
	if _, err := t.withBar(func(more ...surgery.Option) (_ *surgery.Report, err error) {
		merged, err = surgery.MergeAll(cmd.Context(), out, files, slices.Concat(opts, more)...)
		if err != nil {
			return nil, err
		}
		return merged[0].Report, nil // what is left behind is the same for all
	}); err != nil {
		return lacking(err, adviseUnion)
	}
	if m.asJSON {
		list := []mergedJSON{}
		for _, one := range merged {
			list = append(list, mergedJSON{one.Name, t.reportOf(one.Report)})
		}
		return printJSON(t.out, list)
	}
	for i, one := range merged {
		if i > 0 && !t.quiet {
			fmt.Fprintln(t.out)
		}
		if err := t.printMerged(out+":"+one.Name, one.Report, false); err != nil {
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
