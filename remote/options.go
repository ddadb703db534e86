package remote

import (
	"cmp"
	"fmt"
	"time"
)

// Options configures how remote files are read. The zero value and a nil pointer select the
// defaults.
type Options struct {
	// Timeout is the time within which at least 1 KiB, or the rest of the response, must arrive.
	// Default: 30 s.
	Timeout time.Duration
	// MaxWait is the same limit including the time that the server asks the client to wait; waits,
	// redirections and retries count together. Default: 30 min.
	MaxWait time.Duration
	// Attempts is the maximum number of attempts of a request. Only temporary errors are retried,
	// see Temporary. Default: 5.
	Attempts int
	// Backoff is the delay before the second attempt; it doubles with each further attempt, up to
	// 10 s, with a random jitter of 50 %. Default: 200 ms.
	Backoff time.Duration
	// Requests limits the number of concurrent requests to a host, for all files of the process
	// that are opened with the same limit. Default: 16.
	Requests int
	// Whole is the maximum size in bytes of files that are read entirely into memory if the server
	// does not support range requests. Larger files fail with ErrNoRanges. Default: 64 MiB.
	Whole int64
	// Anonymous disables credentials.
	Anonymous bool
	// Pool keeps closed files open for reuse. Default: none.
	Pool *Pool
	// Cache caches data on disk. Default: none.
	Cache *Cache
	// Stats, if set, collects statistics of requests.
	Stats *Stats
	// Tail is the number of bytes at the end of a file that are read when it is opened, because
	// they usually contain its directory, the anchor and the footer. Default: 64 KiB.
	Tail int64
}

// complete returns the options with the defaults filled in.
func (o Options) complete() (Options, error) {
	for _, n := range []struct {
		name  string
		value int64
	}{
		{"Timeout", int64(o.Timeout)}, {"MaxWait", int64(o.MaxWait)}, {"Attempts", int64(o.Attempts)},
		{"Backoff", int64(o.Backoff)},
		{"Requests", int64(o.Requests)}, {"Whole", o.Whole}, {"Tail", o.Tail},
	} {
		if n.value < 0 {
			return o, fmt.Errorf("remote.Options.%s is %d; it must not be negative", n.name, n.value)
		}
	}
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.MaxWait = cmp.Or(o.MaxWait, 30*time.Minute)
	o.Attempts = cmp.Or(o.Attempts, 5)
	o.Backoff = cmp.Or(o.Backoff, 200*time.Millisecond)
	o.Requests = cmp.Or(o.Requests, 16)
	o.Whole = cmp.Or(o.Whole, 64<<20)
	o.Tail = cmp.Or(o.Tail, 64<<10)
	o.Stats = cmp.Or(o.Stats, new(Stats))
	return o, nil
}
