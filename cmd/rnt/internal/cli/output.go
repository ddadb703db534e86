package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/disk/diskfile"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// An Output is the file that a command makes or changes. It makes sure that nothing is overwritten
// that must stay, and knows what to say about the file after a signal, of which it may be
// asked concurrently.
type Output struct {
	Wait    time.Duration // for how long to wait for others who write it
	input   *Input
	uploads remote.UploadOptions // if its name is a URL

	mu     sync.Mutex
	kind   outputKind
	path   string
	before os.FileInfo // of the file that was there, or nil

	committed bool // or about to be; nothing stops that any more
}

type outputKind int

const (
	noOutput outputKind = iota
	newFile             // made under another name, and then given its own
	parts               // several new files
	updated             // an existing file, changed where it is
)

// Begin makes sure that a command may make the file out, and notes that it does. The file
// must not be one of the inputs, under any name, and may exist only if force is set.
func (o *Output) Begin(ctx context.Context, out string, force bool, inputs ...string) error {
	o.uploads = remote.UploadOptions{Options: o.input.Remote(), Replace: force}
	err := o.Check(ctx, out, force, inputs...)
	if err == nil {
		o.note(newFile, out)
	}
	return err
}

// Update notes that a command changes a file where it is.
func (o *Output) Update(path string) { o.note(updated, path) }

// Split notes that a command makes several files whose names have the form of path.
func (o *Output) Split(path string) { o.note(parts, path) }

// note notes what the command is going to write.
func (o *Output) note(kind outputKind, path string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kind, o.path, o.committed = kind, path, false
	o.before, _ = os.Stat(path)
}

// Done says that it is written, so that a message need not tell its fate.
func (o *Output) Done() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kind = noOutput
}

// Options sets the options for the file that the command makes. Without --force, it replaces none
// that has appeared since Begin.
func (o *Output) Options(f *rntuple.FileOptions) {
	f.Upload, f.NoReplace = o.uploads.Options, !o.uploads.Replace && o.kind != updated
}

// Create makes the file out, for which begin was called, with what write writes. It appears once it
// is complete.
func (o *Output) Create(ctx context.Context, out string, noSync bool, write func(*diskfile.File) error) error {
	f, err := diskfile.Create(out, diskfile.Options{Context: ctx, NoSync: noSync, Upload: o.uploads, Wait: o.Wait,
		NoReplace: !o.uploads.Replace})
	if err != nil {
		return err
	}
	defer f.Close()
	if err := write(f); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := f.Publish(); err != nil {
		return err
	}
	o.Done()
	return nil
}

// WriteFile makes the file out of some bytes, as create does.
func (o *Output) WriteFile(ctx context.Context, out string, b []byte) error {
	return o.Create(ctx, out, false, func(f *diskfile.File) error {
		_, err := f.WriteAt(b, 0)
		return err
	})
}

// Check makes sure that a file can be made, as begin does.
func (o *Output) Check(ctx context.Context, out string, force bool, inputs ...string) error {
	if out == "-" {
		return UsageError("a ROOT file cannot be written to standard output")
	}
	if remote.IsURL(out) {
		return o.checkURL(ctx, out, force, inputs...)
	}
	if _, err := os.Lstat(out); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := CheckNotInput(out, inputs...); err != nil {
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
func (o *Output) checkURL(ctx context.Context, out string, force bool, inputs ...string) error {
	name := remote.Redact(out)
	if slices.Contains(inputs, out) {
		return fmt.Errorf("%s: is an input and would be overwritten", name)
	}
	if err := remote.CanUpload(out); err != nil || force {
		return err
	}
	there, err := remote.Exists(ctx, out, new(o.input.Remote()))
	if there {
		err = fmt.Errorf("%s: exists; --force replaces it", name)
	}
	return err
}

// CheckNotInput makes sure that a file that is written to is not one of the inputs.
func CheckNotInput(out string, inputs ...string) error {
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

// commit says that the file at path is about to be committed. What is uploaded can still
// be interrupted, and parts are not complete with the first.
func (o *Output) commit(path string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if path == o.path && !remote.IsURL(path) && (o.kind == newFile || o.kind == updated) {
		o.committed = true
	}
}

func (o *Output) isCommitted() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.committed
}

// fate says, for the message after a signal, what has become of the output. The
// command is still running if running is set.
func (o *Output) fate(running bool) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	now, err := os.Stat(o.path)
	replaced := err == nil && (o.before == nil || !os.SameFile(o.before, now))
	switch name := schema.Printable(remote.Redact(o.path)); {
	case o.kind == newFile && remote.IsURL(o.path):
		return fmt.Sprintf("; %s is either complete or was not written", name)
	case o.kind == newFile && !replaced:
		return fmt.Sprintf("; %s was not written", name)
	case o.kind == parts && !running:
		return fmt.Sprintf("; %s were not written", name)
	case o.kind == parts:
		return fmt.Sprintf("; some of %s might have been written", name)
	case o.kind == updated && !running && !o.committed:
		return fmt.Sprintf("; %s is unchanged", name)
	case o.kind == updated:
		return fmt.Sprintf("; %s is either unchanged or complete", name)
	}
	return ""
}
