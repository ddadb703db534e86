//go:build !(unix || windows)

package diskfile

import (
	"io/fs"
	"os"
)

const (
	syncsFolders       = false
	mustCloseToReplace = false
)

func openFile(name string, flag int, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, mode)
}

func cannotSync(error) bool { return false }

func chown(*os.File, fs.FileInfo, fs.FileInfo) error { return nil }
