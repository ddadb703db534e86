package diskfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-rntuple/go-rntuple/remote"
)

// errFar is the error of Update for URLs.
var errFar = fmt.Errorf("%w for remote files; write a new file instead", errors.ErrUnsupported)

// createFar makes a file that is uploaded to a URL.
func createFar(url string, o Options) (*File, error) {
	o.Upload.Replace = o.Upload.Replace && !o.NoReplace
	f := &File{path: remote.Redact(url), target: url, options: o, far: true}
	fail := func(err error) (*File, error) {
		return nil, &os.PathError{Op: "create", Path: f.path, Err: cause(err)}
	}
	if err := remote.CanUpload(url); err != nil {
		return nil, err
	}
	if !o.Upload.Replace { // to know it now, not once all is written
		there, err := remote.Exists(o.Context, url, &o.Upload.Options)
		if err != nil {
			return nil, err
		} else if there {
			return fail(fs.ErrExist)
		}
	}
	dir := os.TempDir() + string(filepath.Separator)
	removeOrphans(dir)
	if err := f.createIn(dir, 0o600); err != nil {
		return fail(err)
	}
	return f, nil
}

// upload writes the file at its URL, unless it is there already.
func (f *File) upload() error {
	if f.failed != nil || f.uploaded && !f.changed.Load() {
		return f.failed
	}
	if err := f.lastLook(); err != nil {
		return err
	}
	size, err := f.Size()
	if err != nil {
		return err
	}
	o := f.options.Upload
	o.Replace = o.Replace || f.uploaded
	f.changed.Store(false)
	if f.failed = remote.Upload(f.options.Context, f.target, f.disk, size, &o); f.failed == nil {
		f.uploaded = true
	}
	return f.failed
}
