package ntuple

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/disk/diskfile"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/remote"
)

// A File is a ROOT file to which RNTuples are written. The File and its writers must be
// used by one goroutine at a time.
type File struct {
	ctx   context.Context
	mu    sync.Mutex // guards root, which forks of sinks write to in the background
	root  *rootfile.Writer
	pages *pagesink.Output // on root
	open  int              // number of writers that are not closed
	err   error            // the first error; sticky
	size  atomic.Int64     // see Size

	closer io.Closer // see CloseWith

	disk   *diskfile.File // nil if the caller provides the target
	length int64          // of the file when it was opened
	looked time.Time      // when commit last looked for other writers
	head   []byte         // the start of the file as of the last commit; nil if there is none
}

// CreateFile creates a ROOT file at path. Until Close or Commit it has another name in the
// same directory; then it replaces a file that existed at path. If path is a URL, each commit
// uploads the file.
func CreateFile(path string, o *WriteOptions) (*File, error) {
	disk, err := diskfile.Create(path, o.disk())
	if err != nil {
		return nil, err
	}
	f, err := NewFile(disk, remote.Base(path), o)
	if err != nil {
		disk.Close()
		return nil, fmt.Errorf("%s: %w", disk.Path(), err)
	}
	f.disk = disk
	return f, nil
}

// NewFile creates a ROOT file in w, which must be empty; name is the file name that ROOT
// shows.
func NewFile(w io.WriterAt, name string, o *WriteOptions) (*File, error) {
	options := o.File
	options.Name = name
	root, err := rootfile.Create(w, options)
	if err != nil {
		return nil, err
	}
	return newFile(root, o), nil
}

// UpdateFile opens the ROOT file at path to add RNTuples, and locks it. Until Close or Commit
// nothing changes for its readers. What is to be continued must be read after the call: before
// it, another process may have written to the file.
func UpdateFile(path string, o *WriteOptions) (*File, error) {
	disk, err := diskfile.Update(path, o.disk())
	if err != nil {
		return nil, err
	}
	f, err := updateDisk(disk, o)
	if err != nil {
		disk.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

func updateDisk(disk *diskfile.File, o *WriteOptions) (*File, error) {
	// Not later: what another process has added, but not yet listed, would be overwritten.
	if err := disk.CheckAlone(); err != nil {
		return nil, err
	}
	head, err := readHead(disk) // before the length, so that shorten does not cut off what another process adds
	if err != nil {
		return nil, err
	}
	size, err := disk.Size()
	if err != nil {
		return nil, err
	}
	f, err := Update(disk, size, o)
	if err != nil {
		return nil, err
	}
	f.disk, f.length, f.head = disk, size, head
	return f, nil
}

// Update is like UpdateFile for the file of size bytes that rw reads and writes.
func Update(rw rootfile.ReadWriterAt, size int64, o *WriteOptions) (*File, error) {
	root, err := rootfile.Append(rw, size, o.File)
	if err != nil {
		return nil, err
	}
	return newFile(root, o), nil
}

func newFile(root *rootfile.Writer, o *WriteOptions) *File {
	f := &File{root: root, ctx: o.Context}
	f.pages = &pagesink.Output{
		Blob: func(parts ...[]byte) (int64, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			defer f.count()
			return root.Blob(parts...)
		},
		SmallBlob: func(parts ...[]byte) (int64, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			return root.SmallBlob(parts...)
		},
		Stream: func(n int64, fill func(io.WriterAt) error) (int64, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			defer f.count()
			return root.BlobFrom(n, fill)
		},
		Extents: root,
	}
	f.count()
	return f
}

// count updates what Size returns. The caller holds the mutex.
func (f *File) count() { f.size.Store(f.root.End()) }

// Size returns the length in bytes that the file has so far, with what has been written since
// the last commit. Clusters that are being filled, or written in the background, do not count.
func (f *File) Size() int64 { return f.size.Load() }

// Commit makes everything written so far visible to readers, unless the context is done.
func (f *File) Commit() error { return f.commitUnlessDone(false) }

func (f *File) commitUnlessDone(last bool) error {
	if f.err = cmp.Or(f.err, f.ctx.Err()); f.err == nil {
		f.err = f.commit(last)
	}
	return f.err
}

// commit commits what has been written; last says that nothing follows.
func (f *File) commit(last bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.count()
	if f.disk == nil {
		return f.root.Commit()
	}
	// To look for other writers takes milliseconds, more than a quick checkpoint. What one of
	// them commits between two looks is noticed by the next commit.
	look := f.disk.Published() && (last || time.Since(f.looked) >= time.Second)
	if f.disk.Published() {
		// Between the commit's own look at the head and the write that changes it, another program
		// may write the head and close the file. Nothing but the watch notices that.
		f.disk.Watch()
	}
	if look {
		if err := f.look(); err != nil {
			return err
		}
	}
	commit := f.root.Commit
	if last {
		commit = f.root.Close
	}
	if err := commit(); err != nil {
		return err
	}
	if look {
		err := f.disk.CheckAlone()
		if err == nil {
			err = f.root.Unchanged() // by who opened the file before the commit, and has closed it
		}
		if err != nil {
			return fmt.Errorf("%s: everything is committed, but may be undone: %w", f.disk.Path(), err)
		}
		f.disk.Unwatch()
	}
	if err := f.disk.Publish(); err != nil { // not earlier: a file with this name must be complete
		return err
	}
	var err error
	f.head, err = readHead(f.disk)
	return err
}

// look looks for other writers, with whom the file would end as a mixture.
func (f *File) look() error {
	if f.disk == nil || !f.disk.Published() {
		return nil
	}
	f.looked = time.Now()
	if err := f.disk.CheckAlone(); err != nil {
		return fmt.Errorf("%s: %w", f.disk.Path(), err)
	}
	return nil
}

// readHead returns the header of a file, and maybe more.
func readHead(disk *diskfile.File) ([]byte, error) {
	head := make([]byte, 100)
	n, err := disk.ReadAt(head, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return head[:n], err
}

// Close completes the file. All its writers must have been closed. After an error of the
// file or of a writer, a file that existed at the path stays as it was.
func (f *File) Close() error {
	if f.open > 0 && f.err == nil {
		f.err = fmt.Errorf("%d RNTuples are not closed", f.open)
	}
	if f.err == nil {
		f.commitUnlessDone(true)
	}
	return f.release()
}

// CloseWith makes Close and Abort close c, the Reader of an RNTuple that is continued: page
// lists are read when their cluster groups are merged.
func (f *File) CloseWith(c io.Closer) { f.closer = c }

// Abort discards everything written since the last commit.
func (f *File) Abort() error {
	f.err = cmp.Or(f.err, errAborted)
	if err := f.release(); !errors.Is(err, errAborted) {
		return err
	}
	return nil
}

var errAborted = errors.New("the file was aborted")

// release closes the file on disk, which removes it if it has not been committed.
func (f *File) release() error {
	if f.closer != nil {
		f.pages.Wait() // it may be in use
		f.closer.Close()
		f.closer = nil
	}
	if f.disk == nil {
		return f.err
	}
	f.pages.Wait() // it may write to the file
	if f.err != nil && f.disk.Published() {
		f.shorten()
	}
	err := f.disk.Close()
	f.disk = nil
	f.err = cmp.Or(f.err, err)
	return f.err
}

// shorten takes back what has been written since the last commit, but nothing that was there
// before. It does nothing if it is not certain that the last commit still is what the file
// has: if writing the header of another one failed, or if another process writes, too.
func (f *File) shorten() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if errors.Is(f.err, rootfile.ErrChanged) || errors.Is(f.err, diskfile.ErrOpenElsewhere) || f.disk.CheckAlone() != nil {
		return
	}
	head, err := readHead(f.disk) // last: who had the file open may have closed it
	if err != nil || !bytes.Equal(head, f.head) {
		return
	}
	keep := max(f.root.Size(), f.length)
	if size, err := f.disk.Size(); err == nil && keep < size {
		f.disk.Truncate(keep) // if it fails the file is only longer than it needs to be
	}
}
