package surgery

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-rntuple/go-rntuple/internal/pagecopy"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery/internal/rewrite"
)

// An Input names an RNTuple in a file, as rntuple.Open does.
type Input struct {
	Path string
	Name string // may be empty if there is one at the top level of the file
}

func (i Input) String() string { return rewrite.Input(i).String() }

// inputsOf returns inputs as the engine takes them.
func inputsOf(inputs ...Input) []rewrite.Input {
	all := make([]rewrite.Input, len(inputs))
	for i, in := range inputs {
		all[i] = rewrite.Input(in)
	}
	return all
}

// A Level is how much is done to a page. The numbers are those of ROOT's document.
type Level uint8

const (
	Clone      Level = iota // the file system makes the output share blocks on disk with the input
	Copy                    // the bytes are copied as they are stored
	Recompress              // decompressed and compressed
	Reseal                  // also decoded and encoded, with the same elements
	Rewrite                 // the elements are written to new pages and clusters
)

func (l Level) String() string { return pagecopy.Level(l).String() }

// ParseLevel returns the level of a name, "copy", or number, "L1" or "1". Clone is also
// called "share".
func ParseLevel(s string) (Level, error) {
	if strings.EqualFold(s, "share") {
		return Clone, nil
	}
	var names []string
	for l := Clone; l <= Rewrite; l++ {
		names = append(names, l.String())
		if number := fmt.Sprint(uint8(l)); strings.EqualFold(s, l.String()) || s == number || strings.EqualFold(s, "L"+number) {
			return l, nil
		}
	}
	return 0, fmt.Errorf("unknown level %q; there are %s", s, strings.Join(names, ", "))
}

// A Mode says what becomes of the top-level fields that not all inputs have.
type Mode uint8

const (
	// Filter takes the fields of the first input, which all others must have.
	Filter Mode = iota
	// Strict requires the same fields in all inputs.
	Strict
	// Union takes the fields of all inputs. Entries of an input that lacks a field have
	// zeros there: 0, false, empty collections and strings, variants without a value.
	Union
)

var modeNames = [...]string{"filter", "strict", "union"}

func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// ParseMode returns the mode of a name.
func ParseMode(s string) (Mode, error) {
	for i, name := range modeNames {
		if strings.EqualFold(s, name) {
			return Mode(i), nil
		}
	}
	return 0, fmt.Errorf("unknown mode %q; there are %s", s, strings.Join(modeNames[:], ", "))
}

// A Report says what was done.
type Report struct {
	Inputs        int
	InputEntries  int64 // of the inputs
	Entries       int64 // of the output
	Clusters      int64 // of the output that came from the inputs
	ClusterGroups int
	// Levels counts what was done to the pages of the inputs, including those of
	// attribute sets, but not to those that stay in place.
	Levels [Rewrite + 1]Work
	// Dropped lists the projected fields that were dropped with their sources.
	Dropped []string
	// Omitted lists the top-level fields of other inputs that the output does not have
	// because the first input lacks them, as the mode Filter wants it.
	Omitted []string
	// Without lists the files without an RNTuple, of which MergeAll has taken nothing. Of the
	// reports of MergeAll, the first one has them.
	Without []string
	// LeftBehind lists the objects in the files of the inputs that the output does not
	// have: other RNTuples, TTrees, histograms and so on. Objects of the same path and
	// class in several files are listed once. MergeInto lists those of the files that
	// are added.
	LeftBehind []Object
	// Unlisted has an error for each file whose directories could not all be read, so
	// that LeftBehind may lack some of its objects. The error names the file.
	Unlisted []error
}

// Work counts pages of inputs.
type Work struct {
	Pages, Bytes int64 // as stored, with checksums
}

// String returns a line that says what was done.
func (r *Report) String() string {
	text := fmt.Sprintf("%d inputs with %d entries; output: %d entries, %d clusters, %d cluster groups",
		r.Inputs, r.InputEntries, r.Entries, r.Clusters, r.ClusterGroups)
	for level, w := range r.Levels {
		if w.Pages > 0 {
			text += fmt.Sprintf("; %v: %d pages, %d bytes", Level(level), w.Pages, w.Bytes)
		}
	}
	if len(r.Dropped) > 0 {
		text += "; dropped: " + strings.Join(r.Dropped, ", ")
	}
	if len(r.Omitted) > 0 {
		text += "; omitted: " + strings.Join(r.Omitted, ", ")
	}
	if n := len(r.Without); n > 0 {
		text += fmt.Sprintf("; %d files without an RNTuple", n)
	}
	if n := len(r.LeftBehind); n > 0 {
		text += fmt.Sprintf("; %d objects left behind", n)
	}
	if n := len(r.Unlisted); n > 0 {
		text += fmt.Sprintf("; %d files whose objects could not be listed", n)
	}
	return text
}

func reportOf(r *rewrite.Report) *Report {
	report := &Report{
		Inputs: r.Inputs, InputEntries: r.InputEntries, Entries: r.Entries,
		Clusters: r.Clusters, ClusterGroups: r.ClusterGroups, Dropped: r.Dropped, Omitted: r.Omitted, Unlisted: r.Unlisted,
	}
	for l, work := range r.Levels {
		report.Levels[l] = Work(work)
	}
	for _, o := range r.LeftBehind {
		report.LeftBehind = append(report.LeftBehind, Object(o))
	}
	return report
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

// A Problem is a reason why an input cannot be merged.
type Problem struct {
	Input string
	Field string // its path; empty if the problem concerns the whole input
	What  string
	Lacks bool // an input lacks a field that another one has, which the mode Union allows
}

func (p Problem) String() string { return rewrite.Problem(p).String() }

// An IncompatibleError lists all reasons why inputs cannot be merged.
type IncompatibleError struct{ Problems []Problem }

// Error returns a message that has a line for each problem.
func (e *IncompatibleError) Error() string {
	lines := []string{"the inputs do not go together:"}
	for _, p := range e.Problems {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n\t")
}

// errorOf returns an error of the engine as this package documents it.
func errorOf(err error) error {
	var problems rewrite.Problems
	if !errors.As(err, &problems) {
		return err
	}
	e := &IncompatibleError{}
	for _, p := range problems {
		e.Problems = append(e.Problems, Problem(p))
	}
	return e
}
