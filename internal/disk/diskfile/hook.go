package diskfile

// An Op is an operation on the file system.
type Op struct {
	Kind OpKind
	Path string // of the file, or for SyncDirOp the folder
	To   string // the new name, of RenameOp
	Off  int64  // where to write, or the new length
	Data []byte // to write; only valid during the call
}

// An OpKind is a kind of operation.
type OpKind int

const (
	CreateOp OpKind = iota
	WriteOp
	SyncOp
	TruncateOp
	RenameOp
	SyncDirOp
	RemoveOp
)

// Hook, if not nil, is called before each operation, possibly by several goroutines at
// once. If it returns an error the operation fails with it, and is not done; of a write
// the first n bytes are. It is for tests, which must set it while no file is open.
//
// Bytes that are cloned from other files are reported as a write once they are there.
var Hook func(op Op) (n int, err error)

func call(op Op) (int, error) {
	if Hook == nil {
		return 0, nil
	}
	return Hook(op)
}
