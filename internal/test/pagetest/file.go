package pagetest

import (
	"errors"
	"io"
)

// ErrFull is the error of a File that fails.
var ErrFull = errors.New("full")

// A File is a file in memory that the payloads of an output are appended to, without anything
// between them.
type File struct {
	Bytes []byte
	Sizes []int // of the payloads

	FailAt int           // the payload that cannot be written, from 1
	Gate   chan struct{} // nil, or what each payload takes something from before it is written
}

// Blob appends a payload.
func (f *File) Blob(parts ...[]byte) (offset int64, err error) {
	if f.Gate != nil {
		<-f.Gate
	}
	at, n := len(f.Bytes), 0
	if f.Sizes = append(f.Sizes, 0); len(f.Sizes) == f.FailAt {
		return 0, ErrFull
	}
	for _, p := range parts {
		f.Bytes = append(f.Bytes, p...)
		n += len(p)
	}
	f.Sizes[len(f.Sizes)-1] = n
	return int64(at), nil
}

// Stream appends a payload that fill writes.
func (f *File) Stream(n int64, fill func(io.WriterAt) error) (offset int64, err error) {
	at, err := f.Blob(make([]byte, n))
	if err != nil {
		return 0, err
	}
	return at, fill(io.NewOffsetWriter(writerAt(f.Bytes), at))
}

type writerAt []byte

func (w writerAt) WriteAt(b []byte, off int64) (int, error) {
	n := copy(w[off:], b)
	if n < len(b) {
		return n, io.ErrShortWrite
	}
	return n, nil
}
