//go:build !linux

package main

import (
	"errors"
	"os"
)

// nameless fails: there are no temporary files without names.
func nameless() (*os.File, string, error) { return nil, "", errors.ErrUnsupported }
