package show

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/selection"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/source"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

func tailCommand(t *cli.Tool) *cobra.Command {
	sel := printing{count: 10}
	var follow bool
	var interval time.Duration
	cmd := &cobra.Command{
		Use:   "tail FILE [NTUPLE]",
		Short: "Print the last entries as JSON Lines, and follow a growing file",
		Long: `tail prints the last entries in the format of cat. -5 is short for -n 5.

With --follow, or -F, it continues with entries that a writer adds, as soon as they are
committed, until it is interrupted. If the file is replaced, it prints the remaining
entries of the old file, then all entries of the new one. -f is --fields, as in all
commands.`,
		Example: "  rnt tail -5 data.root\n  rnt tail -F data.root -f run,event | jq .",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && len(sel.fields) > 0 {
				return cli.UsageError("missing argument FILE; -f is --fields, use -F to follow a file")
			}
			return cli.FileArgs(2)(cmd, args)
		},
		ValidArgsFunction: cli.CompleteArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := selection.CheckFields(cmd, sel.fields); err != nil {
				return err
			}
			switch {
			case interval <= 0:
				return cli.UsageError("--interval must be positive")
			case follow && args[0] == "-":
				return cli.UsageError(cli.StdinName + ": cannot follow it")
			case follow && remote.IsURL(args[0]):
				return cli.UsageError("cannot follow a remote file")
			}
			return tail(cmd.Context(), t, args, sel, follow, interval)
		},
	}
	f := cmd.Flags()
	sel.fieldsFlag(cmd)
	f.VarP(&sel.count, "count", "n", "number of entries to print")
	f.BoolVarP(&follow, "follow", "F", false, "print new entries as they are written")
	f.DurationVar(&interval, "interval", time.Second, "interval between checks for new entries")
	return cmd
}

// A followed file is one whose entries tail prints.
type followed struct {
	r    *rntuple.Reader
	info os.FileInfo // of the open file; nil for one at a URL
	done int64       // entries that have been printed or passed over
}

func tail(ctx context.Context, t *cli.Tool, args []string, sel printing, follow bool, interval time.Duration) error {
	f, err := openFollowed(ctx, t, args)
	if err != nil {
		return err
	}
	defer func() { f.r.Close() }()
	source.WarnHidden(t, f.r, cli.Shown(args[0]), sel.fields)
	f.done = max(0, f.r.NumEntries()-int64(sel.count))
	if err := printNew(ctx, t, args[0], f, sel.fields); err != nil || !follow {
		return err
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		now, statErr := os.Stat(args[0]) // before Refresh, which then finds the last entries of a file that was replaced
		replaced := statErr == nil && !os.SameFile(now, f.info)
		fresh, err := f.r.Refresh()
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		if fresh != f.r {
			f.r = fresh
			if err := printNew(ctx, t, args[0], f, sel.fields); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(statErr, fs.ErrNotExist):
			return fmt.Errorf("%s: the file was removed", args[0])
		case replaced:
			t.Report.Note("%s: the file was replaced", args[0])
			next, err := openFollowed(ctx, t, args)
			if err != nil {
				return err
			}
			f.r.Close()
			f = next
			source.WarnHidden(t, f.r, args[0], sel.fields)
			if err := printNew(ctx, t, args[0], f, sel.fields); err != nil {
				return err
			}
		}
	}
}

// openFollowed opens the RNTuple that the arguments FILE [NTUPLE] name.
func openFollowed(ctx context.Context, t *cli.Tool, args []string) (*followed, error) {
	path, err := t.Input.Root(ctx, args[0])
	if err != nil {
		return nil, err
	}
	if remote.IsURL(path) {
		r, err := source.OpenRNTuple(ctx, t, args)
		return &followed{r: r}, err
	}
	for {
		before, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		r, err := source.OpenRNTuple(ctx, t, args)
		if err != nil {
			return nil, err
		}
		after, err := os.Stat(path)
		if err == nil && os.SameFile(before, after) {
			return &followed{r: r, info: before}, nil
		}
		r.Close()
		if err != nil {
			return nil, err
		}
	}
}

// printNew prints the entries that have not been printed yet, and flushes the output.
func printNew(ctx context.Context, t *cli.Tool, path string, f *followed, fields []string) error {
	view, err := viewOf(f.r, f.r.Schema(), cli.Shown(path), fields)
	if err != nil {
		return err
	}
	first := f.done
	f.done = f.r.NumEntries()
	if err := printEntries(ctx, t, cli.Shown(path), view, first, f.done); err != nil {
		return err
	}
	return t.Out.Flush()
}
