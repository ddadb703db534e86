package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/disk/regular"
	"github.com/go-rntuple/go-rntuple/internal/parallel"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

// skippedSuffix is what the list of the files that were left out is called, behind the name of OUT.
const skippedSuffix = ".skipped.json"

// skipBadHelp is for commands with skipBadFlag.
const skipBadHelp = `--skip-bad leaves out files that cannot be opened or read, or are damaged. It names them
at the end, with the reasons, and in the list OUT.skipped.json, and ends with status 3.
OUT has no entry of them: when a file turns out to be bad while it is read, the command
begins anew without it.`

// skipBadFlag adds the flag --skip-bad.
func skipBadFlag(cmd *cobra.Command, skip *bool) {
	cmd.Flags().BoolVar(skip, "skip-bad", false, "leave out files that cannot be read, name them, and end with status 3")
}

// A badFile is a file that was left out.
type badFile struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// A skippedError says which files a command has left out of an output that is otherwise complete.
type skippedError struct {
	Files   int       `json:"files"` // that were named
	Skipped []badFile `json:"skipped"`
}

func (e skippedError) Error() string {
	text := fmt.Sprintf("skipped %d of %s:", len(e.Skipped), plural(e.Files, "file"))
	for _, f := range e.Skipped {
		text += "\n\t" + f.File + ": " + f.Reason
	}
	return text
}

// badFiles says how to leave out files.
type badFiles struct {
	skip  bool                    // otherwise they are errors
	out   string                  // the file that is made, or "" or "-"
	force bool                    // replace the list
	open  func(path string) error // reads what every file must have
}

// bad returns badFiles for RNTuples of a name.
func (t *tool) bad(ctx context.Context, skip bool, out string, force bool, name string) badFiles {
	return badFiles{skip, out, force, func(path string) error {
		r, err := rntuple.Open(path, name, append(t.reading(), rntuple.Context(ctx))...)
		if err != nil {
			return err
		}
		return r.Close()
	}}
}

// without calls do with files, and without those that are bad if they are to be left out: those that cannot be
// opened from the start; after do has failed because of another, it is called again without that. Then do must
// have left nothing behind. The error is a skippedError if files were left out of what do has made.
func (t *tool) without(ctx context.Context, b badFiles, files []string, do func(files []string) error) error {
	if !b.skip {
		return do(files)
	}
	list := b.out + skippedSuffix
	switch {
	case slices.Contains(files, "-"), t.spooled != "":
		return usageError("--skip-bad takes no standard input")
	case b.out == "-":
		return usageError("--skip-bad writes no standard output: entries of a file may have been printed when it turns out to be bad")
	case remote.IsURL(b.out) && strings.ContainsAny(b.out, "?#"):
		return usageError("--skip-bad makes the file OUT" + skippedSuffix + ", and the URL of OUT has a query")
	case b.out != "":
		if err := t.checkOutput(ctx, list, b.force, files...); err != nil {
			return err
		}
	}
	failed := make([]error, len(files))
	err := parallel.Do(min(8, len(files)), len(files), func(i int) error {
		if err := b.open(files[i]); err != nil {
			failed[i] = &rntuple.InputError{Index: i, Path: files[i], Err: err}
		}
		return context.Cause(ctx)
	})
	if err != nil {
		return err
	}
	left := files
	for i, err := range failed {
		if err == nil || !slices.Contains(left, files[i]) { // it was named twice
			continue
		}
		if left, err = t.leaveOut(ctx, left, err); err != nil {
			return withPath(err)
		}
	}
	for len(left) > 0 {
		err := do(left)
		if err == nil {
			return t.listSkipped(ctx, b.out, b.force, skippedError{len(files), t.skipped})
		}
		if left, err = t.leaveOut(ctx, left, err); err != nil {
			return err
		}
		last := t.skipped[len(t.skipped)-1]
		t.note("%s: %s; beginning anew without it", last.File, last.Reason)
	}
	return fmt.Errorf("no file is left: %v", skippedError{len(files), t.skipped})
}

// leaveOut returns files without the one that an error says is bad; otherwise the error.
func (t *tool) leaveOut(ctx context.Context, files []string, err error) ([]string, error) {
	var in *rntuple.InputError
	if ctx.Err() != nil || !errors.As(err, &in) || !isBad(in) || !slices.Contains(files, in.Path) {
		return nil, err
	}
	name := remote.Redact(in.Path)
	reason := strings.TrimPrefix(strings.ReplaceAll(in.Err.Error(), "\n", "; "), name+": ")
	var left []string
	for _, f := range files {
		if f == in.Path { // each time that it was named, so that the numbers add up
			t.skipped = append(t.skipped, badFile{name, reason})
		} else {
			left = append(left, f)
		}
	}
	return left, nil
}

// isBad reports whether an error is the fault of the input that it is about: the file cannot be opened or read, or
// is damaged. What is the fault of the machine, of the output, of a limit, or of an expression is not.
func isBad(err *rntuple.InputError) bool {
	for _, full := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOSPC, syscall.EDQUOT} {
		if errors.Is(err, full) {
			return false
		}
	}
	for _, fault := range []error{rntuple.ErrCorrupt, rntuple.ErrChecksum, rntuple.ErrUnsupported, rntuple.ErrNotFound, io.ErrUnexpectedEOF} {
		if errors.Is(err, fault) {
			return !errors.As(err, new(*frame.LimitError))
		}
	}
	var local *fs.PathError
	if errors.As(err, &local) {
		return local.Path == err.Path
	}
	var odd *regular.Error // a folder, or a pipe
	if errors.As(err, &odd) {
		return odd.Path == err.Path
	}
	return errors.As(err, new(*remote.Error))
}

// listSkipped makes the list beside the file out, if there is one, also if no file was left out.
func (t *tool) listSkipped(ctx context.Context, out string, force bool, e skippedError) error {
	if out != "" {
		list := out + skippedSuffix
		e.Skipped = append([]badFile{}, e.Skipped...) // not null
		b, err := json.MarshalIndent(e, "", "  ")
		if err == nil {
			err = t.beginOutput(ctx, list, force)
		}
		if err == nil {
			err = t.writeFile(ctx, list, append(b, '\n'))
		}
		if err != nil {
			return fmt.Errorf("%w\n%v", err, e)
		}
	}
	if len(e.Skipped) == 0 {
		return nil
	}
	return e
}

// inputsOf returns the RNTuples of a name in files.
func inputsOf(files []string, name string) []surgery.Input {
	inputs := make([]surgery.Input, len(files))
	for i, path := range files {
		inputs[i] = surgery.Input{Path: path, Name: name}
	}
	return inputs
}
