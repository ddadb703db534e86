package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/foreign"
	"github.com/go-rntuple/go-rntuple/internal/disk/diskfile"
	"github.com/go-rntuple/go-rntuple/internal/disk/tempfile"
	"github.com/go-rntuple/go-rntuple/internal/input"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// stdinName is what messages call standard input.
const stdinName = "standard input"

// maxSpooled is the most bytes of standard input that are put into a temporary
// file.
const maxSpooled = 64 << 30

// shown returns how results name the file of an argument.
func shown(arg string) string {
	if arg == "-" {
		return stdinName
	}
	return remote.Redact(arg)
}

// input returns the path of the ROOT file that an argument names. For "-" that is a
// temporary file with everything from standard input, because the parts of an
// RNTuple cannot be read in the order in which they are stored.
func (t *tool) input(ctx context.Context, arg string) (string, error) {
	return t.inputOf(ctx, arg, true)
}

// inputOf is like input for files of any kind, unless they must be ROOT files. Those that are not and
// are far away are copied.
func (t *tool) inputOf(ctx context.Context, arg string, root bool) (string, error) {
	if remote.IsURL(arg) {
		if root || remote.IsObjects(arg) {
			return arg, nil
		}
		return t.copyOf(ctx, arg)
	}
	if arg != "-" || t.spooled != "" {
		if arg == "-" {
			arg = t.spooled
		}
		return arg, nil
	}
	if isTerminal(t.stdin) {
		return "", usageError("standard input is a terminal, not a file")
	}
	in := bufio.NewReader(t.interruptible(ctx))
	if head, err := in.Peek(4); root && string(head) != "root" && string(head) != "rntu" && (err == nil || errors.Is(err, io.EOF)) {
		return "", fmt.Errorf("%s: not a ROOT file", stdinName)
	}
	f, path, err := t.temporary()
	if err != nil {
		return "", err
	}
	t.spooled = path
	n, err := io.Copy(f, io.LimitReader(in, maxSpooled+1))
	if err == nil && n > maxSpooled {
		err = fmt.Errorf("more than %s; save it to a file first", size(maxSpooled))
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", stdinName, err)
	}
	return t.spooled, nil
}

// temporary makes a temporary file, which is gone when the tool ends, and returns a path to it.
func (t *tool) temporary() (*os.File, string, error) {
	f, path, err := nameless()
	if err != nil {
		if f, err = tempfile.Create(func() (*os.File, error) { return os.CreateTemp("", "rnt-*.root") }); err != nil {
			return nil, "", err
		}
		path = f.Name()
		t.named = append(t.named, path)
	}
	t.temporaries = append(t.temporaries, f)
	return f, path, nil
}

// open opens the RNTuple that the arguments FILE [NTUPLE] name.
func (t *tool) open(ctx context.Context, args []string) (*rntuple.Reader, error) {
	name := ""
	if len(args) > 1 {
		name = args[1]
		if name == "" {
			return nil, usageError("NTUPLE is empty")
		}
	}
	path, err := t.input(ctx, args[0])
	if err != nil {
		return nil, err
	}
	r, err := rntuple.Open(path, name, append(t.reading(), rntuple.Context(ctx))...)
	if err != nil {
		return nil, t.withKind(ctx, path, name, err)
	}
	return r, nil
}

// withKind returns an error of opening an RNTuple, and says what else the file is, if it is of another kind.
func (t *tool) withKind(ctx context.Context, path, name string, err error) error {
	if kind, _ := foreign.Detect(ctx, path, name, t.remote.options); kind != "" && kind != foreign.RNTuple {
		err = fmt.Errorf("%w; it is %s, of which rnt convert makes an RNTuple", err, kind.Title())
	}
	return err
}

// openFile opens the file that an argument names and returns its size.
func (t *tool) openFile(ctx context.Context, arg string) (input.File, int64, error) {
	path, err := t.input(ctx, arg)
	if err != nil {
		return nil, 0, err
	}
	return input.Open(ctx, path, false, t.remote.options)
}

// beginOutput makes sure that a command may make the file out, and notes that it
// does. The file must not be one of the inputs, under any name, and may exist only if
// force is set.
func (t *tool) beginOutput(ctx context.Context, out string, force bool, inputs ...string) error {
	t.uploads = remote.UploadOptions{Options: t.remote.options, Replace: force}
	err := t.checkOutput(ctx, out, force, inputs...)
	if err == nil {
		t.output.begin(newFile, out)
	}
	return err
}

// creating returns the options of the file for which beginOutput was called. Without --force, it replaces none that
// has appeared since then.
func (t *tool) creating() []rntuple.WriteOption {
	opts := []rntuple.WriteOption{rntuple.Upload(t.uploads)}
	if !t.uploads.Replace {
		opts = append(opts, rntuple.NoReplace())
	}
	return opts
}

// writeFile writes the file out, for which beginOutput was called. It appears once it is complete.
func (t *tool) writeFile(ctx context.Context, out string, b []byte) error {
	f, err := diskfile.Create(out, diskfile.Options{Context: ctx, Upload: t.uploads, Wait: t.wait, NoReplace: !t.uploads.Replace})
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteAt(b, 0); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := f.Publish(); err != nil {
		return err
	}
	t.output.done()
	return nil
}

func (t *tool) checkOutput(ctx context.Context, out string, force bool, inputs ...string) error {
	if out == "-" {
		return usageError("a ROOT file cannot be written to standard output")
	}
	if remote.IsURL(out) {
		return t.checkURL(ctx, out, force, inputs...)
	}
	if _, err := os.Lstat(out); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := checkNotInput(out, inputs...); err != nil {
		return err
	}
	info, err := os.Stat(out)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s: is a directory", out)
	case !force:
		return fmt.Errorf("%s: exists; --force replaces it", out)
	}
	return nil
}

// checkURL makes sure that the file at a URL can be made.
func (t *tool) checkURL(ctx context.Context, out string, force bool, inputs ...string) error {
	name := remote.Redact(out)
	if slices.Contains(inputs, out) {
		return fmt.Errorf("%s: is an input and would be overwritten", name)
	}
	if err := remote.CanUpload(out); err != nil || force {
		return err
	}
	there, err := remote.Exists(ctx, out, t.remote.options)
	if there {
		err = fmt.Errorf("%s: exists; --force replaces it", name)
	}
	return err
}

// checkNotInput makes sure that a file that is written to is not one of the inputs.
func checkNotInput(out string, inputs ...string) error {
	info, err := os.Stat(out)
	if err != nil {
		return nil
	}
	for _, in := range inputs {
		if other, err := os.Stat(in); err == nil && os.SameFile(info, other) {
			return fmt.Errorf("%s: is an input and would be overwritten", out)
		}
	}
	return nil
}
