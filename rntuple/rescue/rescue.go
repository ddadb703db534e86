package rescue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"

	"github.com/go-rntuple/go-rntuple/internal/input"
	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// ErrNothing reports that there is nothing to save. No file is written then.
var ErrNothing = errors.New("nothing can be saved")

// Options configures what is saved. The zero value and a nil pointer select the defaults.
type Options struct {
	// Only is the path or the name of the only RNTuple to save. Default: all of them.
	Only string

	// KeepGoing also saves entries after lost ones, which changes their numbers. Otherwise, the
	// entries of each RNTuple up to the first lost one are saved.
	KeepGoing bool

	// NoSync, NoReplace and Upload configure how File writes the new file; see rntuple.FileOptions.
	// They must be zero for To.
	NoSync    bool
	NoReplace bool
	Upload    remote.Options

	// Limits bounds the memory that the file can require. Data that exceeds a limit is lost. Fields
	// that are 0 mean no limit other than those of the compression algorithms. EntryBytes and
	// ExpressionBytes have no effect, because no values are created.
	Limits rntuple.Limits

	// Remote configures how File reads URLs.
	Remote remote.Options
}

// check returns a copy of the options if they can be honoured.
func (o *Options) check() (c Options, err error) {
	c = *cmp.Or(o, new(Options))
	if l := c.Limits; l.PageBytes < 0 || l.EnvelopeBytes < 0 {
		return c, fmt.Errorf("rescue.Options: Limits %+v; limits must not be negative", l)
	}
	return c, nil
}

// A Report lists what was found, saved and lost.
type Report struct {
	// Container describes the damage of the ROOT file around the RNTuples. It is empty if the
	// file's header and directories are readable.
	Container string   `json:"container,omitempty"`
	Records   int      `json:"records"` // number of records found by the scan
	NTuples   []NTuple `json:"ntuples"`
	// Lost describes losses that cannot be attributed to an RNTuple.
	Lost []string `json:"lost,omitempty"`
	// Left lists the objects of other classes, which are not copied.
	Left []string `json:"left,omitempty"`
}

// An NTuple is the report about one RNTuple.
type NTuple struct {
	Path    string `json:"path"`    // in both files, unless directories were lost
	Found   string `json:"found"`   // a description of how it was found
	Entries int64  `json:"entries"` // original number of entries; -1 if unknown
	Saved   int64  `json:"saved"`   // number of saved entries
	// Kept contains the original numbers of the saved entries, in order. Their new numbers are
	// consecutive from 0.
	Kept []rntuple.EntryRange `json:"kept"`
	Lost []Loss               `json:"lost,omitempty"`
	// Missing describes what else is lost, or might be: attribute sets, fields.
	Missing []string `json:"missing,omitempty"`
	// Notes contains further remarks.
	Notes []string `json:"notes,omitempty"`
}

// A Loss is a range of entries that was not saved, with the reason. An End of -1 is unknown.
type Loss struct {
	rntuple.EntryRange
	Why string `json:"why"`
}

// Skipped reports whether the entries were not saved only because they follow lost ones. With
// Options.KeepGoing, the undamaged ones are saved.
func (l Loss) Skipped() bool { return l.Why == errBehind.Error() }

// Whole reports whether all entries of the RNTuple were saved and nothing else is known to be
// missing.
func (n *NTuple) Whole() bool {
	return n.Entries == n.Saved && len(n.Lost)+len(n.Missing)+len(n.Notes) == 0
}

// File saves the intact data of the file at path in to a new file at path out. An existing file at
// out is replaced when the new one is complete, unless o.NoReplace is set. out must not be the file
// at in, which is not modified.
//
// If an error occurs after the scan, File returns both a report and the error. The error wraps
// ErrNothing if there is nothing to save; other errors are those of options, of the files and of
// ctx.
func File(ctx context.Context, out, in string, o *Options) (*Report, error) {
	c, err := o.check()
	if err != nil {
		return nil, err
	}
	f, size, err := input.Open(ctx, location.Parse(in), false, c.Remote)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if local, ok := f.(*os.File); ok {
		info, err := local.Stat()
		if err != nil {
			return nil, err
		}
		if old, err := os.Stat(out); err == nil && os.SameFile(info, old) {
			return nil, fmt.Errorf("%s: is the damaged file itself, and would be overwritten", out)
		}
	}
	report, err := rescue(ctx, f, size, c,
		func(o *ntuple.WriteOptions) (*ntuple.File, error) { return ntuple.CreateFile(out, o) })
	if err != nil {
		err = fmt.Errorf("%s: %w", remote.Redact(in), err)
	}
	return report, err
}

// To writes the intact data of the file of size bytes that r reads to w, which must be empty; name
// is the file name that ROOT shows. After an error the contents of w are undefined. See File.
func To(ctx context.Context, w io.WriterAt, name string, r io.ReaderAt, size int64, o *Options) (*Report, error) {
	c, err := o.check()
	if err != nil {
		return nil, err
	}
	if c.NoSync || c.NoReplace || !reflect.ValueOf(c.Upload).IsZero() {
		return nil, errors.New("rescue.Options: NoSync, NoReplace and Upload are for File")
	}
	return rescue(ctx, r, size, c, func(o *ntuple.WriteOptions) (*ntuple.File, error) {
		return ntuple.NewFile(w, name,
			o)
	})
}

// rescue writes what is left to the file that create creates.
func rescue(ctx context.Context, r io.ReaderAt, size int64, c Options,
	create func(*ntuple.WriteOptions) (*ntuple.File, error)) (*Report, error) {
	found, err := search(ctx, r, size, c.Limits)
	if err != nil {
		return nil, err
	}
	report := &found.report
	jobs := found.jobs(c.Only)
	var saved []*salvage
	for _, j := range jobs {
		s, err := found.examine(ctx, j, c.KeepGoing)
		if err != nil {
			return report, err
		}
		report.NTuples = append(report.NTuples, s.result)
		if s.any() {
			saved = append(saved, s)
		}
	}
	switch {
	case len(saved) > 0:
		return report, found.write(ctx, saved, &c, create)
	case len(jobs) == 0 && c.Only != "":
		return report, fmt.Errorf("%w: there is no RNTuple %q, or its header is lost", ErrNothing, c.Only)
	case len(jobs) == 0:
		return report, fmt.Errorf("%w: there is no whole header of an RNTuple", ErrNothing)
	}
	return report, fmt.Errorf("%w: there is no whole cluster with its page list", ErrNothing)
}
