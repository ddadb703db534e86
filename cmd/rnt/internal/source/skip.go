package source

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

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/disk/regular"
	"github.com/go-rntuple/go-rntuple/internal/parallel"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// skippedSuffix is what the list of the files that were left out is called, behind the name of OUT.
const skippedSuffix = ".skipped.json"

// SkipBadHelp is for commands with SkipBadFlag.
const SkipBadHelp = `--skip-bad skips files that cannot be opened or read, or are damaged. It lists them with
the reasons at the end and in the file OUT.skipped.json, and the exit status is 3. OUT
contains no entry of a skipped file: if a file turns out to be bad while it is read, the
command restarts without it.`

// SkipBadFlag adds the flag --skip-bad.
func SkipBadFlag(cmd *cobra.Command, skip *bool) {
	cmd.Flags().BoolVar(skip, "skip-bad", false, "skip files that cannot be read, list them, and exit with status 3")
}

// A BadFile is a file that was left out.
type BadFile struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// A skippedError says which files a command has left out of an output that is otherwise complete.
type skippedError struct {
	Files   int       `json:"files"` // that were named
	Skipped []BadFile `json:"skipped"`
}

func (e skippedError) Error() string {
	lines := fmt.Sprintf("skipped %d of %s:", len(e.Skipped), text.Plural(e.Files, "file"))
	for _, f := range e.Skipped {
		lines += "\n\t" + f.File + ": " + f.Reason
	}
	return lines
}

// BadFiles leaves out files that are bad.
type BadFiles struct {
	Skip    bool                    // otherwise they are errors
	Out     string                  // the file that is made, or "" or "-"
	Force   bool                    // replace the list
	Open    func(path string) error // reads what every file must have; nil: an RNTuple called Name
	Name    string
	Skipped []BadFile // so far
}

// Without calls do with files, and without those that are bad if they are to be left out: those
// that cannot be opened from the start; after do has failed because of another, it is called again
// without that. Then do must have left nothing behind. The error has cli.ExitSkipped if files were
// left out of what do has made.
func (b *BadFiles) Without(ctx context.Context, t *cli.Tool, files []string, do func(files []string) error) error {
	if !b.Skip {
		return do(files)
	}
	list := b.Out + skippedSuffix
	switch {
	case slices.Contains(files, "-"), t.Input.IsSpooled():
		return cli.UsageError("--skip-bad cannot read standard input")
	case b.Out == "-":
		return cli.UsageError("--skip-bad cannot write to standard output: it may need to restart")
	case remote.IsURL(b.Out) && strings.ContainsAny(b.Out, "?#"):
		return cli.UsageError("--skip-bad writes OUT" + skippedSuffix + ", but the URL of OUT has a query")
	case b.Out != "":
		if err := t.Output.Check(ctx, list, b.Force, files...); err != nil {
			return err
		}
	}
	open := b.Open
	if open == nil {
		open = func(path string) error {
			r, err := rntuple.Open(path, b.Name, t.Input.Options(ctx))
			if err != nil {
				return err
			}
			return r.Close()
		}
	}
	failed := make([]error, len(files))
	err := parallel.Do(min(8, len(files)), len(files), func(i int) error {
		if err := open(files[i]); err != nil {
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
		if left, err = b.leaveOut(ctx, left, err); err != nil {
			return WithPath(err)
		}
	}
	for len(left) > 0 {
		err := do(left)
		if err == nil {
			return b.list(ctx, t, list, skippedError{len(files), b.Skipped})
		}
		if left, err = b.leaveOut(ctx, left, err); err != nil {
			return err
		}
		last := b.Skipped[len(b.Skipped)-1]
		t.Report.Note("%s: %s; restarting without it", last.File, last.Reason)
	}
	return fmt.Errorf("all files are bad: %v", skippedError{len(files), b.Skipped})
}

// leaveOut returns files without the one that an error says is bad; otherwise the error.
func (b *BadFiles) leaveOut(ctx context.Context, files []string, err error) ([]string, error) {
	var in *rntuple.InputError
	if ctx.Err() != nil || !errors.As(err, &in) || !isBad(in) || !slices.Contains(files, in.Path) {
		return nil, err
	}
	name := remote.Redact(in.Path)
	reason := strings.TrimPrefix(strings.ReplaceAll(in.Err.Error(), "\n", "; "), name+": ")
	var left []string
	for _, f := range files {
		if f == in.Path { // each time that it was named, so that the numbers add up
			b.Skipped = append(b.Skipped, BadFile{name, reason})
		} else {
			left = append(left, f)
		}
	}
	return left, nil
}

// isBad reports whether an error is the fault of the input that it is about: the file cannot be
// opened or read, or is damaged. What is the fault of the machine, of the output, of a limit, or of
// an expression is not.
func isBad(err *rntuple.InputError) bool {
	for _, full := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOSPC, syscall.EDQUOT} {
		if errors.Is(err, full) {
			return false
		}
	}
	for _, fault := range []error{rntuple.ErrCorrupt, rntuple.ErrChecksum, rntuple.ErrUnsupported,
		rntuple.ErrNotFound, io.ErrUnexpectedEOF} {
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

// list makes the list, if there is a file for it to be beside, also if no file was left out.
func (b *BadFiles) list(ctx context.Context, t *cli.Tool, list string, e skippedError) error {
	if b.Out != "" {
		e.Skipped = append([]BadFile{}, e.Skipped...) // not null
		text, err := json.MarshalIndent(e, "", "  ")
		if err == nil {
			err = t.Output.Begin(ctx, list, b.Force)
		}
		if err == nil {
			err = t.Output.WriteFile(ctx, list, append(text, '\n'))
		}
		if err != nil {
			return fmt.Errorf("%w\n%v", err, e)
		}
	}
	if len(e.Skipped) == 0 {
		return nil
	}
	return &cli.StatusError{Err: e, Status: cli.ExitSkipped, Done: true}
}
