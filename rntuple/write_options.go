package rntuple

import (
	"context"
	"fmt"
	"time"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
)

// A WriteOption changes how a file or an RNTuple is written. The defaults are
// those of ROOT's RNTupleWriteOptions.
type WriteOption func(*ntuple.WriteOptions) error

// positive is an option that sets a size.
func positive(name string, v int64, set func(*ntuple.WriteOptions)) WriteOption {
	return func(o *ntuple.WriteOptions) error {
		if v <= 0 {
			return fmt.Errorf("%s: %d", name, v)
		}
		set(o)
		return nil
	}
}

// WriteContext makes writing end with the context's error once it is done, closing
// included: the file then does not come into being. Default: context.Background().
func WriteContext(ctx context.Context) WriteOption {
	return func(o *ntuple.WriteOptions) error { o.Context = ctx; return nil }
}

// Description sets the description of the RNTuple. Default: none.
func Description(text string) WriteOption {
	return func(o *ntuple.WriteOptions) error { o.Description = text; return nil }
}

// Compression sets how pages and envelopes are compressed; level 0 stores them,
// and makes plain encodings the default instead of split ones. Default: 505,
// zstd of level 5.
func Compression(s compress.Settings) WriteOption {
	return func(o *ntuple.WriteOptions) error {
		if _, err := compress.Append(nil, nil, s); err != nil {
			return err
		}
		o.Pages.Compression = s
		return nil
	}
}

// ClusterSize sets the size in bytes that a cluster should have on disk. The
// writer has that much in memory, until the cluster is complete; twice as much
// if there are several Workers, which write a cluster while the next one is
// filled. Default: 128 MiB.
func ClusterSize(bytes int64) WriteOption {
	return positive("ClusterSize", bytes, func(o *ntuple.WriteOptions) { o.Pages.ZippedCluster = bytes })
}

// MaxUnzippedClusterSize sets the size in bytes, uncompressed, at which a cluster
// ends in any case. Default: ten times ClusterSize.
func MaxUnzippedClusterSize(bytes int64) WriteOption {
	return positive("MaxUnzippedClusterSize", bytes, func(o *ntuple.WriteOptions) { o.Pages.UnzippedCluster = bytes })
}

// MaxUnzippedPageSize sets the largest size of a page in bytes of memory.
// Default: 1 MiB.
func MaxUnzippedPageSize(bytes int64) WriteOption {
	return positive("MaxUnzippedPageSize", bytes, func(o *ntuple.WriteOptions) { o.Pages.MaxPage = bytes })
}

// PageBufferBudget sets how many bytes of memory the pages may take that are
// being filled; when they need more, the largest ones are written early, the
// same as ROOT writes early. 512 bytes a column are the least that is needed: if
// there are less, no page gets larger than 256. Default: ClusterSize, twice that
// if there is compression.
func PageBufferBudget(bytes int64) WriteOption {
	return positive("PageBufferBudget", bytes, func(o *ntuple.WriteOptions) { o.PageBudget = bytes })
}

// MaxKeySize sets the size in bytes from which on pages and envelopes are split
// over several keys of the ROOT file. Default: 1 GiB, the most that ROOT allows.
func MaxKeySize(bytes int64) WriteOption {
	return func(o *ntuple.WriteOptions) error {
		if bytes < 16 || bytes > 1<<30 {
			return fmt.Errorf("MaxKeySize: %d", bytes)
		}
		o.Pages.MaxKeySize = uint64(bytes)
		return nil
	}
}

// PageChecksums tells whether pages get checksums. Default: true.
func PageChecksums(on bool) WriteOption {
	return func(o *ntuple.WriteOptions) error { o.Pages.NoChecksums = !on; return nil }
}

// SharePages tells whether equal pages of a cluster are stored once. It needs
// PageChecksums. Default: true.
func SharePages(on bool) WriteOption {
	return func(o *ntuple.WriteOptions) error { o.Pages.NoSharing = !on; return nil }
}

// Workers sets how many goroutines encode and compress pages, the caller's being
// one of them. With more than one, clusters are written in the background, and
// errors may come out later; with one, nothing happens outside of calls. What is
// written does not depend on it. Default: runtime.GOMAXPROCS(0).
func Workers(n int) WriteOption {
	return positive("Workers", int64(n), func(o *ntuple.WriteOptions) { o.Pages.Workers = n })
}

// Clock sets the clock that dates the records of the file. Default: time.Now.
func Clock(now func() time.Time) WriteOption {
	return func(o *ntuple.WriteOptions) error { o.File.Clock = now; return nil }
}

// UUID sets the identity of the file. With the same UUID and Clock, writing the
// same makes the same bytes. Default: a random one.
func UUID(id [16]byte) WriteOption {
	return func(o *ntuple.WriteOptions) error { o.File.UUID = id; return nil }
}
