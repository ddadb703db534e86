package surgery

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-rntuple/go-rntuple/remote"
)

// errLevel says that a page needs a higher level than allowed.
var errLevel = errors.New("the level is not allowed")

// A Report describes the result of an operation.
type Report struct {
	Inputs        int
	InputEntries  int64 // of the inputs
	Entries       int64 // of the output
	Clusters      int64 // of the output that came from the inputs
	ClusterGroups int
	// Levels counts the pages of the inputs by level, including those of attribute sets, but not
	// those that stay in place.
	Levels [Rewrite + 1]Work
	// Dropped lists the projected fields that were dropped with their sources.
	Dropped []string
	// Omitted lists the top-level fields of other inputs that were dropped in the mode Filter
	// because the first input lacks them.
	Omitted []string
	// Without lists the input files of MergeAll without an RNTuple. It is set only in the first
	// report.
	Without []string
	// LeftBehind lists the objects in the input files that were not copied: other RNTuples, TTrees,
	// histograms and so on. Objects with the same path and class in several files are listed once.
	// MergeInto does not list objects in the file that it updates.
	LeftBehind []Object
	// Unlisted contains an error for each file with unreadable directories, whose objects may be
	// missing from LeftBehind. The error names the file.
	Unlisted []error
}

// Work counts pages of inputs.
type Work struct {
	Pages, Bytes int64 // as stored, with checksums
}

func (w *Work) add(pages, bytes int64) {
	w.Pages += pages
	w.Bytes += bytes
}

// String returns a summary in one line.
func (r *Report) String() string {
	text := fmt.Sprintf("%d inputs with %d entries; output: %d entries, %d clusters, %d cluster groups",
		r.Inputs, r.InputEntries, r.Entries, r.Clusters, r.ClusterGroups)
	addIf := func(holds bool, format string, args ...any) {
		if holds {
			text += fmt.Sprintf("; "+format, args...)
		}
	}
	for level, w := range r.Levels {
		addIf(w.Pages > 0, "%v: %d pages, %d bytes", Level(level), w.Pages, w.Bytes)
	}
	addIf(len(r.Dropped) > 0, "dropped: %s", strings.Join(r.Dropped, ", "))
	addIf(len(r.Omitted) > 0, "omitted: %s", strings.Join(r.Omitted, ", "))
	addIf(len(r.Without) > 0, "%d files without an RNTuple", len(r.Without))
	addIf(len(r.LeftBehind) > 0, "%d objects left behind", len(r.LeftBehind))
	addIf(len(r.Unlisted) > 0, "%d files whose objects could not be listed", len(r.Unlisted))
	return text
}

// An Object is an object in a ROOT file.
type Object struct {
	File  string // path of the file
	Path  string // in the file, with directories
	Class string
}

func (o Object) String() string {
	return fmt.Sprintf("%s:%s (%s)", remote.Redact(o.File), o.Path, o.Class)
}

// A Problem is a reason why an input cannot be merged with the others.
type Problem struct {
	Input   string
	Field   string // its path; empty if the problem concerns the entire input
	What    string
	Lacks   bool // a field is missing from an input, which the mode Union allows
	Clashes bool // another input has the name already, which HMergeOptions.Prefix can change
}

func (p Problem) String() string {
	if p.Field == "" {
		return fmt.Sprintf("%s: %s", p.Input, p.What)
	}
	return fmt.Sprintf("%s: field %q: %s", p.Input, p.Field, p.What)
}

// An IncompatibleError lists all reasons why inputs cannot be merged.
type IncompatibleError struct{ Problems []Problem }

// Error returns a message with a line for each problem.
func (e *IncompatibleError) Error() string {
	lines := []string{"the inputs are incompatible:"}
	for _, p := range e.Problems {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n\t")
}
