package mmap

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func open(t *testing.T, content []byte) (*File, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(f, int64(len(content)))
	if errors.Is(err, ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m, path
}

// TestReadAt compares ReadAt with that of bytes.Reader.
func TestReadAt(t *testing.T) {
	content := []byte(strings.Repeat("0123456789", 1000))
	m, _ := open(t, content)
	defer m.Close()
	want := bytes.NewReader(content)
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n, off := rnd.IntN(300), int64(rnd.IntN(len(content)+200))
		a, b := make([]byte, n), make([]byte, n)
		na, ea := m.ReadAt(a, off)
		nb, eb := want.ReadAt(b, off)
		if off >= int64(len(content)) { // any error will do
			if na != 0 || ea == nil {
				t.Fatalf("%d bytes at %d: %d, %v", n, off, na, ea)
			}
			continue
		}
		if na != nb || !bytes.Equal(a, b) || !errors.Is(ea, eb) {
			t.Fatalf("%d bytes at %d: %d, %v; want %d, %v", n, off, na, ea, nb, eb)
		}
	}
}

// TestGrown reads what a file has grown by, and across the end of the map.
func TestGrown(t *testing.T) {
	m, path := open(t, bytes.Repeat([]byte("x"), 5000))
	defer m.Close()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("yyy"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := m.Stat(); err != nil || info.Size() != 5003 || m.Len() != 5000 {
		t.Errorf("%v, %v; the map has %d bytes", info, err, m.Len())
	}
	for _, test := range []struct {
		off  int64
		want string
		err  error
	}{{4998, "xxyyy", nil}, {5000, "yyy", nil}, {4996, "xxxxyyy", nil}, {4998, "xxyyy", io.EOF}} {
		b := make([]byte, len(test.want))
		if test.err != nil {
			b = make([]byte, len(test.want)+1)
		}
		n, err := m.ReadAt(b, test.off)
		if string(b[:n]) != test.want || !errors.Is(err, test.err) {
			t.Errorf("at %d: %q, %v; want %q, %v", test.off, b[:n], err, test.want, test.err)
		}
	}
}

// TestCutShort reads a file that has become shorter: reading what is missing is an
// error.
func TestCutShort(t *testing.T) {
	content := bytes.Repeat([]byte("x"), 1<<20)
	m, path := open(t, content)
	defer m.Close()
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1<<16)
	if _, err := m.ReadAt(b, 1<<19); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("reading what is missing: %v", err)
	}
	if _, err := m.ReadAt(b[:4096], 0); err != nil {
		t.Errorf("reading what is left: %v", err)
	}
	// A panic for another reason stays a panic.
	defer func() {
		if p := recover(); p != "mine" {
			t.Errorf("recovered %v", p)
		}
	}()
	_ = m.Use(0, 10, func([]byte) error { panic("mine") })
}

func TestClose(t *testing.T) {
	m, _ := open(t, bytes.Repeat([]byte("y"), 1<<16))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			b := make([]byte, 1<<16)
			for {
				n, err := m.ReadAt(b, 0)
				if errors.Is(err, os.ErrClosed) {
					return
				}
				if n != len(b) || b[n-1] != 'y' {
					t.Errorf("%d, %v", n, err)
				}
			}
		})
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if err := m.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
}
