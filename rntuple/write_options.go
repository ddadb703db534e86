package rntuple

import (
	"context"
	"fmt"
	"time"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/remote"
)

// A WriteOption changes how a file or an RNTuple is written. The defaults are those of
// ROOT's RNTupleWriteOptions.
type WriteOption func(*ntuple.WriteOptions) error

// positive returns an option that sets a number, which must be positive.
func positive(name string, v int64, set func(*ntuple.WriteOptions)) WriteOption {
	return func(o *ntuple.WriteOptions) error {
		if v <= 0 {
			return fmt.Errorf("%s: %d; the number must be positive", name, v)
		}
		set(o)
		return nil
	}
}

// WriteContext sets the context of writing. Once it is done, all methods of writers return
// its error, Close included, and no file is created. Default: context.Background().
func WriteContext(ctx context.Context) WriteOption {
	return func(o *ntuple.WriteOptions) error { o.Context = ctx; return nil }
}

// Description sets the description of the RNTuple. Default: none.
func Description(text string) WriteOption {
	return func(o *ntuple.WriteOptions) error { o.Description = text; return nil }
}

// Compression sets how pages and envelopes are compressed. Level 0 stores them, and makes
// plain encodings the default instead of split ones. Default: 505, zstd at level 5.
func Compression(s compress.Settings) WriteOption {
	return func(o *ntuple.WriteOptions) error {
		if _, err := compress.Append(nil, nil, s); err != nil {
			return err
		}
		o.Pages.Compression = s
		return nil
	}
}

// ClusterSize sets the size in bytes that a cluster should have on disk. The writer holds
// that much in memory until the cluster is complete; twice as much if there are several
// Workers, which write a cluster while the next one is filled. Default: 128 MiB.
func ClusterSize(bytes int64) WriteOption {
	return positive("ClusterSize", bytes, func(o *ntuple.WriteOptions) { o.Pages.ZippedCluster = bytes })
}

// MaxUnzippedClusterSize sets the uncompressed size in bytes at which a cluster always
// ends. Default: ten times ClusterSize.
func MaxUnzippedClusterSize(bytes int64) WriteOption {
	return positive("MaxUnzippedClusterSize", bytes, func(o *ntuple.WriteOptions) { o.Pages.UnzippedCluster = bytes })
}

// MaxUnzippedPageSize sets the largest size of a page in memory, in bytes. Default: 1 MiB.
func MaxUnzippedPageSize(bytes int64) WriteOption {
	return positive("MaxUnzippedPageSize", bytes, func(o *ntuple.WriteOptions) { o.Pages.MaxPage = bytes })
}

// PageBufferBudget sets the size in bytes of the memory for pages that are being filled.
// When they need more, the largest ones are written early, the same ones as in ROOT. At
// least 512 bytes per column are needed; with less, no page grows beyond 256 bytes. Default:
// ClusterSize, or twice that with compression.
func PageBufferBudget(bytes int64) WriteOption {
	return positive("PageBufferBudget", bytes, func(o *ntuple.WriteOptions) { o.PageBudget = bytes })
}

// MaxKeySize sets the size in bytes above which pages and envelopes are split over several
// keys of the ROOT file. Default: 1 GiB, the largest that ROOT allows.
func MaxKeySize(bytes int64) WriteOption {
	return func(o *ntuple.WriteOptions) error {
		if bytes < 16 || bytes > 1<<30 {
			return fmt.Errorf("MaxKeySize: %d bytes; the size must be from 16 bytes to 1 GiB", bytes)
		}
		o.Pages.MaxKeySize = uint64(bytes)
		return nil
	}
}

// PageChecksums sets whether pages get checksums. Default: true.
func PageChecksums(on bool) WriteOption {
	return func(o *ntuple.WriteOptions) error { o.Pages.NoChecksums = !on; return nil }
}

// SharePages sets whether equal pages of a cluster are stored once. It has no effect without
// PageChecksums. Default: true.
func SharePages(on bool) WriteOption {
	return func(o *ntuple.WriteOptions) error { o.Pages.NoSharing = !on; return nil }
}

// Workers sets the number of goroutines that encode and compress pages, including the
// caller's. With more than one, clusters are written in the background, and errors may be
// returned by later calls. Fill runs as many goroutines. The bytes written do not depend on
// it. Default: runtime.GOMAXPROCS(0).
func Workers(n int) WriteOption {
	return positive("Workers", int64(n), func(o *ntuple.WriteOptions) { o.Pages.Workers = n })
}

// Sync sets whether Close and Checkpoint return only once everything is on the disk, so that a
// power failure cannot take it away, nor damage what the file had before. Without it they are
// faster, by some milliseconds on most disks. Default: true.
func Sync(on bool) WriteOption {
	return func(o *ntuple.WriteOptions) error { o.NoSync = !on; return nil }
}

// NoReplace makes it an error, which wraps fs.ErrExist, if there is a file at the path of a new
// one: when it is created, and when Close or the first checkpoint gives it its name, as O_EXCL
// does for files that are opened. At a URL, the protocols of package remote promise as much as
// for uploads that do not replace a file. It has no effect on files that are updated. Default:
// the file is replaced.
func NoReplace() WriteOption {
	return func(o *ntuple.WriteOptions) error { o.NoReplace = true; return nil }
}

// LockWait sets for how long to wait for another process that is updating the file, or, when a
// new file is closed, the one that it replaces. Default: 0, not at all: the error wraps
// ErrLocked.
func LockWait(d time.Duration) WriteOption {
	return func(o *ntuple.WriteOptions) error { o.Wait = d; return nil }
}

// Upload sets how a file is written whose name is a URL. Default: as files on disk are, with Replace
// set, and otherwise the zero value.
func Upload(o remote.UploadOptions) WriteOption {
	return func(to *ntuple.WriteOptions) error { to.Upload = o; return nil }
}

// Clock sets the clock for the dates of the file's records. Default: time.Now.
func Clock(now func() time.Time) WriteOption {
	return func(o *ntuple.WriteOptions) error { o.File.Clock = now; return nil }
}

// UUID sets the identity of the file. Files with the same UUID, dates and contents are equal
// byte for byte. Default: a random one.
func UUID(id [16]byte) WriteOption {
	return func(o *ntuple.WriteOptions) error { o.File.UUID = id; return nil }
}
