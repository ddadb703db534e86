package pages

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/locator"
)

// sharingFile is an output that has what is shared copied.
type sharingFile struct {
	t      *testing.T
	bytes  []byte
	end    int64 // of what is written
	block  int64
	fail   error
	shared int64
	blobs  []int64 // sizes
}

const keySize = 42

func (f *sharingFile) NextBlob() int64  { return f.end + keySize }
func (f *sharingFile) BlockSize() int64 { return f.block }

func (f *sharingFile) Share(to int64, src *os.File, from, n int64) error {
	if f.fail != nil {
		return f.fail
	}
	if (to|from|n)&(f.block-1) != 0 || n <= 0 || to < f.NextBlob() {
		f.t.Errorf("%d bytes from %d on shared at %d, after %d", n, from, to, f.end)
	}
	f.shared += n
	_, err := src.ReadAt(f.bytes[to:to+n], from)
	return err
}

func (f *sharingFile) stream(n int64, fill func(io.WriterAt) error) (int64, error) {
	at := f.NextBlob()
	f.end = at + n
	f.blobs = append(f.blobs, n)
	return at, fill(io.NewOffsetWriter(f, at))
}

func (f *sharingFile) WriteAt(p []byte, off int64) (int, error) { return copy(f.bytes[off:], p), nil }

func (f *sharingFile) blob(parts ...[]byte) (int64, error) {
	b := bytes.Join(parts, nil)
	return f.stream(int64(len(b)), func(w io.WriterAt) error { _, err := w.WriteAt(b, 0); return err })
}

// TestShareLayout copies random pages of two files. Whatever the block size: every
// page is where it is said to be, no payload is too large, and long runs are shared
// but for their ends.
func TestShareLayout(t *testing.T) {
	for seed := range uint64(24) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		f := &sharingFile{t: t, bytes: make([]byte, 8<<20), end: rnd.Int64N(1e5), block: 512 << rnd.IntN(8)}
		if seed%5 == 4 {
			f.fail = errors.New("cannot share")
		}
		out := NewOutput(f.blob)
		out.Stream, out.Extents = f.stream, f
		set := settings(1+int(seed%3), 0)
		tight := seed%4 == 3 // so that there is no room for gaps
		if tight {
			set.MaxKeySize = uint64(200_000 + rnd.IntN(2e6))
		}
		s := NewSink(context.Background(), out, set, 0)
		c := &cluster{sink: s}
		column := doubles(1)[0]

		var all []*copied
		var to []*envelope.Page
		var want [][]byte
		var run, long int64 // bytes; long: of runs that are worth it
		for i := range 2 {
			content := make([]byte, 3<<20)
			for j := range content {
				content[j] = byte(rnd.Uint32())
			}
			path := filepath.Join(t.TempDir(), "source")
			if err := os.WriteFile(path, content, 0o666); err != nil {
				t.Fatal(err)
			}
			file, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			part := &Part{From: &Source{Blobs: Blobs{R: file, Size: int64(len(content)), SkipChecksums: seed%2 == 0}}, Level: Level(i * rnd.IntN(2))}
			end := func() {
				if part.Level == Share && run >= leastShared+2*f.block {
					long += run - 2*f.block
				}
				run = 0
			}
			for at := rnd.IntN(10_000); ; {
				n := 1 + rnd.IntN(1<<(5+rnd.IntN(13)))
				if at+n > len(content) {
					break
				}
				p := envelope.Page{Locator: locator.At(uint64(at), uint64(n))}
				to, want = append(to, new(envelope.Page)), append(want, content[at:at+n])
				all = append(all, &copied{from: part, page: p, column: column, to: to[len(to)-1]})
				run += int64(n)
				if at += n; rnd.IntN(20) == 0 {
					at += 1 + rnd.IntN(5000)
					end()
				}
			}
			end()
		}
		if err := c.copyPages(all); err != nil {
			t.Fatal(err)
		}
		for i, p := range to {
			if got := f.bytes[p.Locator.Offset:][:len(want[i])]; !bytes.Equal(got, want[i]) || p.Locator.Size != uint64(len(want[i])) {
				t.Fatalf("seed %d: page %d of %d bytes at %d differs", seed, i, len(want[i]), p.Locator.Offset)
			}
		}
		for _, n := range f.blobs {
			if uint64(n) > set.MaxKeySize {
				t.Errorf("seed %d: payload of %d bytes, the limit is %d", seed, n, set.MaxKeySize)
			}
		}
		if f.fail == nil && f.shared < long && !tight {
			t.Errorf("seed %d: %d bytes shared of %d in long runs", seed, f.shared, long)
		}
		if f.fail != nil && (f.shared > 0 || long > 0 && c.unshared.Refused == nil) {
			t.Errorf("seed %d: %d bytes shared, %+v", seed, f.shared, c.unshared)
		}
	}
}
