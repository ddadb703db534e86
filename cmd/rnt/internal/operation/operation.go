package operation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

// Run runs an operation of package surgery with a progress bar, and warns of what was not copied
// from the files of the inputs. It sets those of the operation's options that are alike for all:
// how the inputs are read, how the output is uploaded and what it may replace. Filtering says that
// a flag leaves out fields that the first input lacks.
func Run(ctx context.Context, t *cli.Tool, filtering bool, o *surgery.Options,
	do func() (*surgery.Report, error)) (*surgery.Report, error) {
	bar := t.Report.ByteBar()
	fast := o.Read.SkipChecksums
	o.Read, o.Progress = *t.Input.Options(ctx), bar.Set
	o.Read.SkipChecksums = fast
	t.Output.Options(&o.Write.File)
	report, err := do()
	bar.Done()
	if err == nil {
		t.Output.Done()
		warnLeft(t.Report, report, filtering)
	}
	return report, err
}

// warnLeft prints which fields and objects in the files of the inputs were not copied, the objects
// in a line for each file, and which files could not be searched for them.
func warnLeft(t *cli.Reporter, report *surgery.Report, filtering bool) {
	for _, err := range report.Unlisted {
		t.Warn("other objects might not have been copied: %v", err)
	}
	for _, file := range report.Without {
		t.Leave("%s: not copied: the file contains no RNTuple", remote.Redact(file))
	}
	t.Omit(report.Omitted, filtering)
	objects := report.LeftBehind
	for len(objects) > 0 {
		file := objects[0].File
		ofFile := func(o surgery.Object) bool { return o.File == file }
		var names []string
		for _, o := range objects {
			if ofFile(o) {
				names = append(names, nameOfObject(o))
			}
		}
		t.Warn("%s: not copied: %s", remote.Redact(file), strings.Join(cli.Abridged(names, "objects"), ", "))
		objects = slices.DeleteFunc(slices.Clone(objects), ofFile)
	}
}

func nameOfObject(o surgery.Object) string {
	class := o.Class
	if anchor.IsClass(class) {
		class = "RNTuple"
	}
	return fmt.Sprintf("%s %q", class, o.Path)
}

// Options returns the options of package surgery that the flags stand for.
func Options(w *cli.WriteFlags) (o surgery.Options, err error) {
	o.Write.ClusterSize, o.Write.File = w.ClusterSize, w.Durability.Options()
	if w.Compression != "" {
		o.Write.Compression, err = cli.ParseCompression(w.Compression)
	}
	return o, err
}

// Advice for lacking.
const (
	AdviseUnion  = "use --mode union to keep the fields of all files, with zeros where a file lacks one"
	AdviseFields = "use --fields to select fields that all files have"
)

// Lacking adds advice to an error, if that says that a file lacks a field that another one has, and
// the field was not chosen by --fields.
func Lacking(err error, advice string, chosen ...string) error {
	var inputs *surgery.IncompatibleError
	var chain *rntuple.SchemaError
	if len(chosen) > 0 {
		return err
	}
	if errors.As(err, &inputs) && slices.ContainsFunc(inputs.Problems, func(p surgery.Problem) bool { return p.Lacks }) ||
		errors.As(err, &chain) && slices.ContainsFunc(chain.Differences,
			func(d rntuple.Difference) bool { return d.Have == "" }) {
		return fmt.Errorf("%w\n%s", err, advice)
	}
	return err
}
