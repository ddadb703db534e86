package rntbeam

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/go-rntuple/go-rntuple/value"
)

func appendText[T string | []byte](dst []byte, s T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func readText(src []byte) (text, rest []byte, err error) {
	n, size := binary.Uvarint(src)
	if size <= 0 || n > uint64(len(src)-size) {
		return nil, nil, errShort
	}
	return src[size:][:n], src[size:][n:], nil
}

// readLen reads the number of items, of which each has at least one byte unless items have none at
// all.
func readLen(src []byte, item reflect.Type) (n int, rest []byte, err error) {
	most, size := binary.Uvarint(src)
	if size <= 0 || item.Size() > 0 && most > uint64(len(src)) || most > 1<<40 {
		return 0, nil, errShort
	}
	return int(most), src[size:], nil
}

// Of slices and maps, 0 stands for nil, and n+1 for n items.
func sliceCodec(t reflect.Type, depth int) (*codec, error) {
	if t.Elem().Kind() == reflect.Uint8 {
		return bytesCodec(t), nil
	}
	item, err := compile(t.Elem(), depth+1)
	if err != nil {
		return nil, err
	}
	return &codec{
		func(dst []byte, v reflect.Value) []byte {
			if v.IsNil() {
				return append(dst, 0)
			}
			dst = binary.AppendUvarint(dst, uint64(v.Len())+1)
			for i := range v.Len() {
				dst = item.append(dst, v.Index(i))
			}
			return dst
		},
		func(src []byte, v reflect.Value) ([]byte, error) {
			n, src, err := readLen(src, t.Elem())
			if err != nil || n == 0 {
				return src, err
			}
			v.Set(reflect.MakeSlice(t, n-1, n-1))
			for i := range n - 1 {
				if src, err = item.read(src, v.Index(i)); err != nil {
					return nil, err
				}
			}
			return src, nil
		},
	}, nil
}

func bytesCodec(t reflect.Type) *codec {
	return &codec{
		func(dst []byte, v reflect.Value) []byte {
			if v.IsNil() {
				return append(dst, 0)
			}
			return appendText(append(dst, 1), v.Bytes())
		},
		func(src []byte, v reflect.Value) ([]byte, error) {
			if len(src) == 0 {
				return nil, errShort
			}
			if src[0] == 0 {
				return src[1:], nil
			}
			text, src, err := readText(src[1:])
			v.Set(reflect.MakeSlice(t, len(text), len(text)))
			copy(v.Bytes(), text)
			return src, err
		},
	}
}

func arrayCodec(t reflect.Type, depth int) (*codec, error) {
	item, err := compile(t.Elem(), depth+1)
	if err != nil {
		return nil, err
	}
	return &codec{
		func(dst []byte, v reflect.Value) []byte {
			for i := range t.Len() {
				dst = item.append(dst, v.Index(i))
			}
			return dst
		},
		func(src []byte, v reflect.Value) (_ []byte, err error) {
			for i := range t.Len() {
				if src, err = item.read(src, v.Index(i)); err != nil {
					return nil, err
				}
			}
			return src, nil
		},
	}, nil
}

func mapCodec(t reflect.Type, depth int) (*codec, error) {
	key, err := compile(t.Key(), depth+1)
	if err != nil {
		return nil, err
	}
	item, err := compile(t.Elem(), depth+1)
	if err != nil {
		return nil, err
	}
	return &codec{
		func(dst []byte, v reflect.Value) []byte {
			if v.IsNil() {
				return append(dst, 0)
			}
			dst = binary.AppendUvarint(dst, uint64(v.Len())+1)
			elements := make([][]byte, 0, v.Len())
			for all := v.MapRange(); all.Next(); {
				elements = append(elements, item.append(key.append(nil, all.Key()), all.Value()))
			}
			slices.SortFunc(elements, bytes.Compare) // equal values have equal bytes: runners compare these
			return append(dst, bytes.Join(elements, nil)...)
		},
		func(src []byte, v reflect.Value) ([]byte, error) {
			n, src, err := readLen(src, t.Key())
			if err != nil || n == 0 {
				return src, err
			}
			v.Set(reflect.MakeMap(t))
			for range n - 1 {
				k, x := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
				if src, err = key.read(src, k); err == nil {
					src, err = item.read(src, x)
				}
				if err != nil {
					return nil, err
				}
				v.SetMapIndex(k, x)
			}
			return src, nil
		},
	}, nil
}

// dynamic are the types that a value of type any may have, see package value. Their numbers travel.
var dynamic = []reflect.Type{
	reflect.TypeFor[bool](),
	reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](), reflect.TypeFor[int64](),
	reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64](),
	reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[string](), reflect.TypeFor[[]byte](),
	reflect.TypeFor[value.Bits](), reflect.TypeFor[[]any](), reflect.TypeFor[value.Map](), reflect.TypeFor[value.Some](),
	reflect.TypeFor[value.Alternative](), reflect.TypeFor[value.Record](),
}

// dynamicCodecs has the codecs of dynamic, and dynamicNumbers the numbers, which begin with 1; 0 is
// nil.
var (
	dynamicCodecs  []*codec
	dynamicNumbers = map[reflect.Type]int{}
)

func init() {
	for i, t := range dynamic {
		c, err := codecOf(t)
		if err != nil {
			panic(err)
		}
		dynamicCodecs = append(dynamicCodecs, c)
		dynamicNumbers[t] = i + 1
	}
}

func appendAny(dst []byte, v reflect.Value) []byte {
	if v.IsNil() {
		return append(dst, 0)
	}
	n := dynamicNumbers[v.Elem().Type()]
	if n == 0 {
		panic(fmt.Sprintf("rntbeam: a %v as dynamic value, see package value", v.Elem().Type()))
	}
	return dynamicCodecs[n-1].append(append(dst, byte(n)), v.Elem())
}

func readAny(src []byte, v reflect.Value) ([]byte, error) {
	if len(src) == 0 || int(src[0]) > len(dynamic) {
		return nil, errShort
	}
	n := src[0]
	if n == 0 {
		return src[1:], nil
	}
	x := reflect.New(dynamic[n-1]).Elem()
	src, err := dynamicCodecs[n-1].read(src[1:], x)
	v.Set(x)
	return src, err
}

// names are those of records that have arrived, which share them.
var names sync.Map // text → []string

func recordCodec() *codec {
	return &codec{
		func(dst []byte, v reflect.Value) []byte {
			r := v.Interface().(value.Record)
			var text []byte
			for _, name := range r.Names {
				text = appendText(text, name)
			}
			dst = binary.AppendUvarint(appendText(dst, text), uint64(len(r.Values)))
			for i := range r.Values {
				dst = appendAny(dst, reflect.ValueOf(&r.Values[i]).Elem())
			}
			return dst
		},
		func(src []byte, v reflect.Value) ([]byte, error) {
			text, src, err := readText(src)
			if err != nil {
				return nil, err
			}
			r := value.Record{}
			if known, ok := names.Load(string(text)); ok {
				r.Names = known.([]string)
			} else {
				all := string(text)
				for len(text) > 0 {
					var name []byte
					if name, text, err = readText(text); err != nil {
						return nil, err
					}
					r.Names = append(r.Names, string(name))
				}
				names.Store(all, r.Names)
			}
			n, src, err := readLen(src, reflect.TypeFor[any]())
			if err != nil {
				return nil, err
			}
			r.Values = make([]any, n)
			for i := range r.Values {
				if src, err = readAny(src, reflect.ValueOf(&r.Values[i]).Elem()); err != nil {
					return nil, err
				}
			}
			v.Set(reflect.ValueOf(r))
			return src, nil
		},
	}
}
