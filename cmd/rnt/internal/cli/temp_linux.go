package cli

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// nameless makes a temporary file that has no name, so that nothing is left of it
// however the process ends, and returns a path to it for this process, which is valid
// until the file is closed.
func nameless() (*os.File, string, error) {
	f, err := os.OpenFile(os.TempDir(), unix.O_TMPFILE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, "", err
	}
	path := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	if _, err := os.Stat(path); err != nil {
		f.Close()
		return nil, "", err
	}
	return f, path, nil
}
