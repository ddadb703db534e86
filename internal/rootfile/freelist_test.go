package rootfile

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// TestGaps compares joined gaps with a map of bytes.
func TestGaps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var g gaps
		var free [40]bool
		for range 6 {
			first := r.Int64N(35)
			end := first + r.Int64N(5)
			g.add(gap{first: first, end: end})
			for i := first; i < end; i++ {
				free[i] = true
			}
		}
		var want gaps
		for i := 0; i < len(free); i++ {
			if !free[i] {
				continue
			}
			j := i
			for free[j] {
				j++
			}
			want = append(want, gap{first: int64(i), end: int64(j)})
			i = j
		}
		if !slices.Equal(g, want) {
			t.Fatalf("got %v, want %v", g, want)
		}
	}
}

// TestMark makes sure that a mark is written once, and again if the gap has grown.
func TestMark(t *testing.T) {
	m := new(target)
	g := gaps{{first: 10, end: 13}} // too short for a mark
	g.add(gap{first: 20, end: 30})
	g.add(gap{first: 40, end: 3e9})
	mark := func(writes int) {
		t.Helper()
		m.writes = 0
		if err := g.mark(m); err != nil || m.writes != writes {
			t.Errorf("%d writes, want %d, %v", m.writes, writes, err)
		}
	}
	mark(2)
	mark(0)
	g.add(gap{first: 30, end: 35})
	mark(1)
	for at, want := range map[int]int32{20: -15, 40: -2000000000} {
		if got := int32(binary.BigEndian.Uint32(m.b[at:])); got != want {
			t.Errorf("at %d: %d, want %d", at, got, want)
		}
	}
	m.stopAt = 1
	g.add(gap{first: 35, end: 36})
	if err := g.mark(m); !errors.Is(err, errStopped) {
		t.Error(err)
	}
}

func TestLimit(t *testing.T) {
	for end, want := range map[int64]int64{100: 2e9, 2e9 - 1: 2e9, 2e9: 3e9, 3e9 - 1: 3e9,
		3019901119: 4e9, 5 << 40: 5498e9} {
		if got := limit(end); got != want {
			t.Errorf("limit of %d is %d, want %d", end, got, want)
		}
	}
}

func TestFreeListRoundTrip(t *testing.T) {
	want := FreeList{Key: smallKey, Segments: []Segment{{1, 5, 10}, {1001, 1 << 33, 1 << 34}, {1, 0, 2e9}}}
	b := encode(t, &want)
	if n := smallKey.Size() + 10 + 18 + 10; len(b) != n {
		t.Errorf("%d bytes, want %d", len(b), n)
	}
	var got FreeList
	if err := decode(b, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := decode(b[:len(b)-1], new(FreeList)); err == nil {
		t.Error("half a segment")
	}
}
