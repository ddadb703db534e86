package cli

import (
	"os"

	"github.com/go-rntuple/go-rntuple/internal/disk/tempfile"
)

// temporaries are temporary files, which are gone when the tool ends.
type temporaries struct {
	files []*os.File
	paths []string // of those that have a name
}

// Temporary makes a temporary file and returns a path to it, which may be valid for this process
// only.
func (t *temporaries) Temporary() (*os.File, string, error) {
	f, path, err := nameless()
	if err == nil {
		t.files = append(t.files, f)
		return f, path, nil
	}
	if f, err = t.NamedTemporary(".root"); err != nil {
		return nil, "", err
	}
	return f, f.Name(), nil
}

// NamedTemporary makes a temporary file whose name ends in suffix.
func (t *temporaries) NamedTemporary(suffix string) (*os.File, error) {
	f, err := tempfile.Create(func() (*os.File, error) { return os.CreateTemp("", "rnt-*"+suffix) })
	if err == nil {
		t.files, t.paths = append(t.files, f), append(t.paths, f.Name())
	}
	return f, err
}

func (t *temporaries) remove() {
	for _, f := range t.files {
		f.Close()
	}
	for _, path := range t.paths {
		tempfile.Remove(path)
	}
}
