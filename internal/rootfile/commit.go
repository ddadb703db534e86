package rootfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/go-rntuple/go-rntuple/frame"
)

// ErrChanged is the error of a Commit that finds the file changed by another program since
// the Writer read it, or committed last.
var ErrChanged = errors.New("the file was changed by another program")

// Commit makes everything that has been written a part of the file. If it is
// interrupted, the file is as the previous Commit left it, or has the new contents;
// if several directories have new contents, this holds for each of them.
//
// New records, including lists of keys and the free list, are written where nothing is
// that a reader needs. One write then changes the header and the top directory, which
// are adjacent, and so the whole file. The records of other directories follow, because
// they must not point beyond the end that the header gives. The marks of unused space
// come last.
//
// If the target has a method BeforeCommit, Commit calls it before the write that changes the
// file, which does not happen if it returns an error.
//
// If the target has a method Sync, as an os.File has, Commit calls it before the write
// that changes the file, after it, and after those of other directories. That the system
// or the power fails does no more harm than that the program stops if the target has on
// disk what was written before a call of Sync, and writes sectors of 512 bytes wholly or
// not at all: none of these writes crosses one. There is an exception, if the title of a
// file is longer than about 150 bytes.
func (w *Writer) Commit() error {
	if w.err != nil || !w.changed {
		return w.err
	}
	if err := w.commit(); err != nil {
		return w.fail(err)
	}
	w.changed = false
	w.commits++
	return nil
}

func (w *Writer) commit() error {
	for _, write := range []func() error{w.writeInfos, w.writeLists, w.writeFreeList, w.flush} {
		if err := write(); err != nil {
			return err
		}
	}
	var before, behind []*folder // whose records are written before and after the head
	for _, d := range w.folders {
		switch {
		case !d.changed || d == w.top() && w.headFits():
		case d.visible:
			behind = append(behind, d)
		case d != w.top():
			before = append(before, d)
		}
	}
	if err := w.writeDirectories(before); err != nil {
		return err
	}
	if err := w.sync(); err != nil {
		return err
	}
	if err := w.unchanged(behind); err != nil {
		return err
	}
	if target, ok := w.w.(interface{ BeforeCommit() error }); ok && !w.closing {
		if err := target.BeforeCommit(); err != nil {
			return err
		}
	}
	if err := w.writeHead(); err != nil {
		return err
	}
	if err := w.sync(); err != nil {
		return err
	}
	if len(behind) > 0 {
		if err := w.writeDirectories(behind); err != nil {
			return err
		}
		if err := w.sync(); err != nil {
			return err
		}
	}
	for _, d := range w.folders {
		d.changed, d.visible = false, true
	}
	for _, g := range append(w.freed, w.settled...) {
		w.gaps.add(g)
	}
	w.freed, w.settled, w.waiting = nil, w.waiting, nil
	return w.gaps.mark(guarded{w})
}

// Close commits what has been written; w cannot be used afterwards. It does not
// close the target. It returns the error of an earlier call, if there was one.
func (w *Writer) Close() error {
	err := w.Commit()
	if err == nil && len(w.settled) > 0 {
		// This changes nothing that readers see: it lists as free what the first commit freed.
		w.changed, w.closing = true, true
		err = w.Commit()
	}
	w.fail(errClosed)
	return err
}

// sync has the target put on disk what was written.
func (w *Writer) sync() error {
	target, ok := w.w.(interface{ Sync() error })
	if !ok || w.opts.NoSync {
		return nil
	}
	if err := target.Sync(); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	return nil
}

// guarded is the target of w for records: it is not written to once the head is another one,
// because another program may have used the same space.
type guarded struct{ w *Writer }

func (g guarded) WriteAt(b []byte, at int64) (int, error) {
	if err := g.w.unchanged(nil); err != nil {
		return 0, err
	}
	return g.w.w.WriteAt(b, at)
}

// Unchanged returns ErrChanged if another program has changed the file since the last commit.
func (w *Writer) Unchanged() error { return w.unchanged(nil) }

// unchanged makes sure that the head of the file, and the records of the given
// directories, are as w wrote or read them last.
func (w *Writer) unchanged(folders []*folder) error {
	if w.r == nil || !w.top().visible {
		return nil
	}
	same := func(at int64, want []byte) error {
		got, err := w.readAt(at, len(want))
		if err == nil && !bytes.Equal(got, want) {
			err = ErrChanged
		}
		return err
	}
	err := same(0, w.head)
	for _, d := range folders {
		if err == nil {
			err = same(d.at, d.record)
		}
	}
	return err
}

// readAt returns n bytes of the file.
func (w *Writer) readAt(at int64, n int) ([]byte, error) {
	b := make([]byte, n)
	if got, err := w.r.ReadAt(b, at); got < n {
		return nil, fmt.Errorf("read %d bytes at offset %#x: %w", n, at, err)
	}
	return b, nil
}

// write puts a complete record, whose key is k, where put does.
func (w *Writer) write(i int, r interface{ Wire(*frame.Codec) }, k Key) error {
	b, err := encoded(r)
	if err != nil {
		return err
	}
	return w.put(i, k, b)
}

func (w *Writer) writeLists() error {
	for _, d := range slices.Backward(w.folders) { // a parent lists where its directories are
		if d.changed {
			if err := w.move(d); err != nil {
				return err
			}
		}
	}
	for _, d := range w.folders {
		if !d.changed {
			continue
		}
		if err := w.writeKeys(d); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) writeFreeList() error {
	w.freeOwn(w.header.SeekFree, w.header.NBytesFree)
	l, i, err := w.freeList()
	if err != nil {
		return err
	}
	if i < 0 {
		w.header.End = l.Key.SeekKey + int64(l.Key.NBytes)
	} else {
		w.header.End = w.end
	}
	w.header.SeekFree, w.header.NBytesFree = l.Key.SeekKey, uint32(l.Key.NBytes)
	w.header.NFree = uint32(len(l.Segments))
	return w.write(i, &l, l.Key)
}

func (w *Writer) flush() error {
	if err := w.tail.Flush(); err != nil {
		return fmt.Errorf("write up to offset %#x: %w", w.end, err)
	}
	return nil
}

// writeDirectories overwrites directory records.
func (w *Writer) writeDirectories(folders []*folder) error {
	for _, d := range folders {
		b, err := encoded(&d.Directory)
		if err != nil {
			return err
		}
		old := d.record
		if d == w.top() {
			old = w.head[d.at:]
		}
		if err := w.overwrite(d.at, old, b); err != nil {
			return fmt.Errorf("write %s: %w", directoryName(d.path), err)
		}
		if d.record = b; d == w.top() {
			copy(w.head[d.at:], b)
		}
	}
	return nil
}

// overwrite writes b to the offset at, where the file has old, or nothing. If that fails it
// puts back what it may have overwritten, as far as it can.
func (w *Writer) overwrite(at int64, old, b []byte) error {
	n, err := w.w.WriteAt(b, at)
	if n = min(n, len(old)); err != nil && n > 0 {
		w.w.WriteAt(old[:n], at)
		w.sync() // before the caller makes the file shorter
	}
	return err
}

// headFits reports whether a sector holds the header and the top directory.
func (w *Writer) headFits() bool { return w.top().at+directorySize <= sector }

// writeHead overwrites the start of the file: the header and, unless it has to be written
// after that, the top directory.
func (w *Writer) writeHead() error {
	w.header.Big = w.header.Big || w.header.End > w.opts.BigFrom
	w.header.Units = 4
	if w.header.Big {
		w.header.Units = 8
	}
	header, err := encoded(&w.header)
	if err != nil {
		return err
	}
	top, err := encoded(&w.top().Directory)
	if err != nil {
		return err
	}
	var old []byte
	if w.top().visible {
		old = bytes.Clone(w.head)
	}
	if w.renamed != nil {
		record, err := encoded(w.renamed)
		if err != nil {
			return err
		}
		w.head = append(w.head[:w.header.Begin], record...)
		w.renamed = nil
	}
	clear(w.head[:w.header.Begin]) // the header may have been longer
	copy(w.head, header)
	part := w.head
	if w.headFits() || !w.top().visible {
		copy(w.head[w.top().at:], top)
	} else {
		part = w.head[:w.header.Begin]
	}
	if err := w.overwrite(0, old, part); err != nil {
		return fmt.Errorf("write header: %w", err)
	}
	w.committed = w.header.End
	return nil
}
