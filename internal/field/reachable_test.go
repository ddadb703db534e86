package field_test

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unsafe"
	"weak"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/schema"
)

// TestReachable makes sure that the garbage collector finds what values point to, when nothing but
// these holds it.
func TestReachable(t *testing.T) {
	const n = 3000 // more than the blocks that share memory have
	ends, numbers, wide := make([]uint64, n), make([]int64, n), make([]uint64, n)
	for i := range ends {
		ends[i], numbers[i], wide[i] = uint64(i+1), int64(i), uint64(10*(i+1))
	}
	texts := characters(strings.Repeat("characters", n))
	const optionals = "std::vector<std::optional<std::string>>" // of a pre-release format, with a bit each
	bits := elements{n: n, encode: func(column.Format) ([]byte, error) { return bytes.Repeat([]byte{0xff}, n/8), nil }}
	for _, test := range []struct {
		cppType string
		columns columns // of one entry
		typ     reflect.Type
	}{
		{"std::vector<std::string>", columns{"f/0": of[uint64](n), "f._0/0": of(wide...), "f._0/1": texts},
			reflect.TypeFor[[]string]()},
		{fmt.Sprintf("std::array<std::string,%d>", n), columns{"f._0/0": of(wide...), "f._0/1": texts},
			reflect.TypeFor[[]string]()},
		{"std::vector<std::vector<std::int64_t>>",
			columns{"f/0": of[uint64](n), "f._0/0": of(ends...), "f._0._0/0": of(numbers...)}, reflect.TypeFor[[][]int64]()},
		{"std::vector<std::optional<std::int64_t>>",
			columns{"f/0": of[uint64](n), "f._0/0": of(ends...), "f._0._0/0": of(numbers...)}, reflect.TypeFor[[]*int64]()},
		{fmt.Sprintf("std::array<std::vector<std::int64_t>,%d>", n),
			columns{"f._0/0": of(ends...), "f._0._0/0": of(numbers...)}, reflect.TypeFor[[][]int64]()},
		{"std::optional<std::vector<std::int64_t>>",
			columns{"f/0": of[uint64](1), "f._0/0": of[uint64](n), "f._0._0/0": of(numbers...)}, reflect.TypeFor[*[]int64]()},
		{optionals, columns{"f/0": of[uint64](n), "f._0/0": bits, "f._0._0/0": of(wide...), "f._0._0/1": texts},
			reflect.TypeFor[[]*string]()},
	} {
		for _, memory := range []*field.Memory{nil, {}} {
			var s *schema.Schema
			if test.cppType == optionals {
				s = dense(t, "std::string",
					envelope.Column{Type: column.Index64, Bits: 64}, envelope.Column{Type: column.Char, Bits: 8})
			} else {
				s = build(t, fieldOf(t, "f", test.cppType))
			}
			src := source(t, s, cluster{1, test.columns})
			plan, err := field.Compile(src, lookup(t, src.Schema, "f"), test.typ, options)
			if err != nil {
				t.Fatal(err)
			}
			got := reflect.New(test.typ)
			if err := plan.ReadWith(t.Context(), memory, 0, 1, got.UnsafePointer()); err != nil {
				t.Fatal(err)
			}
			innermost := got.Elem() // the first value that points to no other one
			for innermost.Kind() != reflect.String && innermost.Type() != reflect.TypeFor[[]int64]() &&
				innermost.Type() != reflect.TypeFor[*int64]() {
				if innermost.Kind() == reflect.Pointer {
					innermost = innermost.Elem()
				} else {
					innermost = innermost.Index(0)
				}
			}
			var p weak.Pointer[byte]
			if innermost.Kind() == reflect.String {
				p = weak.Make(unsafe.StringData(innermost.String()))
			} else {
				p = weak.Make((*byte)(innermost.UnsafePointer()))
			}
			plan, innermost = nil, reflect.Value{}
			runtime.GC()
			if p.Value() == nil {
				t.Errorf("%s as %v, memory of its own %v: garbage", test.cppType, test.typ, memory != nil)
			}
			runtime.KeepAlive(got)
			runtime.KeepAlive(memory)
		}
	}
}
