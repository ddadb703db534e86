//go:build !linux

package cli

import (
	"errors"
	"os"
)

// nameless fails: there are no temporary files without names.
func nameless() (*os.File, string, error) { return nil, "", errors.ErrUnsupported }
