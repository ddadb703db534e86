//go:build aix || !(unix || windows)

package diskfile

import (
	"errors"
	"os"
)

// lock returns an error: there are no locks here, or none that would last.
func lock(*os.File) error { return errors.ErrUnsupported }

func needsWrite(error) bool { return false }
