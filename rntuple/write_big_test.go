package rntuple_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// sparse is a file that keeps only what is not zero.
type sparse struct {
	blocks map[int64][]byte
	size   int64
}

const sparseBlock = 64 << 10

func (s *sparse) each(p []byte, off int64, visit func(block int64, at int, part []byte)) {
	for len(p) > 0 {
		block, at := off/sparseBlock, int(off%sparseBlock)
		n := min(len(p), sparseBlock-at)
		visit(block, at, p[:n])
		p, off = p[n:], off+int64(n)
	}
}

func (s *sparse) WriteAt(p []byte, off int64) (int, error) {
	s.size = max(s.size, off+int64(len(p)))
	s.each(p, off, func(block int64, at int, part []byte) {
		if s.blocks[block] == nil {
			if bytes.Count(part, []byte{0}) == len(part) {
				return
			}
			s.blocks[block] = make([]byte, sparseBlock)
		}
		copy(s.blocks[block][at:], part)
	})
	return len(p), nil
}

func (s *sparse) ReadAt(p []byte, off int64) (int, error) {
	s.each(p, off, func(block int64, at int, part []byte) {
		clear(part)
		if b := s.blocks[block]; b != nil {
			copy(part, b[at:])
		}
	})
	if off+int64(len(p)) > s.size {
		return int(max(0, s.size-off)), io.EOF
	}
	return len(p), nil
}

// TestBigFile writes more than 2 GiB, nearly all zeros, and reads the ends.
func TestBigFile(t *testing.T) {
	if testing.Short() {
		t.Skip("2.4 GB take seconds")
	}
	file := &sparse{blocks: map[int64][]byte{}}
	opts := &rntuple.WriteOptions{Compression: compress.None, NoSharing: true}
	f, err := rntuple.NewFile(file, "big.root", fixed)
	if err != nil {
		t.Fatal(err)
	}
	x, err := schema.FieldOf("x", "std::int64_t")
	if err != nil {
		t.Fatal(err)
	}
	w, err := rntuple.NewColumnWriter(f, "dir/big", &schema.Document{Name: "big", Fields: []*schema.FieldDocument{x}},
		opts)
	if err != nil {
		t.Fatal(err)
	}
	const batches, n = 150, 2 << 20
	values := make([]int64, n)
	for i := range batches {
		values[0] = int64(i)
		if err := rntuple.Put(w, "x", values); err != nil {
			t.Fatal(err)
		}
		if err := w.End(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if file.size < 2<<30 {
		t.Errorf("the file has %d bytes only", file.size)
	}
	r, err := rntuple.NewReader(file, file.size, "dir/big", nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := rntuple.ViewOf[int64](r, "x")
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(batches) {
		if got, err := v.At(i * n); err != nil || got != i {
			t.Fatalf("entry %d is %d, %v", i*n, got, err)
		}
	}
	if got, err := v.At(batches*n - 1); err != nil || got != 0 {
		t.Errorf("the last entry is %d, %v", got, err)
	}
}
