package remote

import (
	"cmp"
	"fmt"
	"time"
)

// Options say how files are read. The zero value stands for the defaults, and so does a nil
// pointer.
type Options struct {
	// Timeout is how long a request may go without 1 KiB, or all that is left, arriving. Default:
	// 30 s.
	Timeout time.Duration
	// MaxWait is how long a request may go without 1 KiB in all, although the server asks to wait
	// for it: waits, redirections and attempts count together. Default: 30 min.
	MaxWait time.Duration
	// Attempts is how often a request is made before its error is returned. Only errors that may
	// pass are worth another one. Default: 5.
	Attempts int
	// Backoff is the time before the second attempt; it doubles for each one after, up to 10 s, and
	// varies by half. Default: 200 ms.
	Backoff time.Duration
	// Requests limits how many requests are under way at a time for a host, from all files that
	// share this Options, or its Host. Default: 16.
	Requests int
	// Whole limits the size in bytes of files that are read whole, into memory, because their
	// server cannot read ranges. Larger ones are refused with ErrNoRanges. Default: 64 MiB.
	Whole int64
	// Anonymous is set to send no credentials, even if there are any.
	Anonymous bool
	// Pool keeps files open, for those who open them again. Default: none.
	Pool *Pool
	// Cache keeps what is read on disk. Default: none.
	Cache *Cache
	// Stats, if set, counts requests and bytes.
	Stats *Stats
	// Tail is how many of the last bytes of a file are read when it is opened: its directory, the
	// anchor and the footer are mostly among them. Default: 64 KiB.
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
