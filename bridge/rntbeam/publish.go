package rntbeam

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

// finish adds the steps that make files of what bundles have written. Between them are groupings,
// so that a step that is tried again gets the same again: all temporary files are complete when
// they are arranged, all outputs when the temporary files are removed.
func finish[T any](s beam.Scope, w writing, temporaries beam.PCollection) beam.PCollection {
	// One that is none, so that there is a group even if there are no bundles.
	temporaries = beam.Flatten(s, temporaries, beam.Create(s, Temporary{}))
	outputs := beam.ParDo(s, &arrangeFn{w}, beam.GroupByKey(s, beam.AddFixedKey(s, temporaries)))
	paths := beam.ParDo(s, &publishFn[T]{writing: w}, beam.Reshuffle(s, outputs))
	return beam.ParDo(s, &cleanFn{w}, beam.GroupByKey(s, beam.AddFixedKey(s, paths)))
}

// A publishFn makes outputs. It does no harm if that has been done before.
type publishFn[T any] struct{ writing }

func (f *publishFn[T]) ProcessElement(ctx context.Context, o Output, emit func(string)) error {
	if err := f.publish(ctx, o); err != nil {
		return failed("writing", o.Path, err)
	}
	filesWritten.Inc(ctx, 1)
	emit(o.Path)
	return nil
}

func (f *publishFn[T]) publish(ctx context.Context, o Output) error {
	if !remote.IsURL(o.Path) {
		if err := os.MkdirAll(filepath.Dir(o.Path), 0o777); err != nil {
			return err
		}
	}
	switch {
	case len(o.Pieces) == 0:
		b, err := createIn[T](o.Path, &f.writing, false)
		if err != nil {
			return err
		}
		return b.close()
	case !f.merges():
		return f.rename(o.Pieces[0], o.Path)
	}
	// the temporary files will be gone
	opts := surgery.Options{AtLeast: surgery.Copy, JoinClusters: f.Options.JoinClusters}
	var pieces []surgery.Piece
	for _, p := range o.Pieces {
		pieces = append(pieces, surgery.Piece{
			Input: surgery.Input{Path: p.File.Path, Name: f.Options.Name}, First: p.First, End: p.End, Check: p.File.Check,
		})
	}
	report, err := surgery.Concat(ctx, o.Path, pieces, &surgery.MergeOptions{Options: opts})
	if err != nil {
		return err
	}
	for level, work := range report.Levels {
		if surgery.Level(level) <= surgery.Copy {
			pagesCopied.Inc(ctx, work.Pages)
		} else {
			pagesRewritten.Inc(ctx, work.Pages)
		}
	}
	return nil
}

// rename gives a temporary file its name, unless it has it already.
func (f *publishFn[T]) rename(p Piece, path string) error {
	err := os.Rename(p.File.Path, path)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	t := Temporary{Path: path}
	if err := t.identify(f.Options.Name); err != nil {
		return err
	}
	if t.File.Content != p.File.Content || t.File.Size != p.File.Size {
		return fmt.Errorf("%s is lost: %w", p.File.Path, err)
	}
	return nil
}

// A cleanFn removes temporary files, those of bundles that have failed among them.
type cleanFn struct{ writing }

func (f *cleanFn) ProcessElement(_ context.Context, _ int, paths func(*string) bool, emit func(string)) error {
	if err := os.RemoveAll(f.Dir); err != nil {
		return err
	}
	if !remote.IsURL(f.Path) {
		if err := syncDir(filepath.Dir(f.Path)); err != nil {
			return err
		}
	}
	var path string
	for paths(&path) {
		emit(path)
	}
	return nil
}

// syncDir makes the names in a folder durable. Not all systems and file systems can sync a folder.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
