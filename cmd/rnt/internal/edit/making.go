package edit

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/operation"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/source"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

// making holds the flags that the commands share which make a file from others.
type making struct {
	name                    string
	dropSets, force, asJSON bool
	cli.WriteFlags
}

// flags adds the flags. Standard describes the default compression.
func (m *making) flags(cmd *cobra.Command, standard string) {
	f := cmd.Flags()
	cli.CompressionFlag(cmd, &m.Compression, "", standard)
	f.Int64Var(&m.ClusterSize, "cluster-size", 128<<20, "target size of rewritten clusters, in bytes")
	f.BoolVar(&m.dropSets, "drop-attributes", false, "drop attribute sets")
	f.BoolVar(&m.asJSON, "json", false, "print the report as JSON, with sizes in bytes")
	m.SyncFlag(cmd)
}

// options returns the options of package surgery.
func (m *making) options() (surgery.Options, error) {
	if m.ClusterSize <= 0 {
		return surgery.Options{}, cli.UsageError("--cluster-size must be positive")
	}
	o, err := operation.Options(&m.WriteFlags)
	o.DropAttributes = m.dropSets
	return o, err
}

// makeFrom makes the file out by an operation, which has the options o, on the RNTuples called name
// in the files that arguments name.
func makeFrom(ctx context.Context, t *cli.Tool, out string, force bool, args []string, name string, o *surgery.Options,
	do func(in []surgery.Input) (*surgery.Report, error)) (*surgery.Report, error) {
	paths, err := t.Input.Roots(ctx, args)
	if err != nil {
		return nil, err
	}
	if err := t.Output.Begin(ctx, out, force, paths...); err != nil {
		return nil, err
	}
	return operation.Run(ctx, t, false, o, func() (*surgery.Report, error) { return do(source.Inputs(paths, name)) })
}

// reportJSON is a report as JSON.
type reportJSON struct {
	Inputs        int              `json:"inputs"`
	Entries       int64            `json:"entries"`
	Clusters      int64            `json:"clusters"`
	ClusterGroups int              `json:"cluster_groups"`
	Levels        []levelJSON      `json:"levels"`
	Omitted       []string         `json:"omitted,omitempty"` // fields that the first input lacks
	Skipped       []source.BadFile `json:"skipped,omitempty"` // because of --skip-bad
}

type levelJSON struct {
	Level string `json:"level"`
	Pages int64  `json:"pages"`
	Bytes int64  `json:"bytes"`
}

func reportOf(r *surgery.Report, skipped []source.BadFile) reportJSON {
	j := reportJSON{r.Inputs, r.Entries, r.Clusters, r.ClusterGroups, []levelJSON{}, r.Omitted, skipped}
	for l, work := range r.Levels {
		if work.Pages > 0 {
			j.Levels = append(j.Levels, levelJSON{surgery.Level(l).String(), work.Pages, work.Bytes})
		}
	}
	return j
}

// printMerged prints what was written to the file out.
func printMerged(t *cli.Tool, out string, r *surgery.Report, asJSON bool, skipped ...source.BadFile) error {
	switch {
	case asJSON:
		return text.JSON(t.Out, reportOf(r, skipped))
	case t.Report.Quiet:
		return nil
	}
	fmt.Fprintf(t.Out, "%s: %s from %s, in %s%s\n\n", remote.Base(out), text.PluralOf(r.Entries, "entry", "entries"),
		text.Plural(r.Inputs, "input"), text.Plural(r.ClusterGroups, "cluster group"), sizeOf(out))
	return printLevels(t, r)
}

// sizeOf returns the size of a file that was made, after a comma, if it is on disk.
func sizeOf(out string) string {
	info, err := os.Stat(out)
	if err != nil || remote.IsURL(out) {
		return ""
	}
	return ", " + text.Size(info.Size())
}

// printLevels prints how many pages of the inputs were treated at each level.
func printLevels(t *cli.Tool, r *surgery.Report) error {
	levels := text.NewTable("LEVEL", ">INPUT PAGES", ">INPUT BYTES")
	for _, l := range reportOf(r, nil).Levels {
		levels.Row(l.Level, text.Count(l.Pages), text.Size(l.Bytes))
	}
	return levels.Print(t.Out)
}
