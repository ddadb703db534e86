package rntarrow

import (
	"fmt"
	"io"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// WriteStream writes all record batches of r as an Arrow IPC stream, and returns the number of
// rows. progress, which may be nil, is called with the number of rows written so far.
//
// Many readers treat a stream that ends between two messages as complete. So if r ends with an
// error, WriteStream writes the start of another message before it returns the error, to make
// readers fail, too.
func WriteStream(to io.Writer, r array.RecordReader, progress func(rows int64)) (rows int64, err error) {
	w := ipc.NewWriter(to, ipc.WithSchema(r.Schema()))
	rows, err = writeAll(w, r, progress)
	if err != nil {
		to.Write([]byte{0xff, 0xff, 0xff, 0xff, 8, 0, 0, 0}) // metadata of 8 bytes, of which there are none
		return rows, err
	}
	return rows, w.Close()
}

// WriteFile is like WriteStream, but writes an Arrow IPC file, also known as Feather. After an
// error the file is incomplete and invalid.
func WriteFile(to io.Writer, r array.RecordReader, progress func(rows int64)) (rows int64, err error) {
	w, err := ipc.NewFileWriter(onlyWriter{to}, ipc.WithSchema(r.Schema()))
	if err != nil {
		return 0, err
	}
	if rows, err = writeAll(w, r, progress); err != nil {
		return rows, err
	}
	return rows, w.Close()
}

func writeAll(w interface{ Write(arrow.RecordBatch) error }, r array.RecordReader,
	progress func(int64)) (rows int64, err error) {
	for r.Next() {
		if err := w.Write(r.RecordBatch()); err != nil {
			return rows, err
		}
		if rows += r.RecordBatch().NumRows(); progress != nil {
			progress(rows)
		}
	}
	return rows, r.Err()
}

// NewStreamReader returns a reader of an Arrow IPC stream of at most size bytes. Unlike
// ipc.NewReader, it returns an error if the stream ends before its end-of-stream marker, and it
// returns an error for damaged messages instead of panicking.
func NewStreamReader(r io.Reader, size int64) (array.RecordReader, error) {
	return newReader("reading an Arrow stream", r, size)
}

func newReader(what string, r io.Reader, size int64) (array.RecordReader, error) {
	in, err := ipc.NewReaderFromMessageReader(&messages{r, size}, ipc.WithAllocator(allocatorFor(size)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return array.ReaderFromIter(in.Schema(), guarded(what, in, -1)), nil
}

// NewFileReader is like NewStreamReader for an Arrow IPC file, also known as Feather, of the given
// size in bytes. It reads the stream embedded in the file.
func NewFileReader(r io.ReaderAt, size int64) (array.RecordReader, error) {
	const magic, aligned = "ARROW1", 8
	head, tail := make([]byte, len(magic)), make([]byte, len(magic))
	if size < 2*aligned {
		return nil, fmt.Errorf("reading an Arrow file: %d bytes are too few", size)
	}
	if _, err := r.ReadAt(head, 0); err != nil {
		return nil, fmt.Errorf("reading an Arrow file: %w", err)
	}
	if _, err := r.ReadAt(tail, size-int64(len(magic))); err != nil {
		return nil, fmt.Errorf("reading an Arrow file: %w", err)
	}
	if string(head) != magic || string(tail) != magic {
		return nil, fmt.Errorf("reading an Arrow file: it begins with %q and ends with %q, want %q", head, tail, magic)
	}
	return newReader("reading an Arrow file", io.NewSectionReader(r, aligned, size-aligned), size-aligned)
}

// An allocator panics if it is asked for more than input can become.
type allocator struct {
	memory.Allocator
	most int64
}

// ratio is how many bytes one of input can become at most: of all codecs of Arrow and Parquet,
// a run in zstd compresses best, which takes four bytes for 128 KiB.
const ratio = 128 << 10 / 4

// allocatorFor returns the allocator for an input of the given size.
func allocatorFor(size int64) memory.Allocator {
	return allocator{memory.DefaultAllocator, min(size, 1<<40/ratio)*ratio + 1<<20}
}

func (a allocator) check(n int) {
	if int64(n) > a.most {
		panic(fmt.Sprintf("%d bytes of memory for an input that cannot hold them", n))
	}
}

func (a allocator) Allocate(n int) []byte {
	a.check(n)
	return a.Allocator.Allocate(n)
}

func (a allocator) Reallocate(n int, b []byte) []byte {
	a.check(n)
	return a.Allocator.Reallocate(n, b)
}

// guarded yields the record batches of a reader, and an error if reading panics, or if there are
// fewer rows than there must be; -1 stands for any number.
func guarded(what string, r array.RecordReader, rows int64) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		defer r.Release()
		for got := int64(0); ; {
			more := false
			err := caught(func() error {
				more = r.Next()
				return r.Err()
			})
			switch {
			case err == nil && !more && got < rows:
				err = fmt.Errorf("%d rows of %d", got, rows)
				fallthrough
			case err != nil:
				yield(nil, fmt.Errorf("%s: %w", what, err))
				return
			case !more:
				return
			}
			b := r.RecordBatch()
			b.Retain()
			got += b.NumRows()
			if !yield(b, nil) {
				return
			}
		}
	}
}

// caught makes an error of a panic, which damaged files cause in arrow-go.
func caught(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	return f()
}

// onlyWriter hides other methods of a writer, which arrow-go would call.
type onlyWriter struct{ io.Writer }
