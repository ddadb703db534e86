package pagesink

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/internal/test/pagetest"
)

// TestArena makes sure that the pages of an arena do not overlap, that the memory is used again
// after reset, and that what a slab has left is used.
func TestArena(t *testing.T) {
	a, total := &arena{}, 0
	for range 3 {
		rnd := rand.New(rand.NewPCG(1, 2))
		var pages [][]byte
		for i := range 300 {
			b := a.take(rnd.IntN(5000))
			if len(b) != cap(b) {
				t.Fatalf("%d bytes with room for %d, which belong to others", len(b), cap(b))
			}
			for j := range b {
				b[j] = byte(i)
			}
			pages = append(pages, b)
		}
		for i, b := range pages {
			if !bytes.Equal(b, bytes.Repeat([]byte{byte(i)}, len(b))) {
				t.Fatalf("page %d was overwritten", i)
			}
		}
		if total == 0 {
			total = a.total
		} else if a.total != total {
			t.Errorf("%d bytes after reset, %d before", a.total, total)
		}
		a.reset()
	}
	a.release()
	if a.total != 0 || a.slabs != nil {
		t.Errorf("%d bytes after release", a.total)
	}
	a = &arena{}
	a.take(100_000)
	a.take(30_000)
	if a.total != 1<<17 || len(a.slabs) != 1 {
		t.Errorf("%d bytes in %d slabs", a.total, len(a.slabs))
	}
	a.reset()
	if a.take(1 << 17); a.total != 1<<17 {
		t.Errorf("%d bytes after reset", a.total)
	}
}

// TestKnown makes sure that equal pages of a cluster are compressed once and take memory once, and
// that others are told apart whose checksums are equal.
func TestKnown(t *testing.T) {
	c := NewSink(context.Background(), &Output{Blob: (&pagetest.File{}).Blob}, settings(1, 101), 1).current
	random := make([]byte, 800)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = byte(rnd.Uint32())
	}
	for name, page := range map[string][]byte{"compressible": make([]byte, 800), "random": random} {
		seal := func() []byte {
			stored, err := c.seal(&scratch{}, len(page), encodes(page))
			if err != nil {
				t.Fatal(err)
			}
			return stored
		}
		stored := seal()
		if again := seal(); unsafe.SliceData(stored) != unsafe.SliceData(again) {
			t.Errorf("%s: an equal page takes memory of its own", name)
		}
		for what, other := range map[string][]byte{
			"other bytes":       append(make([]byte, 799), 1),
			"another size":      make([]byte, 801),
			"compressed, other": zip(t, append(make([]byte, 799), 1)),
			"compressed, short": zip(t, make([]byte, 799)),
		} {
			c.known.Store(checksum.Sum(page), c.sum(other))
			if again := seal(); !bytes.Equal(again, stored) {
				t.Errorf("%s, %s: another page is taken for this one", name, what)
			}
		}
	}
}

// zip returns a page as it is compressed.
func zip(t *testing.T, page []byte) []byte {
	t.Helper()
	b, err := compress.Append(nil, page, 101)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestArenas makes sure that clusters use the memory of those that are written.
func TestArenas(t *testing.T) {
	for _, workers := range []int{1, 2} {
		s := NewSink(context.Background(), &Output{Blob: (&pagetest.File{}).Blob}, settings(workers, 0), 1)
		s.AddColumns(doubles(1))
		arenas := map[*arena]bool{}
		for range 10 {
			arenas[s.current.arena] = true
			if err := fillSome(s, doubles(1), 1); err != nil {
				t.Fatal(err)
			}
			if err := s.EndCluster(); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Wait(); err != nil || len(arenas) > workers+1 {
			t.Errorf("%d workers: the memory of %d clusters: %v", workers, len(arenas), err)
		}
	}
}
