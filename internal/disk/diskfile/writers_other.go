//go:build !linux

package diskfile

// OtherWriters returns nil: the system does not tell who has a file open.
func (f *File) OtherWriters() []Process { return nil }

type watch struct{}

func (*watch) closed() bool { return false }

// Watch does nothing: the system does not tell who closes a file.
func (f *File) Watch() {}

// Unwatch does nothing.
func (f *File) Unwatch() {}
