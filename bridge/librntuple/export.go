//go:build cgo

package main

// #include "bridge.h"
import "C"

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/cgo"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/cdata"
)

func main() {}

// call calls f, and returns its error, or that it panicked, as a code and a message.
func call(message **C.char, watch *C.struct_rntuple_watch, f func(ctx context.Context, p *progress) error) C.int {
	err := watched(watch, func(ctx context.Context, p *progress) (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = internalError(v)
			}
		}()
		return f(ctx, p)
	})
	if err == nil {
		return codeOK
	}
	if message != nil {
		*message = C.CString(err.Error())
	}
	return C.int(codeOf(err))
}

// text returns a C string, or "" for NULL.
func text(s *C.char) string {
	if s == nil {
		return ""
	}
	return C.GoString(s)
}

// result sets *to to a value as JSON.
func result(to **C.char, v any) error {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // so that types can be read
	err := e.Encode(v)
	if err == nil {
		*to = C.CString(strings.TrimSuffix(b.String(), "\n"))
	}
	return err
}

//export go_open
func go_open(paths **C.char, n C.size_t, options *C.char, watch *C.struct_rntuple_watch, to *C.int64_t,
	message **C.char) C.int {
	return call(message, watch, func(ctx context.Context, _ *progress) error {
		var names []string
		for _, p := range unsafe.Slice(paths, n) {
			names = append(names, C.GoString(p))
		}
		var o openOptions
		if err := parse(text(options), &o); err != nil {
			return err
		}
		d, err := open(ctx, names, o)
		if err == nil {
			*to = C.int64_t(datasets.add(d))
		}
		return err
	})
}

//export go_close
func go_close(handle C.int64_t, message **C.char) C.int {
	return call(message, nil, func(context.Context, *progress) error {
		d, err := datasets.remove(int64(handle))
		if err != nil {
			return err
		}
		return d.release()
	})
}

//export go_list
func go_list(path, options *C.char, watch *C.struct_rntuple_watch, to, message **C.char) C.int {
	return call(message, watch, func(ctx context.Context, _ *progress) error {
		var o openOptions
		if err := parse(text(options), &o); err != nil {
			return err
		}
		all, err := list(ctx, text(path), o)
		if err != nil {
			return err
		}
		return result(to, all)
	})
}

//export go_describe
func go_describe(handle C.int64_t, watch *C.struct_rntuple_watch, to, message **C.char) C.int {
	return call(message, watch, func(ctx context.Context, _ *progress) error {
		d, err := datasets.get(int64(handle))
		if err != nil {
			return err
		}
		defer d.release()
		all, err := d.describe(ctx)
		if err != nil {
			return err
		}
		return result(to, all)
	})
}

//export go_schema
func go_schema(handle C.int64_t, options *C.char, out *C.struct_ArrowSchema, message **C.char) C.int {
	return call(message, nil, func(ctx context.Context, _ *progress) error {
		d, err := datasets.get(int64(handle))
		if err != nil {
			return err
		}
		defer d.release()
		var q query
		if err := parse(text(options), &q); err != nil {
			return err
		}
		s, err := d.schema(q)
		if err == nil {
			cdata.ExportArrowSchema(s, (*cdata.CArrowSchema)(unsafe.Pointer(out)))
		}
		return err
	})
}

// A stream is what a C.struct_ArrowArrayStream reads.
type stream struct {
	d       *dataset
	records array.RecordReader
	cancel  *canceler
	total   int64
	done    int64
	failed  error
	busy    atomic.Bool
}

//export go_stream
func go_stream(handle C.int64_t, options *C.char, watch *C.struct_rntuple_watch, to *C.uintptr_t,
	message **C.char) C.int {
	return call(message, watch, func(ctx context.Context, p *progress) error {
		d, err := datasets.get(int64(handle))
		if err != nil {
			return err
		}
		var q query
		s := &stream{d: d, cancel: newCanceler()}
		if err = parse(text(options), &q); err == nil {
			stop := context.AfterFunc(ctx, func() { s.cancel.cancel(context.Cause(ctx)) })
			s.records, s.total, err = d.records(s.cancel.ctx, q, p)
			stop()
		}
		if err != nil {
			s.close()
			return err
		}
		*to = C.uintptr_t(cgo.NewHandle(s))
		return nil
	})
}

// close releases what the stream holds.
func (s *stream) close() {
	s.cancel.cancel(context.Canceled)
	if s.records != nil {
		s.records.Release()
	}
	s.d.release()
}

//export go_stream_schema
func go_stream_schema(handle C.uintptr_t, out *C.struct_ArrowSchema, message **C.char) C.int {
	return errnoOf(call(message, nil, func(context.Context, *progress) error {
		s := cgo.Handle(handle).Value().(*stream)
		cdata.ExportArrowSchema(s.records.Schema(), (*cdata.CArrowSchema)(unsafe.Pointer(out)))
		return nil
	}))
}

var errBusy = errors.New("the stream is being read by another thread")

//export go_stream_next
func go_stream_next(handle C.uintptr_t, watch *C.struct_rntuple_watch, out *C.struct_ArrowArray,
	message **C.char) C.int {
	s := cgo.Handle(handle).Value().(*stream)
	if !s.busy.CompareAndSwap(false, true) {
		*message = C.CString(errBusy.Error())
		return errnoOf(codeArgument)
	}
	defer s.busy.Store(false)
	return errnoOf(call(message, watch, func(ctx context.Context, p *progress) error {
		if s.failed != nil {
			return s.failed
		}
		defer context.AfterFunc(ctx, func() { s.cancel.cancel(context.Cause(ctx)) })()
		p.set(s.done, s.total)
		s.failed = errInterrupted // unless this returns
		if !s.records.Next() {
			s.failed = s.d.named(s.records.Err())
			return s.failed
		}
		record := s.records.RecordBatch()
		s.done += record.NumRows()
		s.failed = export(record, out)
		return s.failed
	}))
}

//export go_stream_release
func go_stream_release(handle C.uintptr_t) {
	h := cgo.Handle(handle)
	s := h.Value().(*stream)
	h.Delete()
	call(nil, nil, func(context.Context, *progress) error {
		s.close()
		return nil
	})
}

//export go_write
func go_write(path *C.char, in *C.struct_ArrowArrayStream, options *C.char, watch *C.struct_rntuple_watch,
	entries *C.int64_t, message **C.char) C.int {
	return call(message, watch, func(ctx context.Context, p *progress) error {
		r, err := cdata.ImportCRecordReader((*cdata.CArrowArrayStream)(unsafe.Pointer(in)), nil)
		if err != nil {
			return err
		}
		records := r.(array.RecordReader)
		defer records.Release()
		var o writeOptions
		if err := parse(text(options), &o); err != nil {
			return err
		}
		n, err := write(ctx, text(path), records, o, p)
		if entries != nil {
			*entries = C.int64_t(n)
		}
		return err
	})
}

//export go_run
func go_run(operation, options *C.char, watch *C.struct_rntuple_watch, to, message **C.char) C.int {
	return call(message, watch, func(ctx context.Context, p *progress) error {
		did, err := run(ctx, text(operation), text(options), p)
		if err != nil {
			return err
		}
		return result(to, did)
	})
}
