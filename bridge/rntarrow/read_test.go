package rntarrow_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow"
	"github.com/go-rntuple/go-rntuple/bridge/rntarrow/internal/arrowtest"
	"github.com/go-rntuple/go-rntuple/internal/test/randtest"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// plain returns a dynamic value in a form that valueOf returns, too: numbers and bools, strings,
// also for bytes, []any for all that has items or members, nil for what is missing, and
// value.Alternative.
func plain(v any) any {
	all := func(values []any) any {
		items := []any{}
		for _, v := range values {
			items = append(items, plain(v))
		}
		return items
	}
	switch v := v.(type) {
	case float32:
		return fmt.Sprintf("%08x", math.Float32bits(v))
	case float64:
		return fmt.Sprintf("%016x", math.Float64bits(v))
	case []byte:
		return string(v)
	case []any:
		return all(v)
	case value.Record:
		return all(v.Values)
	case value.Some:
		return value.Some{Value: plain(v.Value)}
	case value.Alternative:
		return value.Alternative{Index: v.Index, Value: plain(v.Value)}
	case value.Bits:
		items := []any{}
		for _, bit := range v {
			items = append(items, bit)
		}
		return items
	case value.Map:
		items := []any{}
		for _, e := range v.Elements {
			items = append(items, []any{plain(e.Key), plain(e.Value)})
		}
		return items
	}
	return v
}

// valueOf returns value i of an array of values of f.
func valueOf(t *testing.T, a arrow.Array, i int, f *schema.Field, structs bool) any {
	for f != nil && f.Shape == schema.Wrapper {
		f = f.Children[0]
	}
	if a.IsNull(i) && a.DataType().ID() != arrow.DENSE_UNION {
		return nil
	}
	child := func(k int) *schema.Field {
		if f == nil {
			return nil
		}
		if f.Shape == schema.Optional {
			f = f.Children[0]
			for f.Shape == schema.Wrapper {
				f = f.Children[0]
			}
		}
		if k < len(f.Children) {
			return f.Children[k]
		}
		return nil
	}
	items := func(values arrow.Array, lo, hi int64) any {
		all, of := []any{}, child(0)
		for k := lo; k < hi; k++ {
			all = append(all, valueOf(t, values, int(k), of, structs))
		}
		return all
	}
	switch a := a.(type) {
	case *array.Float32:
		return plain(a.Value(i))
	case *array.Float64:
		return plain(a.Value(i))
	case *array.LargeString:
		return a.Value(i)
	case *array.String:
		return a.Value(i)
	case *array.LargeBinary:
		return string(a.Value(i))
	case *array.Binary:
		return string(a.Value(i))
	case *array.Boolean:
		return a.Value(i)
	case *array.Int8:
		return a.Value(i)
	case *array.Int16:
		return a.Value(i)
	case *array.Int32:
		return a.Value(i)
	case *array.Int64:
		return a.Value(i)
	case *array.Uint8:
		return a.Value(i)
	case *array.Uint16:
		return a.Value(i)
	case *array.Uint32:
		return a.Value(i)
	case *array.Uint64:
		return a.Value(i)
	case *array.Map:
		lo, hi := a.ValueOffsets(i)
		all := []any{}
		pair := child(0)
		for k := lo; k < hi; k++ {
			all = append(all, []any{valueOf(t, a.Keys(), int(k), pair.Children[0], structs),
				valueOf(t, a.Items(), int(k), pair.Children[1], structs)})
		}
		return all
	case *array.FixedSizeList:
		lo, hi := a.ValueOffsets(i)
		return items(a.ListValues(), lo, hi)
	case array.ListLike:
		lo, hi := a.ValueOffsets(i)
		return items(a.ListValues(), lo, hi)
	case *array.Struct:
		if f.Shape == schema.Optional {
			if inner := f.Children[0]; inner.Shape == schema.Optional || inner.Shape == schema.Variant && !structs {
				v := valueOf(t, a.Field(0), i, inner, structs)
				if _, ok := v.(value.Some); v == nil || ok {
					v = value.Some{Value: v}
				}
				return v
			}
		}
		of := f
		if of.Shape == schema.Optional {
			of = of.Children[0]
		}
		for of.Shape == schema.Wrapper {
			of = of.Children[0]
		}
		if of.Shape == schema.Variant {
			for k := range a.NumField() {
				if !a.Field(k).IsValid(i) {
					continue
				}
				member, of := a.Field(k), of.Children[k]
				for of.Shape == schema.Wrapper {
					of = of.Children[0]
				}
				if of.Shape == schema.Optional {
					member = member.(*array.Struct).Field(0)
				}
				return value.Alternative{Index: k, Value: valueOf(t, member, i, of, structs)}
			}
			if f.Shape == schema.Optional {
				return value.Some{}
			}
			return nil
		}
		all := []any{}
		for k := range a.NumField() {
			all = append(all, valueOf(t, a.Field(k), i, child(k), structs))
		}
		return all
	case *array.DenseUnion:
		k := a.ChildID(i)
		if k == a.NumFields()-1 {
			return nil
		}
		return value.Alternative{Index: k, Value: valueOf(t, a.Field(k), int(a.ValueOffset(i)), child(k), structs)}
	}
	t.Fatalf("an array of %v", a.DataType())
	return nil
}

// check compares what NewReader yields, also after a way through an IPC stream, with the
// entries that RecordsOf yields. Of long ones it takes the beginning and the end.
func check(t *testing.T, s *rntuple.Reader, o rntarrow.Options) {
	t.Helper()
	part := int64(20000)
	if testing.Short() {
		part = 2000
	}
	if n := s.NumEntries(); n > 2*part {
		checkRange(t, s, 0, part, o)
		checkRange(t, s, n-part, n, o)
		return
	}
	checkRange(t, s, 0, s.NumEntries(), o)
}

func checkRange(t *testing.T, s *rntuple.Reader, first, end int64, o rntarrow.Options) {
	t.Helper()
	paths := o.Fields
	if len(paths) == 0 {
		paths = rntuple.FieldNames(s)
	}
	v, err := rntuple.RecordsOf(s, paths...)
	if err != nil {
		t.Fatal(err)
	}
	var want []value.Record
	for _, r := range v.Range(rntuple.EntryRange{First: first, End: end}) {
		want = append(want, r)
	}
	if err := v.Err(); err != nil {
		t.Fatal(err)
	}
	shapes, err := rntuple.Shapes(s, paths...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := rntarrow.NewRangeReader(s, rntuple.EntryRange{First: first, End: end}, &o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	var stream bytes.Buffer
	w := ipc.NewWriter(&stream, ipc.WithSchema(r.Schema()))
	entry := 0
	for r.Next() {
		b := r.RecordBatch()
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		compareBatch(t, b, want[entry:], shapes, o.Structs)
		entry += int(b.NumRows())
	}
	if err := r.Err(); err != nil && !o.Binary && strings.Contains(err.Error(), "is not UTF-8") {
		o.Binary = true
		checkRange(t, s, first, end, o)
		return
	}
	if r.Err() != nil || entry != len(want) {
		t.Fatalf("%d of %d entries: %v", entry, len(want), r.Err())
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := ipc.NewReader(&stream)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Release()
	if !again.Schema().Equal(r.Schema()) {
		t.Errorf("the stream has the schema %v, want %v", again.Schema(), r.Schema())
	}
	entry = 0
	for again.Next() {
		b := again.RecordBatch()
		compareBatch(t, b, want[entry:], shapes, o.Structs)
		entry += int(b.NumRows())
	}
	if again.Err() != nil || entry != len(want) {
		t.Fatalf("%d of %d entries in the stream: %v", entry, len(want), again.Err())
	}
}

func compareBatch(t *testing.T, b arrow.RecordBatch, want []value.Record, shapes []*columnar.Array, structs bool) {
	t.Helper()
	for k, a := range b.Columns() {
		for i := range a.Len() {
			found, expected := valueOf(t, a, i, shapes[k].Field, structs), plain(want[i].Values[k])
			if reflect.DeepEqual(found, expected) {
				continue
			}
			if got, want := fmt.Sprintf("%#v", found), fmt.Sprintf("%#v", expected); got != want { // NaN is not equal to itself
				t.Fatalf("field %v, row %d as %v: %.300s, want %.300s", shapes[k].Field, i, a.DataType(), got, want)
			}
		}
	}
}

// allFiles are the ROOT files of this repository's tests, and those beside it.
func allFiles(t *testing.T) (paths []string) {
	for _, dir := range []string{"../../testdata", "../../../shared/testdata"} {
		filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				t.Logf("left out: %v", err)
			case d.IsDir() && (d.Name() == "bad" || d.Name() == "ttree"):
				return fs.SkipDir
			case strings.HasSuffix(path, "root") && !d.IsDir():
				paths = append(paths, path)
			}
			return nil
		})
	}
	if len(paths) < 20 {
		t.Fatalf("only %d files", len(paths))
	}
	return paths
}

// TestAllFiles reads every field of every file in every way.
func TestAllFiles(t *testing.T) {
	fields, refused, turn := 0, 0, 0
	for _, path := range allFiles(t) {
		list, err := rntuple.ListFile(context.Background(), path, nil)
		if err != nil {
			continue // other tests say why
		}
		for _, found := range list {
			r, err := rntuple.Open(path, found.Path, nil)
			if err != nil {
				continue
			}
			for _, f := range r.Schema().Fields {
				for i, o := range []rntarrow.Options{{}, {Lists32: true, Structs: true, BatchSize: 7, Reuse: true}, {Pairs: true}} {
					if turn++; testing.Short() && turn%4 != i {
						continue
					}
					o.Fields = []string{f.Name}
					if _, err := rntarrow.SchemaOf(r, &o); err != nil {
						if !strings.Contains(err.Error(), "has no type in Arrow") {
							continue // not readable at all
						}
						refused++
						if t.Log(path, err); !errors.Is(err, errors.ErrUnsupported) {
							t.Errorf("%v does not wrap errors.ErrUnsupported", err)
						}
						continue
					}
					fields++
					t.Run(filepath.Base(path)+"/"+f.Name, func(t *testing.T) { check(t, r, o) })
				}
			}
			r.Close()
		}
	}
	t.Logf("%d fields, %d refused", fields, refused)
	if fields < 500 && !testing.Short() {
		t.Error("too few")
	}
}

// TestRandom reads random types and values.
func TestRandom(t *testing.T) {
	for seed := range arrowtest.Seeds(100) {
		r := random(t, randtest.Maker{Rand: rand.New(rand.NewPCG(seed, 1))}, 4, 3, 60, 25)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			check(t, r, rntarrow.Options{Binary: true})
			check(t, r, rntarrow.Options{Binary: true, Structs: true, Lists32: true, BatchSize: 11, Reuse: true})
			check(t, r, rntarrow.Options{Binary: true, Pairs: true})
		})
	}
}
