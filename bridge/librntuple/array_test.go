//go:build cgo

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/cdata"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow"
	"github.com/go-rntuple/go-rntuple/internal/test/randtest"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// randomRecords returns the record batches of an RNTuple with fields of random types and values.
func randomRecords(t *testing.T, seed uint64, types, entries int) []arrow.RecordBatch {
	t.Helper()
	m := randtest.Maker{Rand: rand.New(rand.NewPCG(seed, 3))}
	doc := &schema.Document{}
	for i := range types {
		doc.Fields = append(doc.Fields, &schema.FieldDocument{Name: fmt.Sprint("f", i), Type: m.Type(3)})
	}
	path := filepath.Join(t.TempDir(), "random.root")
	w, err := rntuple.CreateRecords(path, "random", doc, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range entries {
		var r value.Record
		for _, f := range w.Schema().Fields {
			r.Names, r.Values = append(r.Names, f.Name), append(r.Values, m.Value(f))
		}
		if err := w.Write(&r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return recordsOf(t, path, &rntarrow.Options{Binary: true})
}

// recordsOf returns the record batches of the RNTuple in a file, or none if a field has no type in Arrow.
func recordsOf(t *testing.T, path string, o *rntarrow.Options) (all []arrow.RecordBatch) {
	t.Helper()
	r, err := rntuple.Open(path, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	records, err := rntarrow.NewReader(r, o)
	if err != nil {
		t.Log(err)
		return nil
	}
	for records.Next() {
		records.RecordBatch().Retain()
		all = append(all, records.RecordBatch())
	}
	if records.Err() != nil {
		t.Fatal(records.Err())
	}
	return all
}

// TestExport exports record batches, reads them as arrow-go imports them, and checks that large buffers are
// not copied, that all are aligned, and that nothing is left.
func TestExport(t *testing.T) {
	before := live()
	var all []arrow.RecordBatch
	for seed := range uint64(20) {
		all = append(all, randomRecords(t, seed, 4, int(seed*seed))...)
	}
	for _, name := range []string{"dimuon.root"} {
		all = append(all, recordsOf(t, filepath.Join("../../testdata", name), nil)...)
	}
	shared := 0
	for _, record := range all {
		var out _Ctype_struct_ArrowArray
		if err := export(record, &out); err != nil {
			t.Fatal(err)
		}
		for i := range int(record.NumCols()) {
			shared += compareBuffers(t, record.Column(i).Data(), unsafe.Slice(out.children, out.n_children)[i])
		}
		runtime.GC()
		got, err := cdata.ImportCRecordBatchWithSchema((*cdata.CArrowArray)(unsafe.Pointer(&out)), record.Schema())
		if err != nil {
			t.Fatal(err)
		}
		if !array.RecordApproxEqual(record, got, array.WithNaNsEqual(true)) {
			t.Errorf("%.1000v\nwant\n%.1000v", got, record)
		}
		got.Release()
	}
	if shared < 100 {
		t.Errorf("%d shared buffers are too few", shared)
	}
	if n := live(); n != before {
		t.Errorf("%d batches are not released", n-before)
	}
}

// compareBuffers compares what was exported with an array, and returns how many buffers they share.
func compareBuffers(t *testing.T, d arrow.ArrayData, a *_Ctype_struct_ArrowArray) (shared int) {
	t.Helper()
	want := buffers(d)
	if int(a.length) != d.Len() || int(a.n_buffers) != len(want) || int(a.n_children) != len(d.Children()) {
		t.Fatalf("length %d, %d buffers, %d children", a.length, a.n_buffers, a.n_children)
	}
	for i, b := range want {
		at := unsafe.Slice(a.buffers, a.n_buffers)[i]
		if b == nil || at == nil {
			if b != nil || at != nil {
				t.Errorf("buffer %d of %v: %v, want %v", i, d.DataType(), at, b)
			}
			continue
		}
		if uintptr(at)%64 != 0 {
			t.Errorf("buffer %d of %v at %v", i, d.DataType(), at)
		}
		if b.Len() > small {
			if at != unsafe.Pointer(&b.Bytes()[0]) {
				t.Errorf("buffer %d of %v with %d bytes was copied", i, d.DataType(), b.Len())
			}
			shared++
		} else if !bytes.Equal(unsafe.Slice((*byte)(at), b.Len()), b.Bytes()) {
			t.Errorf("buffer %d of %v differs", i, d.DataType())
		}
	}
	for i, c := range d.Children() {
		shared += compareBuffers(t, c, unsafe.Slice(a.children, a.n_children)[i])
	}
	return shared
}

// TestMovedChildren releases the children of record batches apart from them, in random order, in several
// threads, each after it was read.
func TestMovedChildren(t *testing.T) {
	before := live()
	records := recordsOf(t, "../../testdata/dimuon.root", nil)
	random := rand.New(rand.NewPCG(1, 2))
	type moved struct {
		of  arrow.Array
		out *_Ctype_struct_ArrowArray
	}
	var all []moved
	for _, record := range records {
		out := new(_Ctype_struct_ArrowArray)
		if err := export(record, out); err != nil {
			t.Fatal(err)
		}
		for i, c := range unsafe.Slice(out.children, out.n_children) {
			if random.IntN(2) == 0 {
				child := *c
				c.release = nil
				all = append(all, moved{record.Column(i), &child})
			}
		}
		top, err := cdata.ImportCArrayWithType((*cdata.CArrowArray)(unsafe.Pointer(out)), arrow.StructOf())
		if err == nil {
			top.Release()
		}
	}
	random.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	var wait sync.WaitGroup
	for part := range 4 {
		wait.Go(func() {
			for i := part; i < len(all); i += 4 {
				runtime.GC()
				got, err := cdata.ImportCArrayWithType((*cdata.CArrowArray)(unsafe.Pointer(all[i].out)), all[i].of.DataType())
				if err != nil {
					t.Error(err)
					continue
				}
				if !array.Equal(got, all[i].of) {
					t.Errorf("child %d differs", i)
				}
				got.Release()
			}
		})
	}
	wait.Wait()
	if n := live(); n != before {
		t.Errorf("%d batches are not released", n-before)
	}
}
