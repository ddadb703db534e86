package input

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/remote"
)

// List returns the names of files that a text file has, one in each line. Blank lines, and those
// that begin with #, do not count.
func List(ctx context.Context, at location.Location, o remote.Options) (names []string, err error) {
	f, size, err := Open(ctx, at, false, o)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, 0, size))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	for i, line := range bytes.Split(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("\n")) {
		if !utf8.Valid(line) || bytes.ContainsFunc(bytes.TrimSpace(line), unicode.IsControl) {
			return nil, fmt.Errorf("%s: line %d: not the name of a file", at, i+1)
		}
		if s := strings.TrimSpace(string(line)); s != "" && s[0] != '#' {
			names = append(names, s)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: lists no files", at)
	}
	return names, nil
}
