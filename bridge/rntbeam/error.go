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

// Cause returns what an error of a pipeline says of a file that could not be read or written, in a
// line. Runners report it as text, with the plans and the stacks of the workers around it. If there
// is nothing of the kind, Cause returns the whole text.
func Cause(err error) string {
	text := err.Error()
	if _, after, ok := strings.Cut(text, "rntbeam: "); ok {
		text, _, _ = strings.Cut(after, "\n")
		text, _, _ = strings.Cut(text, " goroutine ") // of a panic
		return "rntbeam: " + text
	}
	return text
}
