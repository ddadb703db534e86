package field

import (
	"reflect"
	"slices"
	"testing"
	"unsafe"
)

// TestMemory makes sure that parts of a Memory do not overlap, hold zeros unless they are numbers,
// and are used again after Reset, so that nothing is allocated any more in the end.
func TestMemory(t *testing.T) {
	type plain struct{ A, B, C byte }
	sizes := []int{0, 1, 3, 8, 9, 4000, 5, 9000, 2} // more than a block
	var m Memory
	fill := func() {
		bytes, structs, texts := make([][]byte, len(sizes)), make([][]plain, len(sizes)), make([][]string, len(sizes))
		for i, n := range sizes {
			bytes[i] = unsafe.Slice((*byte)(m.make(reflect.TypeFor[byte](), true, n)), n)
			structs[i] = unsafe.Slice((*plain)(m.make(reflect.TypeFor[plain](), true, n)), n)
			texts[i] = unsafe.Slice((*string)(m.make(reflect.TypeFor[string](), false, n)), n)
			if slices.ContainsFunc(structs[i], func(p plain) bool { return p != plain{} }) ||
				slices.ContainsFunc(texts[i], func(s string) bool { return s != "" }) {
				t.Errorf("%d values are not zero", n)
			}
			for j := range n {
				bytes[i][j], structs[i][j], texts[i][j] = byte(i), plain{byte(i), 1, 2}, "text"[:i%5]
			}
		}
		for i := range sizes {
			if slices.ContainsFunc(bytes[i], func(b byte) bool { return b != byte(i) }) ||
				slices.ContainsFunc(structs[i], func(p plain) bool { return p != plain{byte(i), 1, 2} }) ||
				slices.ContainsFunc(texts[i], func(s string) bool { return s != "text"[:i%5] }) {
				t.Errorf("values %d overlap with others", i)
			}
		}
	}
	for range 4 {
		fill()
		m.Reset()
	}
	sum := 0
	for _, n := range sizes {
		sum += n
	}
	for _, typed := range m.typed {
		if n := typed.all.Len(); n < sum {
			t.Errorf("room for %d texts, want %d", n, sum)
		}
		for i := range typed.all.Len() {
			if typed.all.Index(i).String() != "" {
				t.Fatal("a text is kept after Reset")
			}
		}
	}
	first := m.make(reflect.TypeFor[string](), false, 5000)
	if second := m.make(reflect.TypeFor[string](), false, 1); uintptr(second)-uintptr(first) != 5000*unsafe.Sizeof("") {
		t.Error("texts do not lie side by side")
	}
	m.Reset()
	if again := m.make(reflect.TypeFor[string](), false, 1); again != first {
		t.Error("the memory of texts is not used again")
	}

	m = Memory{}
	if m.make(reflect.TypeFor[byte](), true, 0) == nil || m.make(reflect.TypeFor[struct{}](), true, 5) == nil {
		t.Error("no memory for values without any")
	}
	if n := testing.AllocsPerRun(5, func() {
		for range 9 {
			for _, n := range sizes[1:] {
				m.make(reflect.TypeFor[byte](), true, n)
			}
		}
		m.Reset()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}

	m = Memory{}
	for _, n := range []int{0, 1, 8, 9} { // bytes, in words
		used := m.used
		if m.make(reflect.TypeFor[byte](), true, n); m.used-used != (n+7)/8 {
			t.Errorf("%d bytes take %d words", n, m.used-used)
		}
	}
	if n := 8 * len(m.words); n != 64<<10 {
		t.Errorf("%d bytes are allocated first", n)
	}
	if words := m.take(3); len(words) != 3 || cap(words) != 3 {
		t.Errorf("%d of %d words", len(words), cap(words))
	}
}

// TestHasPointers makes sure which types the garbage collector must look into.
func TestHasPointers(t *testing.T) {
	type mixed struct {
		N int64
		S string
	}
	for typ, want := range map[reflect.Type]bool{
		reflect.TypeFor[bool](): false, reflect.TypeFor[int64](): false, reflect.TypeFor[complex128](): false,
		reflect.TypeFor[string](): true, reflect.TypeFor[*int](): true, reflect.TypeFor[[]int](): true,
		reflect.TypeFor[any](): true, reflect.TypeFor[map[int]int](): true, reflect.TypeFor[func()](): true,
		reflect.TypeFor[[3]int](): false, reflect.TypeFor[[3]string](): true, reflect.TypeFor[[0]string](): false,
		reflect.TypeFor[struct{}](): false, reflect.TypeFor[struct{ A, B float64 }](): false,
		reflect.TypeFor[mixed](): true, reflect.TypeFor[[2]mixed](): true,
		reflect.TypeFor[struct{ M [0]mixed }](): false, reflect.TypeFor[struct {
			A int8
			M [1]mixed
		}](): true,
	} {
		if hasPointers(typ) != want {
			t.Errorf("%v: %v", typ, !want)
		}
	}
}
