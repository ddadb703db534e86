//go:build !linux

package diskfile

// OtherWriters returns nil: the system does not tell who has a file open.
func (f *File) OtherWriters() []Process { return nil }
