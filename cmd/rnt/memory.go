package main

import (
	"fmt"
	"math/bits"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

// byteCount is the value of a flag, a number of bytes.
type byteCount int64

// byteUnits are the letters that may follow a number of bytes, each 1024 times the last.
const byteUnits = "KMGT"

func (b *byteCount) Set(s string) error {
	number, shift := s, 0
	if n := len(s); n > 0 {
		if i := strings.IndexByte(byteUnits, s[n-1]&^('a'-'A')); i >= 0 {
			number, shift = s[:n-1], 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || bits.Len64(uint64(n))+shift > 63 {
		return fmt.Errorf(`want a number of bytes, such as "2G", "512M" or "1000000"`)
	}
	*b = byteCount(n << shift)
	return nil
}

func (b *byteCount) String() string {
	if *b == 0 {
		return "" // so that help shows no default
	}
	return strconv.FormatInt(int64(*b), 10)
}

func (b *byteCount) Type() string { return "SIZE" }

// limits returns the limits that --max-memory sets: all of them to its value.
func (t *tool) limits() rntuple.Limits {
	n := int64(t.maxMemory)
	return rntuple.Limits{PageBytes: n, EntryBytes: n, EnvelopeBytes: n, ExpressionBytes: n}
}

// reading returns the options with which all commands open RNTuples.
func (t *tool) reading() []rntuple.Option {
	opts := []rntuple.Option{rntuple.WithLimits(t.limits()), rntuple.Remote(t.remote.options)}
	if t.remote.zones {
		opts = append(opts, rntuple.TrustZoneMaps(true))
	}
	return opts
}

// readInputs returns reading as an option of package surgery.
func (t *tool) readInputs() surgery.Option { return surgery.Read(t.reading()...) }

// warnNeeds warns that the file at path can only be read with --max-memory, if need is
// not zero.
func (t *tool) warnNeeds(path string, need rntuple.Limits) {
	if most := max(need.PageBytes, need.EntryBytes, need.EnvelopeBytes); most > 0 {
		t.warn("%s: very small for what it holds; to read it, add --max-memory %dM", path, (most-1)>>20+1)
	}
}

var limitName = regexp.MustCompile(`\(rntuple\.Limits\.(\w+)\)`)

// onlyTrees matches a line about a file that was refused because of what it holds.
var onlyTrees = regexp.MustCompile(`(?m)the file holds TTrees, no RNTuple: .*$`)

// withAdvice returns the text of an error as users of the tool need it: where a limit is
// exceeded, it says how to raise it, options have the names of flags, and what can be converted is said to be.
func withAdvice(text string) string {
	text = onlyTrees.ReplaceAllStringFunc(text, func(line string) string {
		if strings.Contains(line, "rnt convert") {
			return line
		}
		return line + "; rnt convert makes RNTuples of them"
	})
	text = strings.ReplaceAll(text, "Options.Binary", "--binary")
	return limitName.ReplaceAllString(text, "($1; --max-memory raises it)")
}
