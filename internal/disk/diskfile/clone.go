package diskfile

import (
	"os"

	"github.com/go-rntuple/go-rntuple/internal/disk/reflink"
)

// Clone is [reflink.Clone] to the file.
func (f *File) Clone(to int64, src *os.File, from, n int64) error {
	f.changed.Store(true)
	if err := reflink.Clone(f.disk, to, src, from, n); err != nil {
		return &os.PathError{Op: "share extents of " + src.Name() + " with", Path: f.path, Err: cause(err)}
	}
	if Hook == nil {
		return nil
	}
	data := make([]byte, n)
	if _, err := f.disk.ReadAt(data, to); err != nil {
		return f.named(err)
	}
	_, err := call(Op{Kind: WriteOp, Path: f.name, Off: to, Data: data})
	return err
}
