package tempfile

import (
	"os"
	"sync"
)

var (
	mu    sync.Mutex // held forever after RemoveAll
	names = map[string]bool{}
)

// Create calls create, which makes a temporary file, and remembers the name of the
// file until Forget or Remove is called for it.
func Create(create func() (*os.File, error)) (*os.File, error) {
	mu.Lock()
	defer mu.Unlock()
	f, err := create()
	if err == nil {
		names[f.Name()] = true
	}
	return f, err
}

// Forget is to be called once the file has got its final name, or is gone.
func Forget(name string) {
	mu.Lock()
	defer mu.Unlock()
	delete(names, name)
}

// Remove removes a file that is not needed any more.
func Remove(name string) error {
	err := os.Remove(name)
	Forget(name)
	return err
}

// RemoveAll removes all files. The program must end then: further calls of the
// functions of this package do not return, so that no file is left.
func RemoveAll() {
	mu.Lock()
	for name := range names {
		os.Remove(name)
	}
}
