package rntbeam

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/go-rntuple/go-rntuple/value"
)

// A codec has the form in which values of a Go type travel between workers: exact, unlike JSON, for
// all types that RNTuples are read into. Fields that are not exported do not travel.
type codec struct {
	append func(dst []byte, v reflect.Value) []byte
	read   func(src []byte, v reflect.Value) ([]byte, error)
}

var errShort = errors.New("rntbeam: an element is cut short")

// encode implements Beam's coder for all registered types.
func encode(v beam.T) ([]byte, error) {
	c, err := codecOf(reflect.TypeOf(v))
	if err != nil {
		return nil, err
	}
	at := reflect.New(reflect.TypeOf(v)).Elem() // of which fields have addresses
	at.Set(reflect.ValueOf(v))
	return c.append(nil, at), nil
}

// decode is the inverse of encode.
func decode(t reflect.Type, src []byte) (beam.T, error) {
	c, err := codecOf(t)
	if err != nil {
		return nil, err
	}
	v := reflect.New(t).Elem()
	rest, err := c.read(src, v)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("rntbeam: %d bytes too many behind a %v", len(rest), t)
	}
	return v.Interface(), err
}

var codecs sync.Map // reflect.Type → *codec

func codecOf(t reflect.Type) (*codec, error) {
	if c, ok := codecs.Load(t); ok {
		return c.(*codec), nil
	}
	c, err := compile(t, 0)
	if err != nil {
		return nil, err
	}
	codecs.Store(t, c)
	return c, nil
}

// compile makes the codec of a type, which is so many types deep in another one.
func compile(t reflect.Type, depth int) (*codec, error) {
	if depth > 100 {
		return nil, fmt.Errorf("rntbeam: %v is a type of endless depth", t)
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		return timeCodec(), nil
	case t == reflect.TypeFor[value.Record]():
		return recordCodec(), nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return &codec{
			func(dst []byte, v reflect.Value) []byte {
				if v.Bool() {
					return append(dst, 1)
				}
				return append(dst, 0)
			},
			func(src []byte, v reflect.Value) ([]byte, error) {
				if len(src) == 0 {
					return nil, errShort
				}
				v.SetBool(src[0] != 0)
				return src[1:], nil
			},
		}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return &codec{
			func(dst []byte, v reflect.Value) []byte { return binary.AppendVarint(dst, v.Int()) },
			func(src []byte, v reflect.Value) ([]byte, error) {
				n, size := binary.Varint(src)
				if size <= 0 || v.OverflowInt(n) {
					return nil, errShort
				}
				v.SetInt(n)
				return src[size:], nil
			},
		}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &codec{
			func(dst []byte, v reflect.Value) []byte { return binary.AppendUvarint(dst, v.Uint()) },
			func(src []byte, v reflect.Value) ([]byte, error) {
				n, size := binary.Uvarint(src)
				if size <= 0 || v.OverflowUint(n) {
					return nil, errShort
				}
				v.SetUint(n)
				return src[size:], nil
			},
		}, nil
	case reflect.Float32:
		return floatCodec(4, func(v reflect.Value) uint64 { return uint64(bits32(v)) },
			func(v reflect.Value, b uint64) { set32(v, uint32(b)) }), nil
	case reflect.Float64:
		return floatCodec(8, func(v reflect.Value) uint64 { return math.Float64bits(v.Float()) },
			func(v reflect.Value, b uint64) { v.SetFloat(math.Float64frombits(b)) }), nil
	case reflect.String:
		return &codec{
			func(dst []byte, v reflect.Value) []byte { return appendText(dst, v.String()) },
			func(src []byte, v reflect.Value) ([]byte, error) {
				text, src, err := readText(src)
				v.SetString(string(text))
				return src, err
			},
		}, nil
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return &codec{appendAny, readAny}, nil
		}
	case reflect.Pointer:
		return pointerCodec(t, depth)
	case reflect.Slice:
		return sliceCodec(t, depth)
	case reflect.Array:
		return arrayCodec(t, depth)
	case reflect.Map:
		return mapCodec(t, depth)
	case reflect.Struct:
		return structCodec(t, depth)
	}
	return nil, fmt.Errorf("rntbeam: values of type %v cannot be sent to workers", t)
}

// The bits of a float32, which a detour by way of float64 could change in a NaN.
func bits32(v reflect.Value) uint32 {
	if v.CanAddr() {
		return math.Float32bits(*(*float32)(v.Addr().UnsafePointer()))
	}
	if f, ok := v.Interface().(float32); ok {
		return math.Float32bits(f)
	}
	return math.Float32bits(float32(v.Float()))
}

func set32(v reflect.Value, b uint32) {
	*(*float32)(v.Addr().UnsafePointer()) = math.Float32frombits(b)
}

func floatCodec(size int, bits func(reflect.Value) uint64, set func(reflect.Value, uint64)) *codec {
	return &codec{
		func(dst []byte, v reflect.Value) []byte {
			for b, i := bits(v), 0; i < size; b, i = b>>8, i+1 {
				dst = append(dst, byte(b))
			}
			return dst
		},
		func(src []byte, v reflect.Value) ([]byte, error) {
			if len(src) < size {
				return nil, errShort
			}
			b := uint64(0)
			for i := size - 1; i >= 0; i-- {
				b = b<<8 | uint64(src[i])
			}
			set(v, b)
			return src[size:], nil
		},
	}
}

func timeCodec() *codec {
	return &codec{
		func(dst []byte, v reflect.Value) []byte {
			at := v.Interface().(time.Time)
			return binary.AppendVarint(binary.AppendVarint(dst, at.Unix()), int64(at.Nanosecond()))
		},
		func(src []byte, v reflect.Value) ([]byte, error) {
			seconds, n := binary.Varint(src)
			if n <= 0 {
				return nil, errShort
			}
			nanoseconds, m := binary.Varint(src[n:])
			if m <= 0 {
				return nil, errShort
			}
			v.Set(reflect.ValueOf(time.Unix(seconds, nanoseconds).UTC()))
			return src[n+m:], nil
		},
	}
}

func pointerCodec(t reflect.Type, depth int) (*codec, error) {
	item, err := compile(t.Elem(), depth+1)
	if err != nil {
		return nil, err
	}
	return &codec{
		func(dst []byte, v reflect.Value) []byte {
			if v.IsNil() {
				return append(dst, 0)
			}
			return item.append(append(dst, 1), v.Elem())
		},
		func(src []byte, v reflect.Value) ([]byte, error) {
			if len(src) == 0 {
				return nil, errShort
			}
			if src[0] == 0 {
				return src[1:], nil
			}
			v.Set(reflect.New(t.Elem()))
			return item.read(src[1:], v.Elem())
		},
	}, nil
}

func structCodec(t reflect.Type, depth int) (*codec, error) {
	var members []*codec
	var numbers []int
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		c, err := compile(f.Type, depth+1)
		if err != nil {
			return nil, fmt.Errorf("%w, in %v.%s", err, t, f.Name)
		}
		members, numbers = append(members, c), append(numbers, i)
	}
	return &codec{
		func(dst []byte, v reflect.Value) []byte {
			for i, c := range members {
				dst = c.append(dst, v.Field(numbers[i]))
			}
			return dst
		},
		func(src []byte, v reflect.Value) (_ []byte, err error) {
			for i, c := range members {
				if src, err = c.read(src, v.Field(numbers[i])); err != nil {
					return nil, err
				}
			}
			return src, nil
		},
	}, nil
}
