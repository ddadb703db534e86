package rntbeam

import (
	"bytes"
	"context"
	"math"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/value"
)

type inner struct {
	A [3]int16
	B map[string]uint8
}

type many struct {
	Bool    bool
	I8      int8
	I64     int64
	U16     uint16
	U64     uint64
	F32     float32
	F64     float64
	S       string
	Raw     []byte
	Empty   []int32
	Nil     []int32
	Ptr     *inner
	None    *inner
	Nested  [][]inner
	At      time.Time
	For     time.Duration
	Any     any
	Nothing any
	Units   []struct{}
}

// TestCodec sends values there and back.
func TestCodec(t *testing.T) {
	signalling := math.Float32frombits(0x7f800001)
	v := many{
		true, -128, math.MinInt64, 65535, math.MaxUint64, signalling, math.Inf(-1), "a\xff\x00b",
		[]byte{0, 255}, []int32{}, nil,
		&inner{A: [3]int16{-1, 0, 1}, B: map[string]uint8{"x": 1, "": 0}}, nil, [][]inner{nil, {}, {{}}},
		time.Unix(-5, 7).UTC(), time.Hour,
		value.Record{Names: []string{"a", "b"}, Values: []any{
			value.Some{}, []any{nil, int8(1), uint64(2), "x", []byte("y"), signalling, value.Bits{true, false},
				value.Alternative{Index: 1, Value: []any{}},
				value.Map{StringKeys: true, Elements: []value.KeyValue{{Key: "k", Value: value.Some{Value: value.Some{}}}}}},
		}}, nil, make([]struct{}, 3),
	}
	b, err := encode(v)
	if err != nil {
		t.Fatal(err)
	}
	x, err := decode(reflect.TypeFor[many](), b)
	if err != nil {
		t.Fatal(err)
	}
	got := x.(many)
	again, err := encode(got)
	if err != nil || !bytes.Equal(again, b) {
		t.Errorf("%+v\nbecame %+v, %v", v, got, err)
	}
	if math.Float32bits(got.F32) != 0x7f800001 {
		t.Errorf("the bits of a NaN became %x", math.Float32bits(got.F32))
	}
	inAny := got.Any.(value.Record).Values[1].([]any)
	if math.Float32bits(inAny[5].(float32)) != 0x7f800001 {
		t.Error("the bits of a NaN in a record")
	}
	v.F32, got.F32, inAny[5] = 0, 0, nil
	v.Any.(value.Record).Values[1].([]any)[5] = nil
	if !reflect.DeepEqual(got, v) {
		t.Errorf("%+v\nbecame %+v", v, got)
	}
	for n := range b {
		if _, err := decode(reflect.TypeFor[many](), b[:n]); err == nil {
			t.Fatalf("%d of %d bytes are enough", n, len(b))
		}
	}
	if _, err := decode(reflect.TypeFor[many](), append(b, 0)); err == nil {
		t.Error("a byte too many is not noticed")
	}
	for _, bad := range []any{struct{ C chan int }{}, struct{ F func() }{}, struct{ C complex64 }{}} {
		if _, err := codecOf(reflect.TypeOf(bad)); err == nil {
			t.Errorf("%T can be sent", bad)
		}
	}
}

// TestCodecOfRecords sends the entries of all files of testdata there and back.
func TestCodecOfRecords(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/good/*.root")
	if err != nil || len(paths) == 0 {
		t.Fatal(err)
	}
	for _, path := range paths {
		infos, err := rntuple.ListFile(context.Background(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range infos {
			r, err := rntuple.Open(path, info.Path, nil)
			if err != nil {
				t.Fatal(err)
			}
			v, err := rntuple.RecordsOf(r)
			if err != nil {
				t.Fatal(err)
			}
			for i, record := range v.All() {
				b, err := encode(record)
				if err != nil {
					t.Fatal(err)
				}
				got, err := decode(reflect.TypeFor[value.Record](), b)
				if err != nil || string(value.AppendJSON(nil, got)) != string(value.AppendJSON(nil, record)) {
					t.Fatalf("%s: entry %d of %s: %v", path, i, info.Path, err)
				}
			}
			r.Close()
		}
	}
}
