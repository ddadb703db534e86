package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/input"
	"github.com/go-rntuple/go-rntuple/internal/location"
	inside "github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A Check names the kind of check that found a problem.
type Check string

// The kinds of checks.
const (
	Container  Check = "container"  // the ROOT file: header, directories, keys, free segments
	Anchor     Check = "anchor"     // the object that locates the header and footer
	Envelope   Check = "envelope"   // integrity of header, footer and page lists
	Schema     Check = "schema"     // fields and columns
	Clusters   Check = "clusters"   // cluster groups, clusters and their entries
	Locators   Check = "locators"   // positions of envelopes and pages
	Pages      Check = "pages"      // checksums, decompression and sizes of pages
	Elements   Check = "elements"   // numbers of elements, suppressed and deferred columns
	Values     Check = "values"     // values that are inconsistent with other values or their type
	Attributes Check = "attributes" // linked attribute sets
)

// A Severity distinguishes damage from harmless oddities.
type Severity int

const (
	// Damage means that data cannot be read, may be read incorrectly or may be missing, or that
	// bytes differ from what any known program writes. It includes the kinds "unsupported" and "not
	// found", see Problem.Kind.
	Damage Severity = iota

	// Oddity means that ROOT and this library can still read everything. Some programs write such
	// files: uproot, for example, allocates longer lists of keys than needed.
	Oddity
)

// String returns "damage" or "oddity".
func (s Severity) String() string {
	if s == Oddity {
		return "oddity"
	}
	return "damage"
}

// MarshalText returns String.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText accepts what MarshalText returns.
func (s *Severity) UnmarshalText(text []byte) error {
	for *s = Damage; *s <= Oddity; *s++ {
		if s.String() == string(text) {
			return nil
		}
	}
	return fmt.Errorf("verify: unknown severity %q", text)
}

// A Problem is a defect or an oddity of a file.
type Problem struct {
	Severity Severity

	File    string // path as given to File
	RNTuple string // path in the file, with the cycle; empty for the container
	Part    string // "header", "key of the directory x"; empty for clusters, columns and pages
	Cluster int    // -1 if not specific to one cluster
	Column  int    // -1 if not specific to one column
	Field   string // its path; empty if not specific to one field
	Page    int    // number within the column and cluster; -1 if not specific to one page
	Offset  int64  // file offset of the Part or Page in bytes; -1 if there is no single position
	Check   Check
	// Err wraps one of the errors documented in package rntuple, or is an error of the io.ReaderAt.
	// For an Oddity, it is only a description.
	Err error
}

// Path returns the location of the problem, without the file and the offset.
func (p Problem) Path() string {
	var parts []string
	addIf := func(known bool, format string, v any) {
		if known {
			parts = append(parts, fmt.Sprintf(format, v))
		}
	}
	addIf(p.RNTuple != "", "RNTuple %q", p.RNTuple)
	addIf(p.Part != "", "%s", p.Part)
	addIf(p.Cluster >= 0, "cluster %d", p.Cluster)
	addIf(p.Column >= 0, "column %d", p.Column)
	addIf(p.Field != "", "field %q", p.Field)
	addIf(p.Page >= 0, "page %d", p.Page)
	return strings.Join(parts, ", ")
}

// String returns the problem as one line, without the file.
func (p Problem) String() string {
	where := p.Path()
	if p.Offset >= 0 {
		where += fmt.Sprintf(" at offset %#x", p.Offset)
	}
	return fmt.Sprintf("%s: %v", where, p.Err)
}

// Kind returns the kind of problem: "oddity"; "corrupt"; "checksum"; "range" for a value out of the
// range of its field; "unsupported" for data that is newer than this library or exceeds one of its
// limits; "not found" if there is no RNTuple; otherwise "read error".
func (p Problem) Kind() string {
	switch {
	case p.Severity == Oddity:
		return "oddity"
	case errors.Is(p.Err, frame.ErrChecksum):
		return "checksum"
	case errors.Is(p.Err, frame.ErrCorrupt):
		return "corrupt"
	case errors.Is(p.Err, frame.ErrUnsupported):
		return "unsupported"
	case errors.Is(p.Err, column.ErrRange):
		return "range"
	case errors.Is(p.Err, rntuple.ErrNotFound):
		return "not found"
	}
	return "read error"
}

// A Summary counts what was checked.
type Summary struct {
	RNTuples  int // including attribute sets and older cycles
	Records   int // records with a key, listed in a directory or not
	Envelopes int // headers, footers, page lists
	Clusters  int
	Pages     int64 // including pages that share their bytes with others
	Bytes     int64 // stored size of envelopes and pages, shared bytes counted once
	Unsummed  int64 // pages without a checksum
	Problems  int64 // damage, including unreported
	Oddities  int64 // including unreported; not included in Problems

	// Skipped describes what was deliberately not checked, and why.
	Skipped []string
}

// Options configures how a file is checked. The zero value and a nil pointer select the defaults.
type Options struct {
	// Workers is the number of goroutines that check pages. The order of problems does not depend
	// on it. Default: runtime.GOMAXPROCS(0).
	Workers int

	// Limits bounds the memory that checking can require, as for readers; exceeding a limit is a
	// problem. EntryBytes and ExpressionBytes have no effect, because no values are created.
	Limits rntuple.Limits

	// MaxProblems is the maximum number of problems reported per Check, Severity and RNTuple; if
	// there are more, a final report states their number. Default: 20.
	MaxProblems int

	// Progress, if set, is called periodically with the number of bytes checked so far and the size
	// of the file, or -1 for objects. Not all bytes may need checking. Calls do not overlap.
	Progress func(done, total int64)

	// Remote configures how File reads URLs.
	Remote remote.Options
}

// defaults returns the options with defaults for those that are not set.
func (o *Options) defaults() (c Options, err error) {
	c = *cmp.Or(o, new(Options))
	if l := c.Limits; c.Workers < 0 || c.MaxProblems < 0 || l.PageBytes < 0 || l.EnvelopeBytes < 0 {
		return c, fmt.Errorf("verify.Options: Workers %d, MaxProblems %d, Limits %+v; the numbers must not be negative",
			c.Workers, c.MaxProblems, l)
	}
	c.Workers, c.MaxProblems = cmp.Or(c.Workers, runtime.GOMAXPROCS(0)), cmp.Or(c.MaxProblems, 20)
	return c, nil
}

// File checks the file at path, which may be a URL, and calls report for each problem, in a
// deterministic order. A file is sound if Summary.Problems is 0; oddities, which are also reported,
// are harmless. See ReaderAt for the errors.
func File(ctx context.Context, path string, report func(Problem) error, o *Options) (*Summary, error) {
	c, err := o.defaults()
	if err != nil {
		return nil, err
	}
	at := location.Parse(path)
	file := at.String()
	named := func(p Problem) error {
		p.File = file
		return report(p)
	}
	if at.IsObjects() {
		return objects(ctx, c, at, named)
	}
	r, size, err := input.Open(ctx, at, true, c.Remote)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return check(ctx, c, r, size, named)
}

// ReaderAt checks the file of size bytes that r reads, and calls report for each problem. r must be
// safe for concurrent use. A file that is not a ROOT file, or that contains no RNTuple, is a
// problem, too.
//
// An error means that the check was not completed: it is an error of report, of an option or of
// ctx.
func ReaderAt(ctx context.Context, r io.ReaderAt, size int64, report func(Problem) error,
	o *Options) (*Summary, error) {
	c, err := o.defaults()
	if err != nil {
		return nil, err
	}
	return check(ctx, c, r, size, report)
}

func check(ctx context.Context, c Options, r io.ReaderAt, size int64, report func(Problem) error) (*Summary, error) {
	c.Limits = c.Limits.For(size)
	v := newVerifier(ctx, c, r, size, report)
	v.run()
	v.more()
	return &v.summary, v.stopped()
}

func newVerifier(ctx context.Context, c Options, r io.ReaderAt, size int64, report func(Problem) error) *verifier {
	return &verifier{Options: c, ctx: ctx, r: r, size: size, callback: report, counts: map[kind]int64{},
		lists: map[listKey]bool{}}
}

// A verifier checks one file.
type verifier struct {
	Options
	ctx      context.Context
	r        io.ReaderAt
	size     int64
	objects  bool // r reads objects
	callback func(Problem) error

	summary Summary
	counts  map[kind]int64 // of problems
	kinds   []kind         // in the order of the first problem
	err     error          // of callback

	extents []extent
	lists   map[listKey]bool // page lists that have been checked
	owners  []owner          // of extents
	sets    []setLink
}

// A kind identifies the problems that share one limit.
type kind struct {
	ntuple   string
	check    Check
	severity Severity
}

// stopped returns the reason to end the check early, or nil.
func (v *verifier) stopped() error { return cmp.Or(v.err, v.ctx.Err()) }

// run checks the file, from the outside in.
func (v *verifier) run() {
	c := v.container()
	if c == nil {
		return
	}
	for _, a := range c.anchors {
		v.load(a, nil)
	}
	if len(c.anchors) == 0 && c.complete {
		v.report(Problem{Part: "directories", Offset: -1, Check: Container, Err: inside.None(c.file)}.nowhere())
	}
	v.sortExtents()
	c.walk()
	c.contain()
	v.overlaps()
}

// nowhere returns p without cluster, column and page.
func (p Problem) nowhere() Problem {
	p.Cluster, p.Column, p.Page = -1, -1, -1
	return p
}

// report counts a problem, and reports it unless there were too many of its kind.
func (v *verifier) report(p Problem) {
	k := kind{p.RNTuple, p.Check, p.Severity}
	if v.counts[k]++; v.counts[k] == 1 {
		v.kinds = append(v.kinds, k)
	}
	if p.Severity == Oddity {
		v.summary.Oddities++
	} else {
		v.summary.Problems++
	}
	if v.counts[k] <= int64(v.MaxProblems) {
		v.send(p)
	}
}

// send calls the callback, unless the check is to stop.
func (v *verifier) send(p Problem) {
	if v.stopped() == nil {
		v.err = v.callback(p)
	}
}

// more reports how many problems of each kind were not reported.
func (v *verifier) more() {
	for _, k := range v.kinds {
		if more := v.counts[k] - int64(v.MaxProblems); more > 0 {
			p := Problem{RNTuple: k.ntuple, Part: string(k.check), Offset: -1, Check: k.check, Severity: k.severity}.nowhere()
			if p.Err = frame.Corrupt("%d more problems of this kind", more); k.severity == Oddity {
				p.Err = fmt.Errorf("%d more oddities of this kind", more)
			}
			v.send(p)
		}
	}
}

// skip records that something is deliberately not checked.
func (v *verifier) skip(format string, args ...any) {
	v.summary.Skipped = append(v.summary.Skipped, fmt.Sprintf(format, args...))
}

// cause returns err without its offset, if that is the offset of the Problem.
func cause(err error, offset int64) error {
	if f, ok := errors.AsType[*frame.FormatError](err); ok && f.Offset == offset && !strings.Contains(f.Path, ".") {
		return f.Err
	}
	return err
}
