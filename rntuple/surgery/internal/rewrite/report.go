package rewrite

import (
	"errors"
	"fmt"

	"github.com/go-rntuple/go-rntuple/internal/pagecopy"
)

// ErrLevel says that a page needs a higher level than allowed.
var ErrLevel = errors.New("the level is not allowed")

// A Report says what a job has done; see surgery.Report.
type Report struct {
	Inputs        int
	InputEntries  int64
	Entries       int64
	Clusters      int64
	ClusterGroups int
	Levels        [pagecopy.Rewrite + 1]Work
	Dropped       []string
	Omitted       []string
	LeftBehind    []Object
	Unlisted      []error
}

// Work counts pages of inputs, and their bytes as stored, with checksums.
type Work struct{ Pages, Bytes int64 }

// Add adds a number of pages, with their bytes.
func (w *Work) Add(pages, bytes int64) {
	w.Pages += pages
	w.Bytes += bytes
}

// A Problem is a reason why an input cannot be merged.
type Problem struct {
	Input string
	Field string // its path; empty if the problem concerns the whole input
	What  string
	Lacks bool // an input lacks a field that another one has, which the mode Union allows
}

func (p Problem) String() string {
	if p.Field == "" {
		return fmt.Sprintf("%s: %s", p.Input, p.What)
	}
	return fmt.Sprintf("%s: field %q: %s", p.Input, p.Field, p.What)
}

// Problems is the error for inputs that do not go together. It lists all reasons.
type Problems []Problem

func (p Problems) Error() string { return fmt.Sprintf("%d problems, first: %v", len(p), p[0]) }
