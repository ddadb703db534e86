package rntarrow

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow/internal/guard"
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
	in, err := ipc.NewReaderFromMessageReader(&messages{r, size}, ipc.WithAllocator(guard.AllocatorFor(size)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return array.ReaderFromIter(in.Schema(), guard.Batches(what, in, -1)), nil
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

// onlyWriter hides other methods of a writer, which arrow-go would call.
type onlyWriter struct{ io.Writer }
