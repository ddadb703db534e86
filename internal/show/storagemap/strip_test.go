package storagemap

import (
	"math/rand"
	"testing"
)

// What Union, Gaps and Marks say of random extents agrees with a table of bytes.
func TestMarks(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for n := range 500 {
		const length = 2000
		var extents []Extent
		var owned [length]bool
		for range r.Intn(200) {
			e := Extent{Off: r.Int63n(length), Cluster: r.Intn(5) - 1}
			e.End = min(length, e.Off+r.Int63n(1+r.Int63n(60)))
			extents = append(extents, e)
			for i := e.Off; i < e.End; i++ {
				owned[i] = true
			}
		}
		first, end, bytes := int64(0), int64(0), int64(0)
		for i, is := range owned {
			if is {
				if bytes == 0 {
					first = int64(i)
				}
				bytes++
				end = int64(i + 1)
			}
		}
		union := Union(extents)
		if got := Bytes(union); got != bytes {
			t.Fatalf("%d: %d bytes, want %d", n, got, bytes)
		}
		if got := Bytes(Gaps(union)); got != end-first-bytes {
			t.Fatalf("%d: gaps of %d bytes, want %d", n, got, end-first-bytes)
		}
		for _, g := range Gaps(union) {
			for i := g.Off; i < g.End; i++ {
				if owned[i] {
					t.Fatalf("%d: byte %d is in a gap", n, i)
				}
			}
		}
		resolution := 1 + r.Int63n(100)
		marks := Marks(union, resolution)
		pages, sum, last := 0, int64(0), int64(-1)
		for _, m := range marks {
			inside := int64(0)
			for i := m.Off; i < m.End; i++ {
				if owned[i] {
					inside++
				}
			}
			switch {
			case m.Off < last || !owned[m.Off] || !owned[m.End-1]:
				t.Fatalf("%d: %+v begins or ends in the wrong place", n, m)
			case m.Bytes != inside || m.Least > m.Largest || int64(m.Pages)*m.Least > m.Bytes ||
				int64(m.Pages)*m.Largest < m.Bytes:
				t.Fatalf("%d: %+v has %d bytes", n, m, inside)
			case m.Pages > 1 && m.End-m.Off > resolution:
				t.Fatalf("%d: %+v joins more than %d bytes", n, m, resolution)
			}
			last = m.End
			pages += m.Pages
			sum += m.Bytes
		}
		if pages != len(union) || sum != bytes || int64(len(marks)) > 2*(end-first)/resolution+1 {
			t.Fatalf("%d: %d marks of %d pages with %d bytes", n, len(marks), pages, sum)
		}
	}
}

// The largest extent gives a mark its colour.
func TestMarkOfLargest(t *testing.T) {
	m := Marks([]Extent{{0, 10, 4}, {10, 30, 5}, {35, 50, 6}, {50, 170, 7}}, 100)
	if len(m) != 2 || m[0] != (Mark{Extent{0, 50, 5}, 3, 45, 10, 20}) ||
		m[1] != (Mark{Extent{50, 170, 7}, 1, 120, 120, 120}) {
		t.Errorf("%+v", m)
	}
}
