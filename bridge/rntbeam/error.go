package rntbeam

import (
	"fmt"
	"strings"

	"github.com/go-rntuple/go-rntuple/remote"
)

// failed returns an error about a file, which it names once.
func failed(what, path string, err error) error {
	if err == nil {
		return nil
	}
	if path = remote.Redact(path); strings.HasPrefix(err.Error(), path) {
		return fmt.Errorf("rntbeam: %s %w", what, err)
	}
	return fmt.Errorf("rntbeam: %s %s: %w", what, path, err)
}

// Cause extracts from an error of a pipeline the line about the file that could not be read or
// written. Runners embed it in a text with the pipeline graph and the stack traces of workers. If
// there is no such line, Cause returns the full text.
func Cause(err error) string {
	text := err.Error()
	if _, after, ok := strings.Cut(text, "rntbeam: "); ok {
		text, _, _ = strings.Cut(after, "\n")
		text, _, _ = strings.Cut(text, " goroutine ") // of a panic
		return "rntbeam: " + text
	}
	return text
}
