package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/internal/input"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
	"github.com/go-rntuple/go-rntuple/rntuple/workunits"
)

// planning holds the flags of plan.
type planning struct {
	units         int
	size          byteCount
	fields, where []string
	name          string
	asJSON, force bool
	skipBad       bool
}

func (t *tool) planCommand() *cobra.Command {
	var p planning
	cmd := &cobra.Command{
		Use:   "plan OUT IN...",
		Short: "Cut files into units of work for a batch system",
		Long: `plan makes the JSON file OUT: a list of the files IN, as they are, and of units of work.
A unit is a range of entries that ends where clusters do; all units cost about the same
to read. Small files are joined to one unit, large files are cut.

Jobs work on units: skim, slim, convert and draw take --unit K, or a range K:L, and the
plan in the place of the files. OUT is then a folder, which gets a file for each unit and a
record of it. Both appear whole or not at all and have the same bytes each time, so
a job may be killed, repeated, or run twice at the same time. What is done already is
not done again. A file that has changed since it was planned is an error.

rnt merge --plan PLAN OUT FOLDER joins what the jobs have made, in the order of the plan.
If something is missing or damaged, it prints the numbers of those units instead, for
the next submission: 3,7,8. rnt draw --units FOLDER does so with histograms.
See docs/scaleout.md for Slurm and HTCondor.

` + skipBadHelp + ` A
plan only opens files; a job whose file is damaged fails, and has no --skip-bad.`,
		Example: "  rnt plan --units 200 --fields 'Muon_*,nMuon' plan.json @files.txt\n" +
			"  rnt skim --where 'nMuon == 2' --unit $SLURM_ARRAY_TASK_ID parts plan.json\n" +
			"  rnt merge --plan plan.json all.root parts",
		Args:              outArgs(anyNumber, "planned"),
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			bad := t.bad(cmd.Context(), p.skipBad, args[0], p.force, p.name)
			return t.without(cmd.Context(), bad, args[1:], func(files []string) error { return t.plan(cmd.Context(), args[0], files, p) })
		},
	}
	f := cmd.Flags()
	f.IntVar(&p.units, "units", 0, "make `N` units")
	f.Var(&p.size, "size", "make units of about `SIZE` of the fields' stored bytes (default 256M)")
	fieldsFlag(cmd, &p.fields, "fields that will be read")
	f.StringArrayVar(&p.where, "where", nil, "a `COND` whose fields will be read, too; may be given again")
	f.BoolVar(&p.asJSON, "json", false, "print a summary as JSON")
	f.StringVar(&p.name, "name", "", "name of the RNTuples (default the only one of each file)")
	forceFlag(cmd, &p.force)
	skipBadFlag(cmd, &p.skipBad)
	completeFields(cmd, "fields", 1)
	completeNames(cmd, "name", 1)
	return cmd
}

// plan makes the plan of the files in.
func (t *tool) plan(ctx context.Context, out string, in []string, p planning) error {
	switch {
	case p.units < 0:
		return usageError("--units must be positive")
	case p.units > 0 && p.size > 0:
		return usageError("--units and --size cannot be combined")
	}
	if slices.Contains(in, "-") {
		return usageError("standard input cannot be planned: jobs could not read it")
	}
	if err := t.beginOutput(ctx, out, p.force, in...); err != nil {
		return err
	}
	fields, err := t.plannedFields(ctx, in[0], p)
	if err != nil {
		return err
	}
	bar := t.bar("files")
	plan, err := workunits.Make(ctx, in, workunits.Options{
		Name: p.name, Fields: fields, Count: p.units, Target: int64(p.size), Read: t.reading(),
		Progress: func(done, total int) { bar.setOf(int64(done), int64(total)) },
	})
	bar.done()
	if bad := (*rntuple.InputError)(nil); errors.As(err, &bad) {
		err = t.withKind(ctx, in[bad.Index], p.name, withPath(err))
	}
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := plan.Write(&b); err != nil {
		return err
	}
	if err := t.writeFile(ctx, out, b.Bytes()); err != nil {
		return err
	}
	return t.printPlan(plan, p.asJSON)
}

// plannedFields returns the fields that will be read, those of conditions among them, or none for all.
func (t *tool) plannedFields(ctx context.Context, path string, p planning) ([]string, error) {
	conditions, err := parseWhere(p.where)
	if err != nil || len(conditions) == 0 {
		return p.fields, err
	}
	r, err := rntuple.Open(path, p.name, append(t.reading(), rntuple.Context(ctx))...)
	if err != nil {
		return nil, t.withKind(ctx, path, p.name, err)
	}
	defer r.Close()
	program, err := expression.Compile(r, conditions...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shown(path), err)
	}
	if len(p.fields) == 0 {
		return nil, nil // all
	}
	return append(slices.Clone(p.fields), program.Fields()...), nil
}

// planJSON is the summary of a plan.
type planJSON struct {
	ID      string    `json:"id"`
	Files   int       `json:"files"`
	Skipped []badFile `json:"skipped,omitempty"` // because of --skip-bad
	Units   int       `json:"units"`
	Entries int64     `json:"entries"`
	Least   int64     `json:"least_cost"` // of a unit, in bytes
	Most    int64     `json:"most_cost"`
}

func (t *tool) printPlan(plan *workunits.Plan, asJSON bool) error {
	s := planJSON{ID: plan.ID(), Files: len(plan.Files), Skipped: t.skipped, Units: len(plan.Units), Entries: plan.Entries()}
	for i, u := range plan.Units {
		if s.Most = max(s.Most, u.Cost); i == 0 || u.Cost < s.Least {
			s.Least = u.Cost
		}
	}
	switch {
	case asJSON:
		return printJSON(t.out, s)
	case t.quiet:
		return nil
	}
	_, err := fmt.Fprintf(t.out, "%s of %s, %s of %s to %s each: 0 to %d\n", pluralOf(s.Entries, "entry", "entries"), plural(s.Files, "file"),
		plural(s.Units, "unit"), size(s.Least), size(s.Most), s.Units-1)
	return err
}

// readPlan reads the plan that an argument names.
func (t *tool) readPlan(ctx context.Context, arg string) (*workunits.Plan, error) {
	f, n, err := input.Open(ctx, arg, false, t.remote.options)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	plan, err := workunits.Read(io.NewSectionReader(f, 0, n))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", remote.Redact(arg), err)
	}
	return plan, nil
}
