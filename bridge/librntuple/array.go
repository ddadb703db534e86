//go:build cgo

package main

// #include "bridge.h"
import "C"

import (
	"runtime"
	"runtime/cgo"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// small is the size in bytes up to which buffers are copied. Go aligns allocations of more than 1 KiB to 64
// bytes, but not all smaller ones; and to copy a small buffer is cheaper than to pin it.
const small = 1 << 10

// export exports a record batch. Large buffers are not copied: they stay pinned until all arrays are released.
func export(record arrow.RecordBatch, out *C.struct_ArrowArray) error {
	e := exporter{}
	for _, column := range record.Columns() {
		e.count(column.Data())
	}
	n := int(record.NumCols())
	e.batch = C.bridge_batch(C.size_t(e.arrays+1), C.size_t(e.pointers+1+n), C.size_t(e.bytes))
	if e.batch == nil {
		return errMemory
	}
	e.nodes = unsafe.Slice(e.batch.nodes, e.arrays+1)
	e.free = unsafe.Slice((*unsafe.Pointer)(unsafe.Pointer(e.batch.pointers)), e.pointers+1+n)
	e.room = unsafe.Slice((*byte)(unsafe.Pointer(e.batch.bytes)), e.bytes)
	top := e.node(int(record.NumRows()), 0, []unsafe.Pointer{nil}, n)
	for i, column := range record.Columns() {
		e.child(top, i, column.Data())
	}
	pins := C.uintptr_t(0)
	if e.pinned {
		pins = C.uintptr_t(cgo.NewHandle(e.pinner))
	}
	C.bridge_finish(e.batch, pins, out)
	return nil
}

// live returns how many exported record batches are not released.
func live() int { return int(C.bridge_live()) }

//export go_unpin
func go_unpin(pins C.uintptr_t) {
	h := cgo.Handle(pins)
	h.Value().(*runtime.Pinner).Unpin()
	h.Delete()
}

// An exporter fills a C.struct_batch, whose size it counts first.
type exporter struct {
	arrays, pointers, bytes int

	batch  *C.struct_batch
	nodes  []C.struct_ArrowArray // that are not used yet, and so on
	free   []unsafe.Pointer
	room   []byte
	pinner *runtime.Pinner
	pinned bool
}

// padded returns the size of a buffer and the space behind it.
func padded(size int) int { return (size + C.ALIGNMENT - 1) / C.ALIGNMENT * C.ALIGNMENT }

// isCopied reports whether a buffer is copied.
func isCopied(b []byte) bool {
	return len(b) <= small || uintptr(unsafe.Pointer(&b[0]))%C.ALIGNMENT != 0
}

// buffers returns the buffers that the C data interface has for an array, which for unions lack that of
// validity.
func buffers(d arrow.ArrayData) []*memory.Buffer {
	if id := d.DataType().ID(); id == arrow.DENSE_UNION || id == arrow.SPARSE_UNION {
		return d.Buffers()[1:]
	} else if id == arrow.NULL {
		return nil
	}
	return d.Buffers()
}

func (e *exporter) count(d arrow.ArrayData) {
	e.arrays++
	e.pointers += len(buffers(d)) + len(d.Children())
	for _, b := range buffers(d) {
		if b != nil && isCopied(b.Bytes()) {
			e.bytes += padded(b.Len())
		}
	}
	for _, c := range d.Children() {
		e.count(c)
	}
}

// pointer returns the address of a buffer.
func (e *exporter) pointer(b *memory.Buffer) unsafe.Pointer {
	if b == nil {
		return nil
	}
	bytes := b.Bytes()
	if isCopied(bytes) {
		at := unsafe.Pointer(e.batch.bytes)
		if len(e.room) > 0 {
			at = unsafe.Pointer(&e.room[0])
		}
		copy(e.room, bytes)
		e.room = e.room[padded(len(bytes)):]
		return at
	}
	if !e.pinned {
		e.pinner, e.pinned = new(runtime.Pinner), true
	}
	at := &bytes[0]
	e.pinner.Pin(at)
	return unsafe.Pointer(at)
}

// node fills the next array.
func (e *exporter) node(length, nulls int, buffers []unsafe.Pointer, children int) *C.struct_ArrowArray {
	a := &e.nodes[0]
	e.nodes = e.nodes[1:]
	a.length, a.null_count = C.int64_t(length), C.int64_t(nulls)
	a.n_buffers, a.n_children = C.int64_t(len(buffers)), C.int64_t(children)
	if n := len(buffers); n > 0 {
		a.buffers = (*unsafe.Pointer)(&e.free[0])
		copy(e.free, buffers)
		e.free = e.free[n:]
	}
	if children > 0 {
		a.children = (**C.struct_ArrowArray)(unsafe.Pointer(&e.free[0]))
		e.free = e.free[children:]
	}
	return a
}

// child makes child i of an array.
func (e *exporter) child(of *C.struct_ArrowArray, i int, d arrow.ArrayData) {
	var pointers []unsafe.Pointer
	for _, b := range buffers(d) {
		pointers = append(pointers, e.pointer(b))
	}
	a := e.node(d.Len(), d.NullN(), pointers, len(d.Children()))
	a.offset = C.int64_t(d.Offset())
	unsafe.Slice(of.children, of.n_children)[i] = a
	for k, c := range d.Children() {
		e.child(a, k, c)
	}
}
