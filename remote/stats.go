package remote

import (
	"sync/atomic"
	"time"
)

// Stats collects statistics of remote files. It is safe for concurrent use; the zero value is ready
// to use.
type Stats struct {
	opened, size               atomic.Int64
	requests, repeated, waited atomic.Int64
	wanted, read, cached       atomic.Int64
	written                    atomic.Int64
}

// A Count is a snapshot of Stats.
type Count struct {
	Files    int64 // number of opened files
	FileSize int64 // total size of these files in bytes

	Requests int64 // number of requests, including retries
	Repeated int64 // number of retries

	Wanted int64 // bytes requested by the reader, including those already in memory
	Read   int64 // bytes received, including gaps between ranges and retries
	Cached int64 // bytes served from the cache

	Written int64 // bytes sent for uploads, including retries

	Waiting time.Duration // sum of the durations of requests, which may overlap
}

// Count returns a snapshot of the statistics.
func (s *Stats) Count() Count {
	return Count{
		Files: s.opened.Load(), FileSize: s.size.Load(), Requests: s.requests.Load(), Repeated: s.repeated.Load(),
		Wanted: s.wanted.Load(), Read: s.read.Load(), Cached: s.cached.Load(), Written: s.written.Load(),
		Waiting: time.Duration(s.waited.Load()),
	}
}
