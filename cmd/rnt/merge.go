package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/surgery"
)

// merging is how to merge.
type merging struct {
	mode, compression, level, maxLevel, name string
	clusterSize, join                        int64
	into, convert, keep, drop, asJSON        bool
	unverified                               bool
}

func (t *tool) mergeCommand() *cobra.Command {
	var m merging
	cmd := &cobra.Command{
		Use:   "merge OUT IN...",
		Short: "Put the entries of RNTuples one after the other",
		Long: `merge makes a ROOT file OUT with the entries of the RNTuples in the files IN, in
this order. The schema is that of the first one. Other fields that an IN has are
left out (--mode filter), an error (strict) or added (union); with union an IN may
also lack fields, and has zeros there.

Pages are taken as they are stored wherever that is right: shared with IN on disk,
where the file system can do that, else copied. The higher levels are "recompress",
"reseal", which encodes anew, and "rewrite", which makes new clusters and pages;
--level has all pages get that level at least.

OUT comes into being as a whole: if anything is wrong, a file that was there stays.
With --into, OUT is an RNTuple that is there, the first of the inputs; what it has
stays in place.`,
		Example: "  rnt merge all.root run1.root run2.root\n" +
			"  rnt merge --level rewrite --cluster-size 100000000 few.root many/*.root",
		Args: func(_ *cobra.Command, args []string) error {
			switch len(args) {
			case 0:
				return usageError("which file is to be made?")
			case 1:
				return usageError("which files are to be merged?")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"root"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(cmd *cobra.Command, args []string) error { return t.merge(cmd, args[0], args[1:], m) },
	}
	f := cmd.Flags()
	f.StringVar(&m.mode, "mode", "filter", `"filter", "strict" or "union"`)
	f.StringVar(&m.name, "name", "", "name of the RNTuples (default the one that a file has)")
	f.StringVar(&m.compression, "compression", "", `"zstd:5", "lz4:4", "zlib:1", "lzma:7" or "none" (default that of the first input)`)
	f.BoolVar(&m.keep, "keep-compression", false, "copy pages whatever their compression")
	f.StringVar(&m.level, "level", "share", `at least "share", "copy", "recompress", "reseal" or "rewrite"`)
	f.StringVar(&m.maxLevel, "max-level", "rewrite", "fail where pages need a higher level")
	f.Int64Var(&m.join, "join-clusters", 0, "rewrite clusters of fewer bytes on disk into larger ones")
	f.Int64Var(&m.clusterSize, "cluster-size", 128<<20, "wanted size of clusters that are rewritten, in bytes")
	f.BoolVar(&m.unverified, "no-verify", false, "do not compare the checksums of what is taken as it is")
	f.BoolVar(&m.convert, "convert", false, "convert values where types differ")
	f.BoolVar(&m.drop, "drop-attributes", false, "leave attribute sets behind")
	f.BoolVar(&m.into, "into", false, "add to the RNTuple in OUT")
	f.BoolVar(&m.asJSON, "json", false, "print JSON, sizes in bytes")
	return cmd
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
	if m.clusterSize <= 0 {
		return nil, usageError("--cluster-size must be positive")
	}
	opts := []surgery.Option{
		surgery.WithMode(mode), surgery.AtLeast(least), surgery.AtMost(most),
		surgery.JoinClusters(m.join), surgery.Write(rntuple.ClusterSize(m.clusterSize)),
	}
	if m.compression != "" {
		c, err := compress.ParseSettings(m.compression)
		if err != nil {
			return nil, usageError("--compression: " + err.Error())
		}
		opts = append(opts, surgery.Compression(c))
	}
	for _, o := range []struct {
		yes bool
		opt surgery.Option
	}{{m.keep, surgery.KeepCompression()}, {m.convert, surgery.ConvertTypes()}, {m.drop, surgery.DropAttributes()}, {m.unverified, surgery.Read(rntuple.VerifyPages(false))}} {
		if o.yes {
			opts = append(opts, o.opt)
		}
	}
	return opts, nil
}

func (t *tool) merge(cmd *cobra.Command, out string, in []string, m merging) error {
	opts, err := m.options()
	if err != nil {
		return err
	}
	inputs := make([]surgery.Input, len(in))
	for i, path := range in {
		inputs[i] = surgery.Input{Path: path, Name: m.name}
	}
	var bar bar
	opts = append(opts, surgery.Progress(func(done, total int64) {
		if bar.b == nil {
			bar = t.progress("bytes", total)
		}
		bar.set(done)
	}))
	var report *surgery.Report
	if m.into {
		report, err = surgery.MergeInto(cmd.Context(), surgery.Input{Path: out, Name: m.name}, inputs, opts...)
	} else {
		report, err = surgery.Merge(cmd.Context(), out, inputs, opts...)
	}
	bar.done()
	if err != nil {
		return err
	}
	if m.asJSON {
		return printJSON(t.out, reportOf(report))
	}
	return t.printMerged(filepath.Base(out), report)
}

// reportJSON is a report as JSON.
type reportJSON struct {
	Inputs        int         `json:"inputs"`
	Entries       int64       `json:"entries"`
	Clusters      int64       `json:"clusters"`
	ClusterGroups int         `json:"cluster_groups"`
	Levels        []levelJSON `json:"levels"`
}

type levelJSON struct {
	Level string `json:"level"`
	Pages int64  `json:"pages"`
	Bytes int64  `json:"bytes"`
}

func reportOf(r *surgery.Report) reportJSON {
	j := reportJSON{r.Inputs, r.Entries, r.Clusters, r.ClusterGroups, []levelJSON{}}
	for l, work := range r.Levels {
		if work.Pages > 0 {
			j.Levels = append(j.Levels, levelJSON{surgery.Level(l).String(), work.Pages, work.Bytes})
		}
	}
	return j
}

// printMerged prints what was done.
func (t *tool) printMerged(name string, r *surgery.Report) error {
	fmt.Fprintf(t.out, "%s: %s entries from %s, in %s\n\n", name, count(r.Entries), plural(r.Inputs, "input"), plural(r.ClusterGroups, "cluster group"))
	levels := newTable("LEVEL", ">PAGES", ">BYTES")
	for _, l := range reportOf(r).Levels {
		levels.row(l.Level, count(l.Pages), size(l.Bytes))
	}
	return levels.print(t.out)
}
