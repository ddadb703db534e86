package surgery

import (
	"fmt"
	"strings"

	"github.com/go-rntuple/go-rntuple/remote"
)

// An Input names an RNTuple in a file, as rntuple.Open does.
type Input struct {
	Path string
	Name string // may be empty if there is one at the top level of the file
}

func (i Input) String() string {
	path := remote.Redact(i.Path)
	if i.Name == "" {
		return path
	}
	return path + ":" + i.Name
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

var levelNames = [...]string{"clone", "copy", "recompress", "reseal", "rewrite"}

func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("Level(%d)", uint8(l))
}

// ParseLevel returns the level of a name, "copy", or number, "L1" or "1". Clone is also
// called "share".
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
