package surgery

import (
	"fmt"
	"strings"

	"github.com/go-rntuple/go-rntuple/remote"
)

// An Input identifies an RNTuple in a file; see rntuple.Open.
type Input struct {
	Path string
	Name string // may be empty if the file has exactly one at its top level
}

func (i Input) String() string {
	path := remote.Redact(i.Path)
	if i.Name == "" {
		return path
	}
	return path + ":" + i.Name
}

// A Level is the amount of processing of a page. The numbers are those of ROOT's document.
type Level uint8

const (
	Clone      Level = iota // the output shares blocks on disk with the input
	Copy                    // the bytes are copied as stored
	Recompress              // the page is decompressed and compressed
	Reseal                  // the page is also decoded and encoded, with the same elements
	Rewrite                 // the elements are written to new pages and clusters
)

var levelNames = [...]string{"clone", "copy", "recompress", "reseal", "rewrite"}

func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("Level(%d)", uint8(l))
}

// ParseLevel parses a level: a name such as "copy", or a number, "L1" or "1". "share" is another
// name of Clone.
func ParseLevel(s string) (Level, error) {
	if strings.EqualFold(s, "share") {
		return Clone, nil
	}
	for l := Clone; l <= Rewrite; l++ {
		if number := fmt.Sprint(uint8(l)); strings.EqualFold(s, l.String()) || s == number ||
			strings.EqualFold(s, "L"+number) {
			return l, nil
		}
	}
	return 0, fmt.Errorf("unknown level %q; there are %s", s, strings.Join(levelNames[:], ", "))
}

// A Mode determines how top-level fields that are missing from some inputs are handled.
type Mode uint8

const (
	// Filter keeps the fields of the first input, which all others must have.
	Filter Mode = iota
	// Strict requires the same fields in all inputs.
	Strict
	// Union keeps the fields of all inputs. A field that is missing from an input has zero values
	// in its entries: 0, false, empty collections and strings, variants without a value.
	Union
)

var modeNames = [...]string{"filter", "strict", "union"}

func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// ParseMode parses the name of a mode.
func ParseMode(s string) (Mode, error) {
	for i, name := range modeNames {
		if strings.EqualFold(s, name) {
			return Mode(i), nil
		}
	}
	return 0, fmt.Errorf("unknown mode %q; there are %s", s, strings.Join(modeNames[:], ", "))
}
