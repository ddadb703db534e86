package cli

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Reporter prints messages and progress on standard error.
type Reporter struct {
	Quiet      bool // no progress, warnings or reports
	Incomplete bool // something was left out, which the exit status says
	w          io.Writer
	names      map[string]string // by path: what temporary files hold
}

// Call has messages call the file at a path by another name.
func (r *Reporter) Call(path, name string) {
	if r.names == nil {
		r.names = map[string]string{}
	}
	r.names[path] = name
}

// complain prints an error. Joined errors get a line each, and so do the items of a
// list, which are indented.
func (r *Reporter) complain(err error) {
	text := WithAdvice(err.Error())
	for path, name := range r.names {
		text = strings.ReplaceAll(text, path, name)
	}
	for line := range strings.SplitSeq(text, "\n") {
		prefix := "rnt: "
		if item, ok := strings.CutPrefix(line, "\t"); ok {
			prefix, line = "  ", item
		}
		// Messages may quote bytes of the file, which must not control the
		// terminal.
		fmt.Fprintf(r.w, "%s%s\n", prefix, schema.Printable(line))
	}
}

// Warn prints a warning, unless --quiet is set.
func (r *Reporter) Warn(format string, args ...any) { r.Note("warning: "+format, args...) }

// Leave warns that something was left out, which the exit status says, too.
func (r *Reporter) Leave(format string, args ...any) {
	r.Incomplete = true
	r.Warn(format, args...)
}

// Note prints a remark, unless --quiet is set.
func (r *Reporter) Note(format string, args ...any) {
	if !r.Quiet {
		r.complain(fmt.Errorf(format, args...))
	}
}

// WarnNeeds warns that the file at path can only be read with --max-memory, if need is
// not zero.
func (r *Reporter) WarnNeeds(path string, need rntuple.Limits) {
	if most := max(need.PageBytes, need.EntryBytes, need.EnvelopeBytes); most > 0 {
		r.Warn("%s: compressed so well that reading it requires --max-memory %dM", path, (most-1)>>20+1)
	}
}

var limitName = regexp.MustCompile(`\(rntuple\.Limits\.(\w+)\)`)

// onlyTrees matches a line about a file that was refused because of what it holds.
var onlyTrees = regexp.MustCompile(`(?m)the file holds TTrees, no RNTuple: .*$`)

// WithAdvice returns the text of an error as users of the tool need it: where a limit is exceeded,
// it says how to raise it, options have the names of flags, and what can be converted is said to
// be.
func WithAdvice(text string) string {
	text = onlyTrees.ReplaceAllStringFunc(text, func(line string) string {
		if strings.Contains(line, "rnt convert") {
			return line
		}
		return line + "; use rnt convert to convert them"
	})
	text = strings.ReplaceAll(text, "Options.Binary", "--binary")
	return limitName.ReplaceAllString(text, "($1; --max-memory raises it)")
}

// maxNamed is the most objects of a file, or fields, that a warning names.
const maxNamed = 8

// Omit warns of fields that the first input lacks. The exit status tells of them, too, unless
// filtering: a flag leaves such fields out.
func (r *Reporter) Omit(fields []string, filtering bool) {
	if len(fields) == 0 {
		return
	}
	say := r.Leave
	if filtering {
		say = r.Warn
	}
	say("not copied: fields not in the first input: %s", strings.Join(Abridged(fields, "fields"), ", "))
}

// Abridged returns the first names, and how many more there are.
func Abridged(names []string, what string) []string {
	if more := len(names) - maxNamed; more > 1 {
		return append(slices.Clone(names[:maxNamed]), fmt.Sprintf("%d more %s", more, what))
	}
	return names
}
