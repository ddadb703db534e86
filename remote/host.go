package remote

import (
	"cmp"
	"context"
	"sync"
	"time"
)

// A host is the state shared by files on one server: the limit of concurrent requests, and their
// measured costs.
type host struct {
	slots chan struct{}

	mu      sync.Mutex
	latency time.Duration // from a request to its first byte; 0 if not known yet
	rate    float64       // bytes per second, of one request; 0 if not known yet
}

var hosts = struct {
	sync.Mutex
	all map[hostKey]*host
}{all: map[hostKey]*host{}}

type hostKey struct {
	name  string
	slots int
}

// hostOf returns the host of the given name for files that may have a number of requests under way.
func hostOf(name string, slots int) *host {
	hosts.Lock()
	defer hosts.Unlock()
	key := hostKey{name, slots}
	h := hosts.all[key]
	if h == nil {
		h = &host{slots: make(chan struct{}, slots)}
		hosts.all[key] = h
	}
	return h
}

// enter waits until another request may be made.
func (h *host) enter(ctx context.Context) error {
	select {
	case h.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (h *host) leave() { <-h.slots }

// A measure is what one request took.
type measure struct {
	start, first, last time.Time
	bytes              int64 // without the first ones
	total              int64 // with them
}

// arrived counts n bytes that have arrived now.
func (m *measure) arrived(n int) {
	m.last = time.Now()
	m.total += int64(n)
	if m.first.IsZero() {
		m.first = m.last
		return
	}
	m.bytes += int64(n)
}

// enough is how many bytes tell how many arrive in a second.
const enough = 256 << 10

// measured learns from a request.
func (h *host) measured(m measure) {
	if m.first.IsZero() {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	// The shortest of the last times counts: others waited for more than the way.
	if t := m.first.Sub(m.start); h.latency == 0 || t < h.latency {
		h.latency = t
	} else {
		h.latency += (t - h.latency) / 16
	}
	if t := m.last.Sub(m.first).Seconds(); m.bytes >= enough && t > 0 {
		rate := float64(m.bytes) / t
		h.rate = cmp.Or(h.rate, rate)
		h.rate += (rate - h.rate) / 4
	}
}

// Before anything is measured, a request is worth as many bytes as fetched in 10 ms at 50 MB/s.
const (
	firstLatency = 10 * time.Millisecond
	firstRate    = 50e6
)

// costs returns what requests cost that are as Backend.Ranges says.
func (h *host) costs(ranges int, gap, least int64) Costs {
	h.mu.Lock()
	latency, rate := cmp.Or(h.latency, firstLatency), cmp.Or(h.rate, firstRate)
	h.mu.Unlock()
	c := Costs{Ranges: max(1, ranges), Requests: min(8, cap(h.slots))}
	worth := int64(latency.Seconds() * rate)
	c.Gap = max(4<<10, min(worth, 8<<20))
	c.Bytes = max(1<<20, least, min(4*worth, 8<<20))
	if ranges > 1 {
		c.Gap = min(c.Gap, gap)
	}
	return c
}
