package field

import (
	"reflect"
	"unsafe"
)

// A Memory holds what the values of a read point to, except strings, so that a later
// read can use it again. The zero value is empty; it grows to what the reads between
// two calls of Reset need.
type Memory struct {
	words []uint64 // for values without pointers
	used  int      // of words
	typed map[reflect.Type]*typedMemory
}

// typedMemory is memory for values of one type, which have pointers.
type typedMemory struct {
	all  reflect.Value // a slice
	used int
}

// Reset makes the memory free, so that later reads overwrite it.
func (m *Memory) Reset() {
	m.used = 0
	for _, t := range m.typed {
		t.all.Slice(0, t.used).Clear() // do not keep alive what the values point to
		t.used = 0
	}
}

// make returns an array of n values of type t, which is free of pointers if plain is
// set. It is zero, unless its values are plain numbers, which reads overwrite.
func (m *Memory) make(t reflect.Type, plain bool, n int) unsafe.Pointer {
	switch {
	case n == 0 || t.Size() == 0:
		return unsafe.Pointer(new(struct{}))
	case plain:
		words := m.take((n*int(t.Size()) + 7) / 8)
		if t.Kind() > reflect.Complex128 {
			clear(words)
		}
		return unsafe.Pointer(unsafe.SliceData(words))
	}
	room := m.typed[t]
	if room == nil {
		if m.typed == nil {
			m.typed = map[reflect.Type]*typedMemory{}
		}
		room = &typedMemory{all: reflect.Zero(reflect.SliceOf(t))}
		m.typed[t] = room
	}
	if l := room.all.Len(); n > l-room.used {
		l = max(n, 2*l)
		room.all, room.used = reflect.MakeSlice(room.all.Type(), l, l), 0
	}
	first := room.used
	room.used += n
	return room.all.Slice(first, room.used).UnsafePointer()
}

// take returns n words. Their content is undefined.
func (m *Memory) take(n int) []uint64 {
	if n > len(m.words)-m.used {
		m.words, m.used = make([]uint64, max(n, 2*len(m.words), arenaSize/8)), 0
	}
	first := m.used
	m.used += n
	return m.words[first:m.used:m.used]
}
