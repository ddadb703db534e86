package edit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/selection"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/source"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
	"github.com/go-rntuple/go-rntuple/rntuple/workunits"
)

// planning holds the flags of plan.
type planning struct {
	units         int
	size          cli.Bytes
	fields, where []string
	name          string
	asJSON, force bool
	skipBad       bool
}

func planCommand(t *cli.Tool) *cobra.Command {
	var p planning
	cmd := &cobra.Command{
		Use:   "plan OUT IN...",
		Short: "Partition files into work units for a batch system",
		Long: `plan writes the JSON file OUT, which lists the files IN and work units. A unit is a
range of entries that ends at a cluster boundary; all units cost about the same to read.
Small files are combined into one unit, large files are divided.

Jobs process units: skim, slim, convert and draw accept --unit K, or a range K:L, with
the plan in place of the files. OUT is then a folder, to which each job writes a file
per unit and a record of it. Both appear atomically and are byte-for-byte reproducible,
so a job may be killed, repeated, or run twice concurrently. Completed units are
skipped. A file that has changed since planning is an error.

rnt merge --plan PLAN OUT FOLDER merges the outputs in the order of the plan. If any is
missing or damaged, it prints the numbers of those units instead, for resubmission:
3,7,8. rnt draw --units FOLDER does the same for histograms. See docs/guides/scaleout.md
for Slurm and HTCondor.

` + source.SkipBadHelp + ` plan
only opens files; a job with a damaged file fails, and --unit does not support --skip-bad.`,
		Example: "  rnt plan --units 200 --fields 'Muon_*,nMuon' plan.json @files.txt\n" +
			"  rnt skim --where 'nMuon == 2' --unit $SLURM_ARRAY_TASK_ID parts plan.json\n" +
			"  rnt merge --plan plan.json all.root parts",
		Args:              cli.OutArgs(cli.AnyNumber),
		ValidArgsFunction: cli.CompleteFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			bad := source.BadFiles{Skip: p.skipBad, Out: args[0], Force: p.force, Name: p.name}
			return bad.Without(cmd.Context(), t, args[1:],
				func(files []string) error { return planFiles(cmd.Context(), t, args[0], files, p, bad.Skipped) })
		},
	}
	f := cmd.Flags()
	f.IntVar(&p.units, "units", 0, "number of units, `N`")
	f.Var(&p.size, "size", "target `SIZE` of a unit, in stored bytes of the fields (default 256M)")
	selection.FieldsFlag(cmd, &p.fields, "fields that jobs will read", 1)
	f.StringArrayVar(&p.where, "where", nil,
		"a `COND` that jobs will evaluate; its fields are read, too; may be repeated")
	f.BoolVar(&p.asJSON, "json", false, "print a summary as JSON")
	cli.NameFlag(cmd, &p.name, 1)
	cli.ForceFlag(cmd, &p.force)
	source.SkipBadFlag(cmd, &p.skipBad)
	return cmd
}

// planFiles makes the plan of the files in.
func planFiles(ctx context.Context, t *cli.Tool, out string, in []string, p planning, skipped []source.BadFile) error {
	switch {
	case p.units < 0:
		return cli.UsageError("--units must be positive")
	case p.units > 0 && p.size > 0:
		return cli.UsageError("--units and --size cannot be combined")
	}
	if slices.Contains(in, "-") {
		return cli.UsageError("a plan cannot include standard input")
	}
	if err := t.Output.Begin(ctx, out, p.force, in...); err != nil {
		return err
	}
	fields, err := plannedFields(ctx, t, in[0], p)
	if err != nil {
		return err
	}
	bar := t.Report.Bar("files")
	plan, err := workunits.Make(ctx, in, &workunits.Options{
		Name: p.name, Fields: fields, Count: p.units, Target: int64(p.size), Read: t.Input.Options(ctx),
		Progress: func(done, total int) { bar.Set(int64(done), int64(total)) },
	})
	bar.Done()
	if bad := (*rntuple.InputError)(nil); errors.As(err, &bad) {
		err = source.WithKind(ctx, t, in[bad.Index], p.name, source.WithPath(err))
	}
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := plan.Write(&b); err != nil {
		return err
	}
	if err := t.Output.WriteFile(ctx, out, b.Bytes()); err != nil {
		return err
	}
	return printPlan(t, plan, p.asJSON, skipped)
}

// plannedFields returns the fields that will be read, those of conditions among them, or none for
// all.
func plannedFields(ctx context.Context, t *cli.Tool, path string, p planning) ([]string, error) {
	conditions, err := selection.ParseWhere(p.where)
	if err != nil || len(conditions) == 0 {
		return p.fields, err
	}
	r, err := rntuple.Open(path, p.name, t.Input.Options(ctx))
	if err != nil {
		return nil, source.WithKind(ctx, t, path, p.name, err)
	}
	defer r.Close()
	program, err := expression.Compile(r, conditions...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cli.Shown(path), err)
	}
	if len(p.fields) == 0 {
		return nil, nil // all
	}
	return append(slices.Clone(p.fields), program.Fields()...), nil
}

// planJSON is the summary of a plan.
type planJSON struct {
	ID      string           `json:"id"`
	Files   int              `json:"files"`
	Skipped []source.BadFile `json:"skipped,omitempty"` // because of --skip-bad
	Units   int              `json:"units"`
	Entries int64            `json:"entries"`
	Least   int64            `json:"least_cost"` // of a unit, in bytes
	Most    int64            `json:"most_cost"`
}

func printPlan(t *cli.Tool, plan *workunits.Plan, asJSON bool, skipped []source.BadFile) error {
	s := planJSON{ID: plan.ID(), Files: len(plan.Files), Skipped: skipped, Units: len(plan.Units), Entries: plan.Entries()}
	for i, u := range plan.Units {
		if s.Most = max(s.Most, u.Cost); i == 0 || u.Cost < s.Least {
			s.Least = u.Cost
		}
	}
	switch {
	case asJSON:
		return text.JSON(t.Out, s)
	case t.Report.Quiet:
		return nil
	}
	_, err := fmt.Fprintf(t.Out, "%s of %s, %s of %s to %s each: 0 to %d\n", text.PluralOf(s.Entries, "entry", "entries"),
		text.Plural(s.Files, "file"),
		text.Plural(s.Units, "unit"), text.Size(s.Least), text.Size(s.Most), s.Units-1)
	return err
}
