package objects

import "testing"

func TestOffset(t *testing.T) {
	for id, want := range map[uint64]int64{0: 0, 1: 4294967296, 7: 30064771072, 1<<30 - 1: 1<<62 - 1<<32} {
		got, ok := Offset(id)
		if got != want || !ok || At(got) != id || got+MaxSize > End {
			t.Errorf("object %d is at %d, want %d", id, got, want)
		}
	}
	for _, id := range []uint64{1 << 30, 1 << 32, 1<<64 - 1} {
		if _, ok := Offset(id); ok {
			t.Errorf("object %d has an offset", id)
		}
	}
}
