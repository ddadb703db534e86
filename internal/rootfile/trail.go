package rootfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// ErrStale reports that the file was changed by a commit while it was read, so that
// what was read may be of no committed state. Reading it again helps; see Retry.
var ErrStale = errors.New("the file is being changed while it is read")

// patience is how long Retry tries.
const patience = 10 * time.Second

// Retry calls read until its error does not wrap ErrStale, or for some seconds, or
// until ctx is done. To read anew takes much less time than to write a commit, so
// one or two calls do nearly always.
func Retry[T any](ctx context.Context, read func() (T, error)) (T, error) {
	for start := time.Now(); ; {
		v, err := read()
		if !errors.Is(err, ErrStale) || time.Since(start) > patience {
			return v, err
		}
		if err := ctx.Err(); err != nil {
			return v, err
		}
	}
}

// A Trail is what led to an object: the start of the file and the directory records
// on the way, as they were read.
//
// A writer that commits while the file is read may overwrite what a committed state
// no longer needs: lists of keys, anchors, footers, page lists. Some of that cannot
// be noticed: lists of keys have no checksum, and an anchor or a footer may have
// taken the place of an earlier one and be valid, but not committed yet. But before
// a writer reuses the space of what a directory record leads to, it changes this
// record; so what was read before the record was found unchanged is right. In the
// top directory, the record is part of the start of the file, which every commit
// changes. Only pages and headers of RNTuples stay where they are.
type Trail struct {
	file    *File
	records []rawRecord // from the start of the file on
}

// A rawRecord is a part of the file as it was read.
type rawRecord struct {
	at    int64
	bytes []byte
}

// with returns the trail that also has r.
func (t *Trail) with(r rawRecord) *Trail {
	return &Trail{t.file, append(t.records[:len(t.records):len(t.records)], r)}
}

// last returns the trail of the last record alone.
func (t *Trail) last() *Trail { return &Trail{t.file, t.records[len(t.records)-1:]} }

// Changed reports whether a commit has changed one of the records.
func (t *Trail) Changed() (bool, error) {
	for _, r := range t.records {
		now := make([]byte, len(r.bytes))
		n, err := t.file.r.ReadAt(now, r.at)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return false, fmt.Errorf("read %d bytes at offset %#x: %w", len(now), r.at, err)
		}
		if !bytes.Equal(now[:n], r.bytes) {
			return true, nil
		}
	}
	return false, nil
}

// Check is called with the error of what was read by means of the trail, or nil. It
// returns ErrStale if a commit has changed the records since, otherwise err.
//
// Without an error it reads nothing if the file cannot tell its size: that is not a
// file which grows, and may be far away. The Trail may be nil, too.
func (t *Trail) Check(err error) error {
	if t == nil || err == nil && !t.file.grows {
		return err
	}
	changed, readErr := t.Changed()
	switch {
	case changed:
		return ErrStale
	case err == nil:
		return readErr
	}
	return err
}

// End returns the end of the file that its header gave.
func (t *Trail) End() int64 { return t.file.Header.End }

// sizeOf returns the present size of the file that r reads, if r can tell it.
func sizeOf(r io.ReaderAt) (size int64, ok bool) {
	switch r := r.(type) {
	case interface{ Stat() (fs.FileInfo, error) }:
		info, err := r.Stat()
		if err != nil || !info.Mode().IsRegular() {
			return 0, false
		}
		return info.Size(), true
	case interface{ Size() int64 }:
		return r.Size(), true
	}
	return 0, false
}
