package rootfile

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/internal/wire"
)

// Commit makes everything that has been written a part of the file. If it is
// interrupted, the file is as the previous Commit left it, or has the new contents;
// if several directories have new contents, this holds for each of them.
//
// New records, including lists of keys and the free list, are appended; nothing
// that a reader needs is overwritten. One write then changes the header and the top
// directory, which are adjacent, and so the whole file. The records of other
// directories follow, because they must not point beyond the end that the header
// gives. The marks of unused space come last.
//
// This protects against a program that stops. A power failure may lose any of these
// writes.
func (w *Writer) Commit() error {
	if w.err != nil {
		return w.err
	}
	if !w.changed {
		return nil
	}
	for _, g := range w.settled {
		w.gaps.add(g)
	}
	w.settled = nil
	var before, behind []*folder // whose records are written before and after the header
	for _, d := range w.folders[1:] {
		switch {
		case !d.changed:
		case d.visible:
			behind = append(behind, d)
		default:
			before = append(before, d)
		}
	}
	for _, step := range []func() error{
		w.writeInfos,
		w.writeLists,
		w.writeFreeList,
		w.flush,
		func() error { return w.writeDirectories(before) },
		w.writeHead,
		func() error { return w.writeDirectories(behind) },
		func() error { return w.gaps.mark(w.w) },
	} {
		if err := step(); err != nil {
			return w.fail(err)
		}
	}
	for _, d := range w.folders {
		d.changed, d.visible = false, true
	}
	w.settled, w.waiting, w.changed = w.waiting, nil, false
	return nil
}

// Close commits what has been written; w cannot be used afterwards. It does not
// close the target. It returns the error of an earlier call, if there was one.
func (w *Writer) Close() error {
	err := w.Commit()
	if err == nil && len(w.settled) > 0 {
		// The space that other directories no longer use can be listed as free now.
		w.changed = true
		err = w.Commit()
	}
	w.fail(errClosed)
	return err
}

// write appends a complete record, whose key is k.
func (w *Writer) write(r interface{ Wire(*wire.Codec) }, k Key) error {
	b, err := encoded(r)
	if err != nil {
		return err
	}
	return w.append(k, b)
}

func (w *Writer) writeLists() error {
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
	if w.header.SeekFree != 0 {
		w.release(w.top(), w.header.SeekFree, int64(w.header.NBytesFree))
	}
	l, end := w.freeList()
	w.header.SeekFree, w.header.NBytesFree = l.Key.SeekKey, uint32(l.Key.NBytes)
	w.header.NFree = uint32(len(l.Segments))
	w.header.End = end
	return w.write(&l, l.Key)
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
		if _, err := w.w.WriteAt(b, d.at); err != nil {
			return fmt.Errorf("write %s: %w", directoryName(d.path), err)
		}
	}
	return nil
}

// writeHead overwrites the start of the file.
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
	clear(w.head[:w.header.Begin]) // the header may have been longer
	copy(w.head, header)
	copy(w.head[w.top().at:], top)
	if _, err := w.w.WriteAt(w.head, 0); err != nil {
		return fmt.Errorf("write header: %w", err)
	}
	w.committed = w.header.End
	return nil
}
