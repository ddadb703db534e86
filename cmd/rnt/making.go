package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

// making holds the flags that the commands share which make a file from others.
type making struct {
	name, compression       string
	clusterSize             int64
	dropSets, force, asJSON bool
	durability
}

// durability holds the flags that say how what is written gets to the disk.
type durability struct {
	noSync bool
	wait   time.Duration
}

func (d *durability) syncFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&d.noSync, "no-sync", false, "do not wait for the disk: faster, but a power failure may lose or damage the file")
}

// waitFlag adds the flag of commands that update files.
func (d *durability) waitFlag(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&d.wait, "wait", 0, "for how long to wait for another process that updates the file, as 1m30s (default not at all)")
}

func (d *durability) options() []rntuple.WriteOption {
	return []rntuple.WriteOption{rntuple.Sync(!d.noSync), rntuple.LockWait(d.wait)}
}

// flags adds the flags. Standard describes the default compression.
func (m *making) flags(cmd *cobra.Command, standard string) {
	f := cmd.Flags()
	compressionFlag(cmd, &m.compression, "", standard)
	f.Int64Var(&m.clusterSize, "cluster-size", 128<<20, "wanted size of clusters that are rewritten, in bytes")
	f.BoolVar(&m.dropSets, "drop-attributes", false, "leave attribute sets out")
	f.BoolVar(&m.asJSON, "json", false, "print the report as JSON, sizes in bytes")
	m.syncFlag(cmd)
}

// nameFlag adds the flag --name for inputs from the argument of the given number on.
func (m *making) nameFlag(cmd *cobra.Command, what string, file int) {
	cmd.Flags().StringVar(&m.name, "name", "", what)
	completeNames(cmd, "name", file)
}

func forceFlag(cmd *cobra.Command, force *bool) {
	cmd.Flags().BoolVar(force, "force", false, "replace OUT if it exists")
}

// compressionFlag adds the flag --compression with a default value or, if that is
// empty, a description of the default.
func compressionFlag(cmd *cobra.Command, settings *string, value, standard string) {
	usage := `"zstd:5", "lz4:4", "zlib:1", "lzma:7" or "none"`
	if value == "" {
		usage += " (default " + standard + ")"
	}
	cmd.Flags().StringVar(settings, "compression", value, usage)
	completeValues(cmd, "compression", "zstd:5\tsmall and fast, ROOT's default", "lz4:4\tfaster to read, larger", "zlib:1\tfor old readers",
		"lzma:7\tsmallest, slow", "none\tuncompressed")
}

// compressionOption returns the option for the flag --compression, or none if that
// is empty.
func compressionOption(flag string) ([]surgery.Option, error) {
	if flag == "" {
		return nil, nil
	}
	c, err := compress.ParseSettings(flag)
	if err != nil {
		return nil, usageError("--compression: " + err.Error())
	}
	return []surgery.Option{surgery.Compression(c)}, nil
}

// options returns the options of package surgery.
func (m *making) options() ([]surgery.Option, error) {
	if m.clusterSize <= 0 {
		return nil, usageError("--cluster-size must be positive")
	}
	opts, err := compressionOption(m.compression)
	if err != nil {
		return nil, err
	}
	if m.dropSets {
		opts = append(opts, surgery.DropAttributes())
	}
	return append(opts, surgery.Write(rntuple.ClusterSize(m.clusterSize)), surgery.Write(m.durability.options()...)), nil
}

// inputs returns the inputs that arguments name, all with the same name of the
// RNTuple.
func (t *tool) inputs(cmd *cobra.Command, args []string, name string) ([]surgery.Input, error) {
	paths := make([]string, len(args))
	for i, arg := range args {
		var err error
		if paths[i], err = t.input(cmd.Context(), arg); err != nil {
			return nil, err
		}
	}
	return inputsOf(paths, name), nil
}

// An operation calls package surgery, with the options that all operations have: for
// the inputs, and to report its progress.
type operation func(more ...surgery.Option) (*surgery.Report, error)

// operate makes the file out by an operation on inputs, like withBar, after
// checking that nothing is overwritten.
func (t *tool) operate(ctx context.Context, out string, force bool, inputs []surgery.Input, do operation) (*surgery.Report, error) {
	if err := t.beginOutput(ctx, out, force, pathsOf(inputs)...); err != nil {
		return nil, err
	}
	return t.withBar(do)
}

// withBar runs an operation with a progress bar, and warns of what was not copied
// from the files of the inputs.
func (t *tool) withBar(do operation) (*surgery.Report, error) {
	bar := t.byteBar()
	report, err := do(t.readInputs(), surgery.Write(t.creating()...), surgery.Progress(bar.setOf))
	bar.done()
	if err == nil {
		t.output.done()
		t.warnLeft(report)
	}
	return report, err
}

// piecesOf returns all of the entries of inputs.
func piecesOf(inputs []surgery.Input) (all []surgery.Piece) {
	for _, in := range inputs {
		all = append(all, surgery.Piece{Input: in})
	}
	return all
}

func pathsOf(inputs []surgery.Input) []string {
	var all []string
	for _, in := range inputs {
		all = append(all, in.Path)
	}
	return all
}

// reportJSON is a report as JSON.
type reportJSON struct {
	Inputs        int         `json:"inputs"`
	Entries       int64       `json:"entries"`
	Clusters      int64       `json:"clusters"`
	ClusterGroups int         `json:"cluster_groups"`
	Levels        []levelJSON `json:"levels"`
	Omitted       []string    `json:"omitted,omitempty"` // fields that the first input lacks
	Skipped       []badFile   `json:"skipped,omitempty"` // because of --skip-bad
}

type levelJSON struct {
	Level string `json:"level"`
	Pages int64  `json:"pages"`
	Bytes int64  `json:"bytes"`
}

func (t *tool) reportOf(r *surgery.Report) reportJSON {
	j := reportJSON{r.Inputs, r.Entries, r.Clusters, r.ClusterGroups, []levelJSON{}, r.Omitted, t.skipped}
	for l, work := range r.Levels {
		if work.Pages > 0 {
			j.Levels = append(j.Levels, levelJSON{surgery.Level(l).String(), work.Pages, work.Bytes})
		}
	}
	return j
}

// printMerged prints what was written to the file out.
func (t *tool) printMerged(out string, r *surgery.Report, asJSON bool) error {
	switch {
	case asJSON:
		return printJSON(t.out, t.reportOf(r))
	case t.quiet:
		return nil
	}
	fmt.Fprintf(t.out, "%s: %s from %s, in %s%s\n\n", remote.Base(out), pluralOf(r.Entries, "entry", "entries"), plural(r.Inputs, "input"), plural(r.ClusterGroups, "cluster group"), sizeOf(out))
	return t.printLevels(r)
}

// sizeOf returns the size of a file that was made, after a comma, if it is on disk.
func sizeOf(out string) string {
	info, err := os.Stat(out)
	if err != nil || remote.IsURL(out) {
		return ""
	}
	return ", " + size(info.Size())
}

// printLevels prints how many pages of the inputs were treated at each level.
func (t *tool) printLevels(r *surgery.Report) error {
	levels := newTable("LEVEL", ">INPUT PAGES", ">INPUT BYTES")
	for _, l := range t.reportOf(r).Levels {
		levels.row(l.Level, count(l.Pages), size(l.Bytes))
	}
	return levels.print(t.out)
}
