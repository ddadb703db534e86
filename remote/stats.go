package remote

import (
	"sync/atomic"
	"time"
)

// Stats counts what is read from files. It is safe for concurrent use; the zero value counts from
// 0.
type Stats struct {
	opened, size               atomic.Int64
	requests, repeated, waited atomic.Int64
	wanted, read, cached       atomic.Int64
	written                    atomic.Int64
}

// A Count is what Stats has counted.
type Count struct {
	Files    int64 // that were opened
	FileSize int64 // bytes of these files together

	Requests int64 // that were made, the repeated ones among them
	Repeated int64 // requests that had failed and were made again

	Wanted int64 // bytes that the reader asked for, those among them that were in memory already
	Read   int64 // bytes that arrived, with those between ranges and those of repeated requests
	Cached int64 // bytes that the cache had

	Written int64 // bytes that were sent of files that were uploaded, with those of repeated requests

	Waiting time.Duration // time that requests took, added up: several may be under way at a time
}

// Count returns what has been counted so far.
func (s *Stats) Count() Count {
	return Count{
		Files: s.opened.Load(), FileSize: s.size.Load(), Requests: s.requests.Load(), Repeated: s.repeated.Load(),
		Wanted: s.wanted.Load(), Read: s.read.Load(), Cached: s.cached.Load(), Written: s.written.Load(),
		Waiting: time.Duration(s.waited.Load()),
	}
}
