package powercut

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/go-rntuple/go-rntuple/internal/disk/diskfile"
)

// sector is the number of bytes that a disk writes as a whole.
const sector = 512

// An Op is an operation on files.
type Op = diskfile.Op

// A Log records operations on files. It is safe for concurrent use until the images are
// made.
type Log struct {
	// Ops are the operations so far. Reading it while others record is a race.
	Ops []Op

	mu    sync.Mutex
	start map[string][]byte // the files that were there before, by path
	marks []int             // numbers of operations
}

// NewLog returns a Log for a disk that holds the given files, by path, and nothing else.
func NewLog(files map[string][]byte) *Log {
	l := &Log{start: map[string][]byte{}}
	maps.Copy(l.start, files)
	return l
}

// Hook records an operation. It is a hook of package diskfile.
func (l *Log) Hook(op Op) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	op.Data = bytes.Clone(op.Data)
	l.Ops = append(l.Ops, op)
	return len(op.Data), nil
}

// Mark ends a phase: what was written so far has been acknowledged to the user.
func (l *Log) Mark() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.marks = append(l.marks, len(l.Ops))
}

// Count returns the number of operations of a kind.
func (l *Log) Count(kind diskfile.OpKind) (n int) {
	for _, op := range l.Ops {
		if op.Kind == kind {
			n++
		}
	}
	return n
}

// phase returns the number of marks before a cut after the first k operations.
func (l *Log) phase(k int) (n int) {
	for n < len(l.marks) && l.marks[n] <= k {
		n++
	}
	return n
}

// A file is the contents of a file on disk, whatever its names are.
type file struct {
	durable []byte
	pending []Op // writes and truncations since the last sync
}

// A move is a change of the names of a folder.
type move struct {
	from, to string // one of them is empty if a name was made or removed
	file     *file
}

// A disk is what a disk holds, and what is on the way to it.
type disk struct {
	names map[string]*file  // durable
	now   map[string]*file  // as programs see it
	open  map[string]*file  // by the names under which files were opened
	moves map[string][]move // since the last sync of the folder
}

// disk returns the disk before the first operation.
func (l *Log) disk() *disk {
	d := &disk{names: map[string]*file{}, now: map[string]*file{}, open: map[string]*file{}, moves: map[string][]move{}}
	for path, b := range l.start {
		f := &file{durable: bytes.Clone(b)}
		d.names[path], d.now[path], d.open[path] = f, f, f
	}
	return d
}

// do applies an operation.

func (d *disk) do(op Op) error {
	folder := filepath.Dir(op.Path)
	f := d.open[op.Path]
	if f == nil && op.Kind != diskfile.CreateOp && op.Kind != diskfile.SyncDirOp {
		return fmt.Errorf("there is no such file")
	}
	switch op.Kind {
	case diskfile.CreateOp:
		f = new(file)
		d.now[op.Path], d.open[op.Path] = f, f
		d.moves[folder] = append(d.moves[folder], move{to: op.Path, file: f})
	case diskfile.WriteOp, diskfile.TruncateOp:
		f.pending = append(f.pending, op)
	case diskfile.SyncOp:
		for _, op := range f.pending {
			f.durable = whole.apply(f.durable, op)
		}
		f.pending = nil
	case diskfile.RenameOp:
		if filepath.Dir(op.To) != folder {
			return fmt.Errorf("a rename from folder to folder is not supported")
		}
		f = d.now[op.Path]
		delete(d.now, op.Path)
		d.now[op.To], d.open[op.To] = f, f // its writer may go on under the old name
		d.moves[folder] = append(d.moves[folder], move{op.Path, op.To, f})
	case diskfile.RemoveOp:
		delete(d.now, op.Path)
		d.moves[folder] = append(d.moves[folder], move{from: op.Path})
	case diskfile.SyncDirOp:
		folder = filepath.Clean(op.Path)
		for _, m := range d.moves[folder] {
			m.apply(d.names)
		}
		d.moves[folder] = nil
	default:
		return fmt.Errorf("unknown operation")
	}
	return nil
}

func (m move) apply(names map[string]*file) {
	if m.from != "" {
		delete(names, m.from)
	}
	if m.to != "" {
		names[m.to] = m.file
	}
}

// candidates returns the files that may have the given name after a power cut; nil stands
// for none.
func (d *disk) candidates(path string) (files []*file) {
	names := maps.Clone(d.names)
	add := func() {
		if f := names[path]; !slices.Contains(files, f) {
			files = append(files, f)
		}
	}
	add()
	for _, m := range d.moves[filepath.Dir(path)] {
		m.apply(names)
		add()
	}
	return files
}

// describe returns an operation as text.
func describe(op Op) string {
	name := filepath.Base(op.Path)
	switch op.Kind {
	case diskfile.CreateOp:
		return "create " + name
	case diskfile.WriteOp:
		return fmt.Sprintf("write %s [%d:%d]", name, op.Off, op.Off+int64(len(op.Data)))
	case diskfile.TruncateOp:
		return fmt.Sprintf("truncate %s to %d", name, op.Off)
	case diskfile.SyncOp:
		return "sync " + name
	case diskfile.RenameOp:
		return fmt.Sprintf("rename %s to %s", name, filepath.Base(op.To))
	case diskfile.RemoveOp:
		return "remove " + name
	case diskfile.SyncDirOp:
		return "sync folder"
	}
	return fmt.Sprintf("operation of kind %d", op.Kind)
}

// String returns the operations, a line each.
func (l *Log) String() string {
	var b strings.Builder
	marks := l.marks
	for i := 0; i <= len(l.Ops); i++ {
		for ; len(marks) > 0 && marks[0] == i; marks = marks[1:] {
			fmt.Fprintln(&b, "---- acknowledged")
		}
		if i < len(l.Ops) {
			fmt.Fprintf(&b, "%4d %s\n", i, describe(l.Ops[i]))
		}
	}
	return b.String()
}

// A Target is a file in memory whose operations are recorded, for writers that need no path.
type Target struct {
	Path string
	Log  *Log
	b    []byte
}

// NewTarget returns the file at a path of the disk that the log began with; if there is
// none, an empty one.
func NewTarget(l *Log, path string) *Target {
	if l.start[path] == nil {
		l.start[path] = []byte{}
	}
	return &Target{Path: path, Log: l, b: bytes.Clone(l.start[path])}
}

func (t *Target) do(op Op) error {
	op.Path = t.Path
	_, err := t.Log.Hook(op)
	return err
}

// ReadAt implements io.ReaderAt.
func (t *Target) ReadAt(b []byte, at int64) (int, error) {
	return bytes.NewReader(t.b).ReadAt(b, at)
}

// WriteAt implements io.WriterAt.
func (t *Target) WriteAt(b []byte, at int64) (int, error) {
	if at < 0 {
		return 0, io.ErrUnexpectedEOF
	}
	op := Op{Kind: diskfile.WriteOp, Off: at, Data: b}
	t.b = whole.apply(t.b, op)
	return len(b), t.do(op)
}

// Truncate sets the length of the file.
func (t *Target) Truncate(size int64) error {
	op := Op{Kind: diskfile.TruncateOp, Off: size}
	t.b = whole.apply(t.b, op)
	return t.do(op)
}

// Sync makes the file durable.
func (t *Target) Sync() error { return t.do(Op{Kind: diskfile.SyncOp}) }

// Size returns the length of the file.
func (t *Target) Size() int64 { return int64(len(t.b)) }
