package diskfile

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/disk/tempfile"
	"github.com/go-rntuple/go-rntuple/remote"
)

// Options determine how a file is written.
type Options struct {
	Context context.Context // of waiting and of commits; nil stands for context.Background()
	NoSync  bool            // Sync does nothing, and Publish only renames
	Wait    time.Duration   // for how long to wait for the lock of another writer
	Upload  remote.UploadOptions

	// NoReplace makes it an error that wraps fs.ErrExist if there is a file at the path
	// when the new one is created or published.
	NoReplace bool
}

// ErrLocked is the error of a file that another writer has locked.
var ErrLocked = errors.New("another process is updating the file")

// A File is a file on disk that is being written. ReadAt, WriteAt and Clone may be
// called by several goroutines at once, the other methods only by one at a time.
type File struct {
	disk    *os.File // locked, unless guard is
	guard   *os.File // a descriptor that holds the lock instead of disk, or nil
	path    string   // as the caller names it; messages must not have another one
	name    string   // that the file has on disk
	target  string   // that it has once it is published
	options Options
	failed  error  // the first error of a sync
	watch   *watch // nil unless the file is watched

	far      bool        // target is a URL
	uploaded bool        // as it was at some time
	changed  atomic.Bool // since then
}

// Create makes a file that replaces what is at path once it is published. Until then
// it has a temporary name in the same folder. A symbolic link at path is followed, and
// need not lead to a file that exists.
//
// A new file has the mode that the umask leaves of 0666. One that replaces another
// has its mode and, as far as the process may give files away, its owner and group.
//
// If path is a URL, the temporary file is in the folder for temporary files; Publish uploads
// it, again if it has changed since.
func Create(path string, o Options) (*File, error) {
	o.Context = cmp.Or(o.Context, context.Background())
	if remote.IsURL(path) {
		return createFar(path, o)
	}
	f := &File{path: path, options: o}
	fail := func(err error) (*File, error) {
		return nil, &os.PathError{Op: "create", Path: path, Err: cause(err)}
	}
	if _, err := os.Lstat(path); err == nil && o.NoReplace {
		return fail(fs.ErrExist)
	}
	var err error
	if f.target, err = resolve(path); err != nil {
		return fail(err)
	}
	mode := os.FileMode(0o666)
	switch info, err := os.Stat(f.target); {
	case err == nil && !info.Mode().IsRegular():
		return fail(errNotRegular)
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return fail(err)
	}
	dir := folder(f.target)
	removeOrphans(dir)
	if err := f.createIn(dir, mode); err != nil {
		return fail(err)
	}
	return f, nil
}

// createIn makes a locked file of a temporary name in a folder.
func (f *File) createIn(dir string, mode os.FileMode) (err error) {
	for range 100 {
		if err = f.create(dir, mode); !errors.Is(err, errBusy) {
			break
		}
	}
	return err
}

var errNotRegular = errors.New("not a regular file")

// resolve follows symbolic links at path. It does not clean paths, because "link/.."
// need not be the folder of link.
func resolve(path string) (string, error) {
	const maxLinks = 40 // as in Linux
	for range maxLinks {
		info, err := os.Lstat(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		dir, base := filepath.Split(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			if base == "" {
				return "", fs.ErrNotExist
			}
			return path, nil
		}
		if path, err = os.Readlink(path); err != nil {
			return "", err
		}
		if !filepath.IsAbs(path) {
			path = dir + path
		}
	}
	return "", errors.New("too many levels of symbolic links")
}

// folder returns the folder of the file at path, which ends in a separator.
func folder(path string) string {
	if dir, _ := filepath.Split(path); dir != "" {
		return dir
	}
	return "." + string(filepath.Separator)
}

// Temporary names are short, so that every name that a folder takes can be that of a
// target. They consist of host, a random part, and what is around them.
const prefix, suffix = ".rntuple-", ".tmp"

// host stands for this machine. Some network file systems have locks that only hold within
// a machine.
var host = sync.OnceValue(func() string {
	name, _ := os.Hostname()
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(name)))
})

// create makes a locked file of a temporary name. The error is errBusy if the name is
// taken, or if somebody cleaned it up before it was locked.
func (f *File) create(dir string, mode os.FileMode) error {
	var id [8]byte
	rand.Read(id[:]) // never fails
	f.name = dir + prefix + host() + hex.EncodeToString(id[:]) + suffix
	if _, err := call(Op{Kind: CreateOp, Path: f.name}); err != nil {
		return err
	}
	disk, err := tempfile.Create(func() (*os.File, error) {
		return openFile(f.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	})
	if errors.Is(err, fs.ErrExist) {
		return errBusy
	}
	if err != nil {
		return err
	}
	if err := lock(disk); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		disk.Close()
		if errors.Is(err, errBusy) {
			tempfile.Forget(f.name)
		} else {
			tempfile.Remove(f.name)
		}
		return err
	}
	if !names(f.name, disk) {
		disk.Close()
		tempfile.Forget(f.name)
		return errBusy
	}
	f.disk = disk
	return nil
}

// Update opens an existing file to change it in place. A file that another writer
// replaces while Update waits for the lock is opened anew.
func Update(path string, o Options) (*File, error) {
	if remote.IsURL(path) {
		return nil, &os.PathError{Op: "change", Path: remote.Redact(path), Err: errFar}
	}
	o.Context = cmp.Or(o.Context, context.Background())
	f := &File{path: path, name: path, target: path, options: o}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: cause(err)}
	}
	for {
		guard, err := lockPath(path, o)
		if err == nil {
			f.disk, err = openFile(path, os.O_RDWR, 0)
		}
		if err != nil {
			closeAll(guard)
			return nil, err
		}
		if guard == nil || same(guard, f.disk) {
			f.guard = guard
			return f, nil
		}
		closeAll(guard, f.disk)
	}
}

// grace is for how long a writer that does not want to wait still does. A process that looks for
// orphans, and opens a temporary file just before it is published, holds the lock of the
// published file for an instant. It is a variable for tests.
var grace = 200 * time.Millisecond

// lockPath locks the file at path, and returns the descriptor that holds the lock: nil
// if the file system has no locks. The descriptor is not open for writing if that is
// possible, because [File.OtherWriters] would take who waits for a writer.
func lockPath(path string, o Options) (guard *os.File, err error) {
	deadline := time.Now().Add(max(o.Wait, grace))
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		guard, err = tryLock(path)
		if !errors.Is(err, errBusy) {
			return guard, err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return nil, fmt.Errorf("%s: %w", path, ErrLocked)
		}
		select {
		case <-o.Context.Done():
			return nil, o.Context.Err()
		case <-time.After(min(pause, left)):
		}
	}
}

func tryLock(path string) (*os.File, error) {
	for flag := os.O_RDONLY; ; {
		guard, err := openFile(path, flag, 0)
		if err != nil {
			return nil, err
		}
		err = lock(guard)
		switch {
		case err == nil && names(path, guard):
			return guard, nil
		case err == nil: // replaced in the meantime
		case needsWrite(err) && flag == os.O_RDONLY:
			flag = os.O_RDWR
		case errors.Is(err, errors.ErrUnsupported):
			guard.Close()
			return nil, nil
		default:
			guard.Close()
			return nil, err
		}
		guard.Close()
	}
}

// errBusy is the error of lock if another descriptor has the lock.
var errBusy = errors.New("busy")

// names reports whether f is the file that has the given name.
func names(name string, f *os.File) bool {
	info, err := os.Stat(name)
	other, err2 := f.Stat()
	return err == nil && err2 == nil && os.SameFile(info, other)
}

// same reports whether a and b are the same file.
func same(a, b *os.File) bool {
	info, err := a.Stat()
	other, err2 := b.Stat()
	return err == nil && err2 == nil && os.SameFile(info, other)
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// Disk returns the file, for what this type has no methods for. It must not be written
// to or closed, and its name may be a temporary one.
func (f *File) Disk() *os.File { return f.disk }

// Path returns the path that Create or Update was called with; of a URL without what may be secret.
func (f *File) Path() string { return f.path }

// Published reports whether readers see the file, and what is written to it, under its name. They
// never do at a URL, where they see what was uploaded.
func (f *File) Published() bool { return f.name == f.target }

// Size returns the length of the file in bytes.
func (f *File) Size() (int64, error) {
	info, err := f.disk.Stat()
	if err != nil {
		return 0, f.named(err)
	}
	return info.Size(), nil
}

func (f *File) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.disk.ReadAt(p, off)
	return n, f.named(err)
}

func (f *File) WriteAt(p []byte, off int64) (int, error) {
	f.changed.Store(true)
	if n, err := call(Op{Kind: WriteOp, Path: f.name, Off: off, Data: p}); err != nil {
		n, _ = f.disk.WriteAt(p[:min(n, len(p))], off)
		return n, &os.PathError{Op: "write", Path: f.path, Err: err}
	}
	n, err := f.disk.WriteAt(p, off)
	return n, f.named(err)
}

// Truncate changes the length of the file.
func (f *File) Truncate(size int64) error {
	f.changed.Store(true)
	if _, err := call(Op{Kind: TruncateOp, Path: f.name, Off: size}); err != nil {
		return &os.PathError{Op: "truncate", Path: f.path, Err: err}
	}
	return f.named(f.disk.Truncate(size))
}

// Sync returns once everything that has been written is on the disk. For a file that
// is not published it does nothing, because Publish does it. After an error it is not
// known what is on the disk, and a second attempt would not tell: Sync returns the
// error ever after, and Publish as well.
func (f *File) Sync() error {
	if f.options.NoSync || !f.Published() {
		return f.failed
	}
	return f.sync()
}

func (f *File) sync() error {
	if f.failed != nil || f.options.NoSync {
		return f.failed
	}
	if _, err := call(Op{Kind: SyncOp, Path: f.name}); err != nil {
		f.failed = &os.PathError{Op: "sync", Path: f.path, Err: err}
	} else {
		f.failed = f.named(f.disk.Sync())
	}
	return f.failed
}

// Publish gives a new file its name, once all of it is on the disk. The file can be
// written to afterwards. It is an error if the file that it replaces is being updated, or if
// the context is done.
// Publish does nothing if the file has its name already.
func (f *File) Publish() error {
	if f.far {
		return f.upload()
	}
	if f.Published() {
		return f.failed
	}
	if err := f.inherit(); err != nil {
		return f.named(err)
	}
	if err := f.sync(); err != nil {
		return err
	}
	if err := f.rename(); err != nil {
		return err
	}
	f.name = f.target
	if f.options.NoSync {
		return nil
	}
	f.failed = f.syncFolder()
	return f.failed
}

// inherit takes the mode, owner and group of the file that is replaced, if there is
// one.
func (f *File) inherit() error {
	old, err := os.Stat(f.target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	mine, err := f.disk.Stat()
	if err != nil {
		return err
	}
	if err := chown(f.disk, mine, old); err != nil {
		return err
	}
	if mine.Mode().Perm() == old.Mode().Perm() {
		return nil
	}
	return f.disk.Chmod(old.Mode().Perm())
}

// rename gives the file its name. It holds the lock of the file that is replaced, so
// that an update which runs is not lost.
func (f *File) rename() error {
	give := os.Rename
	if f.options.NoReplace {
		give = link
	} else {
		guard, err := lockPath(f.target, f.options)
		switch {
		case err == nil:
			if mustCloseToReplace {
				closeAll(guard)
			} else {
				defer closeAll(guard)
			}
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission): // nothing there, or nobody can lock it
		case errors.Is(err, ErrLocked):
			return fmt.Errorf("%s: %w", f.path, ErrLocked)
		default:
			return f.named(err)
		}
	}
	if err := f.lastLook(); err != nil {
		return err
	}
	_, err := call(Op{Kind: RenameOp, Path: f.name, To: f.target})
	if err == nil {
		err = give(f.name, f.target)
	}
	if err != nil {
		return &os.PathError{Op: "rename", Path: f.path, Err: cause(err)}
	}
	tempfile.Forget(f.name)
	return nil
}

// link is os.Rename, unless there is a file at the new path.
func link(name, target string) error {
	err := os.Link(name, target)
	switch {
	case err == nil:
		os.Remove(name) // if it fails, removeOrphans does it
		return nil
	case errors.Is(err, fs.ErrExist):
		return err
	}
	// File systems without links: take the name, and replace what has it.
	taken, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	taken.Close()
	if err = os.Rename(name, target); err != nil {
		os.Remove(target)
	}
	return err
}

// syncFolder makes the name of the file last. Not all systems and file systems can
// sync a folder; those that cannot keep its entries by other means.
func (f *File) syncFolder() error {
	dir := folder(f.target)
	if !syncsFolders {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return nil // it may be a folder that can be written to, but not read
	}
	defer d.Close()
	if _, err = call(Op{Kind: SyncDirOp, Path: dir}); err == nil {
		err = d.Sync()
	}
	if err != nil && !cannotSync(err) {
		return &os.PathError{Op: "sync", Path: dir, Err: cause(err)}
	}
	return nil
}

// Close closes the file and gives up its lock. A file that is not published is
// removed.
func (f *File) Close() error {
	if f.disk == nil {
		return os.ErrClosed
	}
	f.Unwatch()
	if !f.Published() {
		if _, err := call(Op{Kind: RemoveOp, Path: f.name}); err == nil {
			tempfile.Remove(f.name) // what is left is an orphan to the next writer
		}
	}
	err := f.named(f.disk.Close())
	closeAll(f.guard)
	f.disk, f.guard = nil, nil
	return err
}

// cause returns an error of package os without its path.
func cause(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

// named returns an error of package os with the path that the caller gave.
func (f *File) named(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return &os.PathError{Op: e.Op, Path: f.path, Err: e.Err}
	}
	return err
}
