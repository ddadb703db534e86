package field

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// node reads the values of a field. It serves one goroutine at a time.
type node interface {
	// read stores the items from first on, n of them, at dst, stride bytes
	// apart. Items are counted in the run's cluster.
	read(r *run, first, n int64, dst unsafe.Pointer, stride uintptr) error
}

// run is what the nodes share while they read one batch.
type run struct {
	ctx     context.Context
	cluster *pagesource.Cluster
	columnar.Budget
	arena  *arena
	memory *Memory // if not nil, it is used instead of the arena and of fresh memory, except for strings
}

// A Plan reads values of one field, or of whole entries, into Go values of one
// type. It serves one goroutine at a time.
type Plan struct {
	src     *pagesource.Source
	root    node
	size    uintptr // of a value
	varying bool    // values need memory besides
	budget  int64   // bytes that the values of one entry may need besides
	batch   int64   // entries that are read at once

	arena arena
	ahead *pagesource.ReadAhead
	next  int64 // entry that reading in order continues with, or -1 if entries are not read in order
	end   int64 // entry before which reading in order ends
}

const (
	firstBatch = 1 << 10
	maxBatch   = 1 << 16
	// wantBatch is the memory in bytes that batches should need: enough to
	// make the costs of a batch small, not too much for caches.
	wantBatch = 4 << 20
)

// InOrder announces that the entries from first to end, end excluded, will be read
// in order, so that pages can be read ahead until Stop is called.
func (p *Plan) InOrder(first, end int64) { p.next, p.end = first, end }

// Stop ends the reading ahead that InOrder began.
func (p *Plan) Stop() {
	p.next, p.end = -1, math.MaxInt64
	p.ahead.Stop()
}

// Read reads the entries from first on, n of them, to dst, an array of n values
// of the plan's type. They must exist. What the values point to is fresh memory.
func (p *Plan) Read(ctx context.Context, first, n int64, dst unsafe.Pointer) error {
	return p.ReadWith(ctx, nil, first, n, dst)
}

// ReadWith is like Read, but what the values point to is part of memory, if that is not
// nil, apart from strings and maps.
func (p *Plan) ReadWith(ctx context.Context, memory *Memory, first, n int64, dst unsafe.Pointer) error {
	return p.each(ctx, memory, first, n, func(r *run, at, item, m int64) error {
		return p.root.read(r, item, m, unsafe.Add(dst, uintptr(at-first)*p.size), p.size)
	})
}

// each cuts the entries from first on, n of them, into batches that lie in one
// cluster and need a moderate amount of memory. It calls read with the first
// entry of a batch, that entry's number in the cluster, and the number of
// entries.
func (p *Plan) each(ctx context.Context, memory *Memory, first, n int64,
	read func(r *run, at, item, m int64) error) error {
	inOrder := first == p.next
	limit := int64(math.MaxInt64) // of entries in a batch
	for at, end := first, first+n; at < end; {
		if err := ctx.Err(); err != nil { // pages at hand do not ask
			return err
		}
		cluster, err := p.src.Find(ctx, at)
		if err != nil {
			return err
		}
		m := min(p.batch, limit, cluster.End-at, end-at)
		switch {
		case inOrder && m < (cluster.End-cluster.First)/2:
			p.ahead.Advance(ctx, cluster, at, p.end)
		case inOrder: // workers share what is read now
			p.ahead.Fetch(ctx, cluster, at, p.end)
		default:
			p.ahead.Fetch(ctx, cluster, at, end)
		}
		r := run{ctx: ctx, cluster: cluster, Budget: columnar.Budget{Left: p.budget}, arena: &p.arena, memory: memory}
		err = read(&r, at, at-cluster.First, m)
		if err != nil && memory != nil {
			*memory = Memory{} // attempts to read less must not add up
		}
		if errors.Is(err, columnar.ErrBudget) {
			if m == 1 {
				return r.TooLarge(fmt.Sprintf("entry %d", at), p.budget)
			}
			p.batch = max(1, m/2)
			continue
		}
		if lost, ok := errors.AsType[*schema.ConversionError](err); ok {
			if m == 1 {
				lost.Entry = at
				return err
			}
			limit = m / 2 // find out which entry it is
			continue
		}
		if err != nil {
			return err
		}
		switch used := p.budget - r.Left; {
		case !p.varying:
		case used > wantBatch:
			p.batch = max(1, p.batch/2)
		case used < wantBatch/4:
			p.batch = min(maxBatch, p.batch*2)
		}
		at += m
		p.next = at
	}
	return nil
}

// make allocates an array of n values of type t, which is free of pointers if
// plain is set.
func (r *run) make(t reflect.Type, plain bool, n int64) (unsafe.Pointer, error) {
	if err := r.Alloc(n, t.Size()); err != nil {
		return nil, err
	}
	switch {
	case r.memory != nil:
		return r.memory.make(t, plain, int(n)), nil
	case plain:
		return r.arena.take(n * int64(t.Size())), nil
	}
	return reflect.MakeSlice(reflect.SliceOf(t), int(n), int(n)).UnsafePointer(), nil
}

// An arena hands out memory without pointers in it, so that the many small arrays
// of a batch are few allocations.
type arena struct{ words []uint64 }

// arenaSize is how many bytes are allocated at once.
const arenaSize = 64 << 10

// take returns n bytes, which are zero. The pointer is not nil, even if n is 0.
func (a *arena) take(n int64) unsafe.Pointer {
	if n == 0 {
		return unsafe.Pointer(new(struct{}))
	}
	words := (n + 7) / 8
	if words > arenaSize/8/4 {
		return unsafe.Pointer(unsafe.SliceData(make([]uint64, words)))
	}
	if words > int64(len(a.words)) {
		a.words = make([]uint64, arenaSize/8)
	}
	p := unsafe.Pointer(unsafe.SliceData(a.words))
	a.words = a.words[words:]
	return p
}

// hasPointers reports whether values of type t hold pointers.
func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return t.Len() > 0 && hasPointers(t.Elem())
	case reflect.Struct:
		for sf := range t.Fields() {
			if hasPointers(sf.Type) {
				return true
			}
		}
		return false
	}
	return t.Kind() > reflect.Complex128
}

// slice is a slice in memory. Its pointer is typed as one, so that the garbage
// collector sees it being written.
type slice struct {
	data     unsafe.Pointer
	len, cap int
}

// corrupt reports that elements contradict each other.
func (r *run) corrupt(path, format string, args ...any) error {
	return fmt.Errorf("field %q, cluster %d: %w", path, r.cluster.ID, frame.Corrupt(format, args...))
}
