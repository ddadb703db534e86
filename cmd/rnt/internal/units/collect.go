package units

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/internal/input"
	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/internal/parallel"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple/workunits"
)

// Collect returns what jobs have made in a folder of all units of a plan, in its order. If some are
// missing, it prints their numbers, and it is an error.
func Collect(ctx context.Context, t *cli.Tool, planArg, folder string, fast bool) (*workunits.Plan, []*Output, error) {
	plan, err := readPlan(ctx, t, planArg)
	if err != nil {
		return nil, nil, err
	}
	if len(plan.Units) == 0 {
		return nil, nil, fmt.Errorf("%s: the plan has no units", planArg)
	}
	all, wrong, id := make([]*Output, len(plan.Units)), make([]error, len(plan.Units)), plan.ID()
	err = parallel.Do(4, len(plan.Units), func(i int) error {
		name := plan.Units[i].Name
		o, err := readRecord((&Output{Unit: name, folder: folder}).record())
		switch {
		case err != nil:
		case o.Plan != id || o.Unit != name:
			err = fmt.Errorf("belongs to unit %s of plan %s", o.Unit, o.Plan)
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
			wrong[i] = fmt.Errorf("was made by another command: %s, not %s", o.Work, work)
		}
		if wrong[i] == nil {
			continue
		}
		missing = append(missing, strconv.Itoa(i))
		if !errors.Is(wrong[i], fs.ErrNotExist) {
			t.Report.Warn("unit %s: %w", plan.Units[i].Name, wrong[i])
		}
	}
	if len(missing) > 0 {
		fmt.Fprintln(t.Out, strings.Join(missing, ","))
		return nil, nil, fmt.Errorf("%s: %d of %s missing", folder, len(missing), text.Plural(len(plan.Units), "unit"))
	}
	return plan, all, nil
}

// RNTuples returns the files that jobs have made in a folder of the units of a plan, in its order,
// and the identity of what cmd merges of them. Fast is as for check.
func RNTuples(t *cli.Tool, cmd *cobra.Command, planArg, folder string,
	fast bool) (files []string, identity Identity, err error) {
	plan, all, err := Collect(cmd.Context(), t, planArg, folder, fast)
	if err != nil {
		return nil, nil, err
	}
	for _, o := range all {
		if filepath.Ext(o.File) != ".root" {
			return nil, nil, fmt.Errorf(
				"%s: all units are complete, but only RNTuples can be merged, not %s", folder, o.File)
		}
		files = append(files, o.Path())
	}
	whole := Output{Plan: all[0].Plan, Unit: "all", Work: all[0].Work + "\n" + Work(cmd), plan: plan}
	return files, whole.Identify, nil
}

// readPlan reads the plan that an argument names.
func readPlan(ctx context.Context, t *cli.Tool, arg string) (*workunits.Plan, error) {
	f, n, err := input.Open(ctx, location.Parse(arg), false, t.Input.Remote())
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
