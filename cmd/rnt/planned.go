package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/internal/disk/regular"
	"github.com/go-rntuple/go-rntuple/internal/parallel"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/rntuple/workunits"
)

// collect returns what jobs have made in a folder of all units of a plan, in its order. If some are missing, it
// prints their numbers, and it is an error.
func (t *tool) collect(ctx context.Context, planArg, folder string, fast bool) (*workunits.Plan, []*unitOutput, error) {
	plan, err := t.readPlan(ctx, planArg)
	if err != nil {
		return nil, nil, err
	}
	if len(plan.Units) == 0 {
		return nil, nil, fmt.Errorf("%s: the plan has no units", planArg)
	}
	all, wrong, id := make([]*unitOutput, len(plan.Units)), make([]error, len(plan.Units)), plan.ID()
	err = parallel.Do(4, len(plan.Units), func(i int) error {
		name := plan.Units[i].Name
		o, err := readRecord((&unitOutput{Unit: name, folder: folder}).record())
		switch {
		case err != nil:
		case o.Plan != id || o.Unit != name:
			err = fmt.Errorf("is unit %s of plan %s", o.Unit, o.Plan)
		default:
			err = o.check(folder, fast)
		}
		all[i], wrong[i] = o, err
		return context.Cause(ctx)
	})
	if err != nil {
		return nil, nil, err
	}
	work, missing := "", []string(nil)
	for i, o := range all {
		switch {
		case wrong[i] != nil:
		case work == "":
			work = o.Work
		case o.Work != work:
			wrong[i] = fmt.Errorf("is of other work, %s and not %s", o.Work, work)
		}
		if wrong[i] == nil {
			continue
		}
		missing = append(missing, strconv.Itoa(i))
		if !errors.Is(wrong[i], fs.ErrNotExist) {
			t.warn("unit %s: %w", plan.Units[i].Name, wrong[i])
		}
	}
	if len(missing) > 0 {
		fmt.Fprintln(t.out, strings.Join(missing, ","))
		return nil, nil, fmt.Errorf("%s: %d of %s to be done", folder, len(missing), plural(len(plan.Units), "unit"))
	}
	return plan, all, nil
}

// planned returns the files that jobs have made of the units of a plan, in its order, and an option for merging them.
func (t *tool) planned(cmd *cobra.Command, folder string, m merging) (files []string, identity surgery.Option, err error) {
	plan, all, err := t.collect(cmd.Context(), m.plan, folder, m.fast)
	if err != nil {
		return nil, nil, err
	}
	for _, o := range all {
		if filepath.Ext(o.File) != ".root" {
			return nil, nil, fmt.Errorf("%s: all units are there, but only RNTuples are merged, not %s", folder, o.File)
		}
		files = append(files, o.path())
	}
	whole := unitOutput{Plan: all[0].Plan, Unit: "all", Work: all[0].Work + "\n" + workOf(cmd), plan: plan}
	return files, whole.writing(), nil
}

// filled returns the histograms that jobs have filled, by unit, and the first file of the plan with the name of its RNTuple.
func (t *tool) filled(ctx context.Context, args []string, d *drawing) (all [][]byte, files []string, name string, err error) {
	if len(args) != 1 || d.name != "" {
		return nil, nil, "", usageError("--units takes the plan in the place of the files, and no --name")
	}
	plan, outputs, err := t.collect(ctx, args[0], d.units, false)
	if err != nil {
		return nil, nil, "", err
	}
	if work := outputs[0].Work; work != d.work {
		return nil, nil, "", fmt.Errorf("%s: the units are of other work, %s and not %s", d.units, work, d.work)
	}
	for _, o := range outputs {
		b, err := regular.ReadFile(o.path())
		if err != nil {
			return nil, nil, "", err
		}
		all = append(all, b)
	}
	return all, []string{plan.Files[0].Path}, plan.Name, nil
}
