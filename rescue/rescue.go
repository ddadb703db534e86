// Package rescue saves what is left of the RNTuples in a damaged ROOT file: one
// whose end is missing, whose writer crashed, or whose header, directories or
// anchors are broken. It writes a new file and never touches the damaged one.
//
// It trusts no bytes that it cannot prove. What proves a record is its checksum,
// and that page lists and footers name the checksum of their header. It needs
// nothing else: records are found by scanning the file.
//
//   - The header must be there; without it nobody knows what pages hold.
//   - The footer has the cluster groups. Of several, which checkpoints leave, the
//     newest that is whole counts.
//   - Page lists that no footer has, as they came after the last one, are found by
//     the scan, and continue the cluster groups where they fit without a choice.
//   - Pages are copied as they are. A cluster is saved if all of its pages are
//     there and pass their checksums.
//
// Pages that no page list describes are lost, though they may be whole. A page
// does not say which column it belongs to, nor how many elements it has. Even
// where the checksums tell where pages begin and end, and writers are known to
// write column by column, columns without elements have no pages and equal pages
// are stored once, so that several readings of the same bytes are possible.
// ROOT writes the page list of a cluster group behind its clusters, and all of a
// file is one group unless the writer asks for more: such a file whose end is
// missing has nothing to save.
//
// Fields added while the RNTuple was written are known to the footer only, and so
// are attribute sets; they are lost with it.
//
// What it does not do: RNTuples of pre-release formats are refused by name. Of
// several RNTuples with equal headers, only those are saved whose footer is left.
// Without an anchor, envelopes that are both compressed and spread over several
// keys are not found, and pages only if their maximal key size is the usual one,
// 1 GiB. A key counts if it stands where it says; so the file must begin where it
// began.
//
// Source: specification, sections "ROOT File embedding", "Envelopes", "Footer
// Envelope" and "Page List Envelope".
package rescue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
)

// ErrNothing says that a file has nothing that can be saved. No file is written
// then.
var ErrNothing = errors.New("nothing can be saved")

// Options says what to save. The zero value is useful.
type Options struct {
	// NTuple is the path or the name of the one RNTuple to save; empty: all.
	NTuple string

	// KeepGoing has entries behind lost ones saved, too. That gives them other
	// numbers than they had. Otherwise what is saved are the first entries.
	KeepGoing bool
}

// A Report says what was found, saved and lost.
type Report struct {
	// Container is what is wrong with the ROOT file around the RNTuples; empty
	// if its header and directories can be read.
	Container string   `json:"container,omitempty"`
	Records   int      `json:"records"` // that the scan has found
	NTuples   []NTuple `json:"ntuples"`
	// Lost is what belongs to none of the RNTuples.
	Lost []string `json:"lost,omitempty"`
	// Left are the objects of other classes, which are not copied.
	Left []string `json:"left,omitempty"`
}

// An NTuple is what the report says of an RNTuple.
type NTuple struct {
	Path    string `json:"path"`    // in both files, unless directories are lost
	Found   string `json:"found"`   // by what
	Entries int64  `json:"entries"` // that it had; -1: not known
	Saved   int64  `json:"saved"`   // entries
	// Kept are the saved entries, by their old numbers, in their old order. New
	// numbers count them from 0.
	Kept []Entries `json:"kept"`
	Lost []Loss    `json:"lost,omitempty"`
	// Notes is what else there is to know.
	Notes []string `json:"notes,omitempty"`
}

// Entries are those from First to End, End excluded.
type Entries struct {
	First int64 `json:"first"`
	End   int64 `json:"end"` // -1: not known
}

// A Loss is a range of entries that was not saved, and why.
type Loss struct {
	Entries
	Why string `json:"why"`
}

// Whole reports whether all entries that the RNTuple had were saved, and nothing
// else is known to be missing.
func (n *NTuple) Whole() bool { return n.Entries == n.Saved && len(n.Lost) == 0 && len(n.Notes) == 0 }

// File saves what is left of the file at path in as the new file at path out,
// which comes into being as a whole. The input is read only; it must not be the
// file at out.
//
// There is a report with any error that comes after the scan. The error wraps
// ErrNothing if there is nothing to save; others are those of files and of ctx.
func File(ctx context.Context, in, out string, opts Options) (*Report, error) {
	f, err := os.Open(in)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	old, err := os.Stat(out)
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file", in)
	case err == nil && os.SameFile(info, old):
		return nil, fmt.Errorf("%s: is the damaged file itself", out)
	}
	report, err := rescue(ctx, f, info.Size(), opts, func(o *ntuple.WriteOptions) (*ntuple.File, error) { return ntuple.CreateFile(out, o) })
	if err != nil {
		err = fmt.Errorf("%s: %w", in, err)
	}
	return report, err
}

// To saves what is left of the file of size bytes that r reads in w, which must
// be empty; name is the file name that ROOT shows. After an error w may have bytes
// of no use. See File.
func To(ctx context.Context, w io.WriterAt, name string, r io.ReaderAt, size int64, opts Options) (*Report, error) {
	return rescue(ctx, r, size, opts, func(o *ntuple.WriteOptions) (*ntuple.File, error) { return ntuple.NewFile(w, name, o) })
}

// rescue saves what is left in the file that create creates.
func rescue(ctx context.Context, r io.ReaderAt, size int64, opts Options, create func(*ntuple.WriteOptions) (*ntuple.File, error)) (*Report, error) {
	found, err := search(ctx, r, size)
	if err != nil {
		return nil, err
	}
	report := &found.report
	jobs := found.jobs(opts.NTuple)
	var saved []*salvage
	for _, j := range jobs {
		s, err := found.examine(ctx, j, opts.KeepGoing)
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
		return report, found.write(ctx, saved, create)
	case len(jobs) == 0 && opts.NTuple != "":
		return report, fmt.Errorf("%w: there is no RNTuple %q, or its header is lost", ErrNothing, opts.NTuple)
	case len(jobs) == 0:
		return report, fmt.Errorf("%w: there is no whole header of an RNTuple", ErrNothing)
	}
	return report, fmt.Errorf("%w: there is no whole cluster with its page list", ErrNothing)
}

// fallback is how envelopes are compressed where pages do not tell.
const fallback compress.Settings = 505
