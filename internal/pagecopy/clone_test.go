package pagecopy

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/schema"
)

// cloningFile is the file of an output, in memory, that copies what is cloned.
type cloningFile struct {
	t      *testing.T
	bytes  []byte
	end    int64 // of what is written
	block  int64
	fail   error
	cloned int64
	places []extent // of what is cloned
	blobs  []int64  // sizes
}

const keySize = 42

func (f *cloningFile) NextBlob() int64  { return f.end + keySize }
func (f *cloningFile) BlockSize() int64 { return f.block }

func (f *cloningFile) Clone(to int64, src *os.File, from, n int64) error {
	if f.fail != nil {
		return f.fail
	}
	if (to|from|n)&(f.block-1) != 0 || n <= 0 || to < f.NextBlob() {
		f.t.Errorf("%d bytes at %d cloned to %d, behind %d", n, from, to, f.end)
	}
	f.cloned += n
	f.places = append(f.places, extent{to, to + n})
	_, err := src.ReadAt(f.bytes[to:to+n], from)
	return err
}

func (f *cloningFile) stream(n int64, fill func(io.WriterAt) error) (int64, error) {
	at := f.NextBlob()
	f.end = at + n
	f.blobs = append(f.blobs, n)
	return at, fill(io.NewOffsetWriter(f, at))
}

func (f *cloningFile) WriteAt(p []byte, off int64) (int, error) {
	for _, c := range f.places {
		if off < c.to && c.from < off+int64(len(p)) {
			f.t.Errorf("%d bytes at %d are written, which takes their blocks from the clone", len(p), off)
		}
	}
	return copy(f.bytes[off:], p), nil
}

func (f *cloningFile) blob(parts ...[]byte) (int64, error) {
	b := bytes.Join(parts, nil)
	return f.stream(int64(len(b)), func(w io.WriterAt) error { _, err := w.WriteAt(b, 0); return err })
}

// doubles returns a column of that type.
func doubles(encoding column.Type) *schema.Column {
	f := &schema.Field{Field: envelope.Field{Name: "x"}}
	c := &schema.Column{Owner: f, Column: envelope.Column{Type: encoding, Bits: 64}}
	f.Columns = [][]*schema.Column{{c}}
	return c
}

func settings(workers int) pagesink.Settings {
	return pagesink.Settings{
		ZippedCluster: 100_000, UnzippedCluster: 1e6, MaxPage: 1 << 20, PageBudget: 200_000,
		MaxKeySize: 1 << 30, Workers: workers,
	}
}

// TestClone copies random pages of two files. Whatever the block size is, every page
// must be where its locator says, no payload may be too large, and long runs must be
// cloned but for their ends.
func TestClone(t *testing.T) {
	for seed := range uint64(24) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { testClone(t, seed) })
	}
}

func testClone(t *testing.T, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 7))
	f := &cloningFile{t: t, bytes: make([]byte, 8<<20), end: rnd.Int64N(1e5), block: 512 << rnd.IntN(8)}
	if seed%5 == 4 {
		f.fail = errors.New("cannot clone")
	}
	set := settings(1 + int(seed%3))
	tight := seed%4 == 3 // so that there is no room for gaps
	if tight {
		set.MaxKeySize = uint64(200_000 + rnd.IntN(2e6))
	}
	out := &pagesink.Output{Blob: f.blob, Stream: f.stream, Extents: f}
	p := &placement{copier: NewCopier(context.Background(), pagesink.NewSink(context.Background(), out, set, 0)), set: set}
	column := doubles(column.Real64)

	var to []*envelope.Page
	var want [][]byte
	var run, long int64 // bytes; long: of runs that are worth cloning
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
		chunk := &Chunk{
			Chunk: pagesource.Chunk{Column: column}, Level: Level(i * rnd.IntN(2)),
			From: &pagesource.Source{Blobs: pagesource.Blobs{R: file, Size: int64(len(content)), SkipChecksums: seed%2 == 0}},
		}
		end := func() {
			if chunk.Level == Clone && run >= minCloned+2*f.block {
				long += run - 2*f.block
			}
			run = 0
		}
		for at := rnd.IntN(10_000); ; {
			n := 1 + rnd.IntN(1<<(5+rnd.IntN(13)))
			if at+n > len(content) {
				break
			}
			page := envelope.Page{Locator: locator.At(uint64(at), uint64(n))}
			to, want = append(to, new(envelope.Page)), append(want, content[at:at+n])
			p.pages = append(p.pages, &copied{from: chunk, page: page, size: int64(n), column: column, to: to[len(to)-1]})
			run += int64(n)
			if at += n; rnd.IntN(20) == 0 {
				at += 1 + rnd.IntN(5000)
				end()
			}
		}
		end()
	}
	total := int64(0)
	for _, b := range want {
		total += int64(len(b))
	}
	rest := p.pages[1:] // the first one tells which source comes first
	rnd.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	if size, err := p.place(out); err != nil || size != total {
		t.Fatalf("the pages count %d bytes, want %d: %v", size, total, err)
	}
	for i, p := range to {
		if got := f.bytes[p.Locator.Offset:][:len(want[i])]; !bytes.Equal(got, want[i]) ||
			p.Locator.Size != uint64(len(want[i])) {
			t.Fatalf("page %d of %d bytes at %d differs", i, len(want[i]), p.Locator.Offset)
		}
		if i > 0 && p.Locator.Offset < to[i-1].Locator.Offset+to[i-1].Locator.Size {
			t.Fatalf("page %d is at %d, the one before at %d", i, p.Locator.Offset, to[i-1].Locator.Offset)
		}
	}
	written := int64(0)
	for _, n := range f.blobs {
		written += n
		if uint64(n) > set.MaxKeySize {
			t.Errorf("payload of %d bytes, the limit is %d", n, set.MaxKeySize)
		}
	}
	if f.cloned == 0 && written != total {
		t.Errorf("nothing is cloned, and the payloads have %d bytes, want %d", written, total)
	}
	if f.fail == nil && f.cloned < long && !tight {
		t.Errorf("%d bytes cloned of %d in long runs", f.cloned, long)
	}
	if u := p.copier.Uncloned(); f.fail != nil && (f.cloned > 0 || long > 0 && u.Refused == nil) {
		t.Errorf("%d bytes cloned, %+v", f.cloned, u)
	}
}

// TestCloneRoom makes sure that a run is cloned if the payload has just room for the gap in front
// of it.
func TestCloneRoom(t *testing.T) {
	const block, n = 4096, 2 * minCloned
	path := filepath.Join(t.TempDir(), "source")
	if err := os.WriteFile(path, make([]byte, n+100), 0o666); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	to := doubles(column.Real64)
	src := &pagesource.Source{Blobs: pagesource.Blobs{R: file, Size: n + 100, SkipChecksums: true}}
	for _, c := range []struct {
		room   uint64
		cloned int64
	}{{95, n - block}, {94, 0}} {
		// The run begins at the offset 100 of the source, and would at 5 of a block of the output.
		out := &cloningFile{t: t, bytes: make([]byte, 1<<20), end: 10*block + 5 - keySize, block: block}
		set := pagesink.Settings{Workers: 1, MaxKeySize: n + c.room}
		p := &placement{copier: &Copier{ctx: context.Background()}, set: set}
		chunk := &Chunk{Chunk: pagesource.Chunk{Column: to}, Level: Clone, From: src}
		page := envelope.Page{Locator: locator.At(100, n)}
		p.pages = []*copied{{from: chunk, page: page, size: n, column: to, to: new(envelope.Page)}}
		_, err := p.place(&pagesink.Output{Blob: out.blob, Stream: out.stream, Extents: out})
		if err != nil || out.cloned != c.cloned {
			t.Errorf("room for %d bytes: %d are cloned, want %d: %v", c.room, out.cloned, c.cloned, err)
		}
	}
}

// TestCloneLeast clones runs that are just large enough, whole blocks of which are half of that, and
// says why runs are not cloned.
func TestCloneLeast(t *testing.T) {
	const at = 100 // where the run begins in the source
	path := filepath.Join(t.TempDir(), "source")
	if err := os.WriteFile(path, make([]byte, at+minCloned), 0o666); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	to := doubles(column.Real64)
	src := &pagesource.Source{Blobs: pagesource.Blobs{R: file, Size: at + minCloned, SkipChecksums: true}}
	for _, c := range []struct {
		n, block, cloned int64
		refused          error
	}{
		{minCloned, 4096, minCloned - 4096, nil},
		{minCloned, minCloned / 2, minCloned / 2, nil},
		{minCloned, minCloned, 0, nil}, // no whole block
		{minCloned - 1, 4096, 0, nil},  // too small
		{minCloned, 0, 0, errors.ErrUnsupported},
	} {
		out := &cloningFile{t: t, bytes: make([]byte, 1<<20), block: c.block}
		set := pagesink.Settings{Workers: 1, MaxKeySize: 1 << 20}
		p := &placement{copier: &Copier{ctx: context.Background()}, set: set}
		chunk := &Chunk{Chunk: pagesource.Chunk{Column: to}, Level: Clone, From: src}
		page := envelope.Page{Locator: locator.At(at, uint64(c.n))}
		p.pages = []*copied{{from: chunk, page: page, size: c.n, column: to, to: new(envelope.Page)}}
		_, err := p.place(&pagesink.Output{Blob: out.blob, Stream: out.stream, Extents: out})
		want := Uncloned{Pages: 1, Bytes: c.n, Refused: c.refused}
		if c.cloned > 0 {
			want = Uncloned{}
		}
		if got := p.copier.Uncloned(); err != nil || out.cloned != c.cloned || got != want {
			t.Errorf("%+v: %d bytes are cloned, %+v is not: %v", c, out.cloned, got, err)
		}
	}
}

// A sizedReader notes what it is asked for.
type sizedReader struct {
	bytes.Reader
	sizes []int
}

func (r *sizedReader) ReadAt(b []byte, off int64) (int, error) {
	r.sizes = append(r.sizes, len(b))
	return r.Reader.ReadAt(b, off)
}

// TestStretches makes sure that adjacent pages are copied together, as far as they need not be in
// memory at a time, into payloads up to their limit.
func TestStretches(t *testing.T) {
	const page, pages = 40_000, 50
	for _, test := range []struct {
		level Level // nothing can be cloned
		limit uint64
		blobs []int64
	}{
		{Clone, 0, []int64{page * pages}}, {Copy, 0, []int64{page * pages}},
		{Copy, 10 * page, slices.Repeat([]int64{10 * page}, pages/10)},
		{Copy, 10*page + page - 1, slices.Repeat([]int64{10 * page}, pages/10)},
	} {
		file := &sizedReader{}
		file.Reset(make([]byte, page*pages))
		out := &cloningFile{t: t, bytes: make([]byte, 8<<20)}
		p := &placement{copier: &Copier{ctx: context.Background()},
			set: pagesink.Settings{Workers: 1, MaxKeySize: test.limit}}
		to := doubles(column.Real64)
		chunk := &Chunk{
			Chunk: pagesource.Chunk{Column: to}, Level: test.level,
			From: &pagesource.Source{Blobs: pagesource.Blobs{R: file, Size: file.Size(), SkipChecksums: true}},
		}
		for i := range pages {
			from := envelope.Page{Locator: locator.At(uint64(i*page), page)}
			p.pages = append(p.pages, &copied{from: chunk, page: from, size: page, column: to, to: new(envelope.Page)})
		}
		if size, err := p.place(&pagesink.Output{Blob: out.blob, Stream: out.stream}); err != nil || size != page*pages {
			t.Fatalf("%d bytes, want %d: %v", size, page*pages, err)
		}
		const most = (stretchSize + page - 1) / page * page // the page at which the size is reached ends a stretch
		var want []int
		for _, n := range test.blobs {
			for left := int(n); left > 0; left -= most {
				want = append(want, min(left, most))
			}
		}
		file.sizes = slices.DeleteFunc(file.sizes, func(n int) bool { return n == 0 })
		if !slices.Equal(file.sizes, want) || !slices.Equal(out.blobs, test.blobs) {
			t.Errorf("reads of %d bytes, want %d; payloads of %d", file.sizes, want, out.blobs)
		}
		if u := p.copier.Uncloned(); (u.Refused != nil) != (test.level == Clone) {
			t.Errorf("%v: %+v not cloned", test.level, u)
		}
	}
}

// A failingWriter fails at a write, or has it be short.
type failingWriter struct{ failAt int }

func (w *failingWriter) WriteAt(b []byte, _ int64) (int, error) {
	if w.failAt--; w.failAt == 0 {
		return len(b) / 2, io.ErrShortWrite
	}
	return len(b), nil
}

// TestWriteErrors has each write of a payload that is streamed fail.
func TestWriteErrors(t *testing.T) {
	const page = stretchSize
	to := doubles(column.Real64)
	src := &pagesource.Source{Blobs: pagesource.Blobs{R: bytes.NewReader(make([]byte, 4*page)),
		Size: 4 * page, SkipChecksums: true}}
	for _, workers := range []int{1, 3} {
		for at := 1; at <= 5; at++ {
			p := &placement{copier: &Copier{ctx: context.Background()}, set: settings(workers)}
			chunk := &Chunk{Chunk: pagesource.Chunk{Column: to}, Level: Copy, From: src}
			for i := range 4 {
				from := envelope.Page{Locator: locator.At(uint64(i*page), page)}
				p.pages = append(p.pages, &copied{from: chunk, page: from, size: page, column: to, to: new(envelope.Page)})
			}
			out := &pagesink.Output{Stream: func(_ int64, fill func(io.WriterAt) error) (int64, error) {
				return 0, fill(&failingWriter{at})
			}}
			if _, err := p.place(out); errors.Is(err, io.ErrShortWrite) != (at <= 4) {
				t.Errorf("%d workers, write %d of 4: error %v", workers, at, err)
			}
		}
	}
}

// TestOverlap copies pages that share bytes, of which some have the checksum behind them and others
// not.
func TestOverlap(t *testing.T) {
	page := []byte("12345678abcdefgh")
	stored := binary.LittleEndian.AppendUint64(page[:16:16], checksum.Sum(page))
	inner := checksum.Sum(page[:8])
	content := append(binary.LittleEndian.AppendUint64(page[:8:8], inner), stored...)
	src := &pagesource.Source{Blobs: pagesource.Blobs{R: bytes.NewReader(content),
		Size: int64(len(content)), MaxPage: 1 << 20}}
	to := doubles(column.Real64)
	out := &cloningFile{t: t, bytes: make([]byte, 1000)}
	p := &placement{copier: NewCopier(context.Background(), nil), set: settings(1)}
	chunk := &Chunk{Chunk: pagesource.Chunk{Column: to}, From: src, Level: Copy,
		Fail: func(err error) error { return err }}
	for _, page := range []envelope.Page{
		{NumElements: 2, Locator: locator.At(16, 16)}, // no checksum
		{NumElements: 2, Locator: locator.At(16, 16), HasChecksum: true},
		{NumElements: 1, Locator: locator.At(24, 8)}, // within the first two
		{NumElements: 1, Locator: locator.At(0, 8), HasChecksum: true},
		{NumElements: 2, Locator: locator.At(16, 16), HasChecksum: true},
	} {
		c := &copied{from: chunk, page: page, size: int64(page.StoredSize()), column: to, to: new(envelope.Page)}
		p.pages = append(p.pages, c)
	}
	all := slices.Clone(p.pages)
	size, err := p.place(&pagesink.Output{Blob: out.blob})
	if err != nil || size != int64(len(content)) || !bytes.Equal(out.bytes[keySize:out.end], content) {
		t.Errorf("%d bytes, want %d: %v", size, len(content), err)
	}
	for _, c := range all {
		if c.to.Locator.Size != c.page.Locator.Size || c.to.Locator.Offset != c.page.Locator.Offset+keySize {
			t.Errorf("the page at %d is at %d", c.page.Locator.Offset, c.to.Locator.Offset)
		}
	}
}

// TestDisk makes sure that the file on disk is found from which pages can be cloned.
func TestDisk(t *testing.T) {
	f := new(os.File)
	for i, c := range []struct {
		r    io.ReaderAt
		want *os.File
	}{{f, f}, {onDisk{f}, f}, {bytes.NewReader(nil), nil}} {
		if got := diskOf(c.r); got != c.want {
			t.Errorf("reader %d: %v", i, got)
		}
	}
}

// onDisk reads a file on disk.
type onDisk struct{ disk *os.File }

func (o onDisk) ReadAt(b []byte, off int64) (int, error) { return o.disk.ReadAt(b, off) }
func (o onDisk) Disk() *os.File                          { return o.disk }
