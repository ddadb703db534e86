package pagecopy

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A memory is the file of an output, in memory.
type memory struct{ bytes.Buffer }

func (m *memory) Blob(parts ...[]byte) (int64, error) {
	at := int64(m.Len())
	for _, p := range parts {
		m.Write(p)
	}
	return at, nil
}

// TestCRC32 copies a page of the pre-release format in which the CRC32 of the
// uncompressed page follows a page. At each level the checksum must be verified before
// anything is written, if checksums are, and the page written must be one of format 1:
// with an XXH3 checksum, and with the CRC32 nowhere else than in the source.
func TestCRC32(t *testing.T) {
	plain := make([]byte, 8000)
	for i := range plain {
		plain[i] = byte(i / 100)
	}
	for _, in := range []compress.Settings{0, 505} {
		stored, err := compress.Append(nil, plain, in)
		if err != nil {
			t.Fatal(err)
		}
		file := append([]byte("in front"), stored...)
		file = binary.LittleEndian.AppendUint32(file, crc32.ChecksumIEEE(plain))
		file = append(file, "behind"...)
		page := envelope.Page{NumElements: 1000, HasCRC32: true, Locator: locator.At(8, uint64(len(stored)))}
		for _, out := range []compress.Settings{0, 404} {
			for level := Clone; level <= Reseal; level++ {
				for _, workers := range []int{1, 3} {
					for _, skip := range []bool{false, true} {
						for _, damaged := range []int{-1, 8 + 9, 8 + len(stored)/2, 8 + len(stored), 8 + len(stored) + 3} {
							b := slices.Clone(file)
							if damaged >= 0 {
								b[damaged] ^= 0x10
							}
							if skip && damaged >= 0 && damaged < 8+len(stored) {
								continue // anything may happen
							}
							where := fmt.Sprintf("from %v to %v, level %d, %d workers, skip %v, damaged %d", in, out, level,
								workers, skip, damaged)
							testCRC32(t, where, b, page, plain, in, out, level, workers, skip, damaged >= 0 && !skip)
						}
					}
				}
			}
		}
	}
}

func testCRC32(t *testing.T, where string, file []byte, page envelope.Page, plain []byte, in, out compress.Settings,
	level Level, workers int, skip, damaged bool) {
	set := settings(workers)
	set.Compression = out
	to := doubles(column.Real64)
	written := &memory{}
	sink := pagesink.NewSink(context.Background(), &pagesink.Output{Blob: written.Blob}, set, 7)
	sink.AddColumns([]*schema.Column{to})
	blobs := pagesource.Blobs{R: bytes.NewReader(file), Size: int64(len(file)), MaxPage: 1 << 20, SkipChecksums: skip}
	copier := NewCopier(context.Background(), sink)
	err := errors.Join(copier.Take(1000, []Column{{Chunks: []Chunk{{
		Chunk: pagesource.Chunk{Column: to, Pages: []envelope.Page{page}, Compression: uint32(in)},
		From:  &pagesource.Source{Blobs: blobs}, Level: level,
		Fail: func(err error) error { return fmt.Errorf("file: %w", err) },
	}}}}), sink.Wait())
	if damaged {
		if !errors.Is(err, frame.ErrChecksum) && !errors.Is(err, frame.ErrCorrupt) || written.Len() > 0 {
			t.Errorf("%s: error %v, %d bytes written", where, err, written.Len())
		}
		return
	}
	if err == nil {
		err = sink.CommitClusterGroup()
	}
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	link := sink.Groups()[0].PageList
	b := written.Bytes()[link.Locator.Offset:][:link.Locator.Size]
	if uint64(len(b)) != link.Length {
		b = make([]byte, link.Length)
		if err := compress.Decompress(b, written.Bytes()[link.Locator.Offset:][:link.Locator.Size]); err != nil {
			t.Fatal(err)
		}
	}
	list, err := envelope.ParsePageList(b)
	if err != nil {
		t.Fatal(err)
	}
	got := list.Pages[0].Columns[0]
	want := out
	if level <= Copy {
		want = in
	}
	if len(got.Pages) != 1 || !got.Pages[0].HasChecksum || got.Compression != uint32(want) ||
		got.Pages[0].StoredSize() != link.Locator.Offset {
		t.Errorf("%s: %+v, the page list is at %d", where, got, link.Locator.Offset)
		return
	}
	blobs = pagesource.Blobs{R: bytes.NewReader(written.Bytes()), Size: int64(written.Len()), MaxPage: 1 << 20}
	if err := blobs.Page(context.Background(), to.Format(), got.Pages[0], func(b []byte) error {
		if !bytes.Equal(b, plain) {
			return errors.New("the page differs")
		}
		return nil
	}); err != nil {
		t.Errorf("%s: %v", where, err)
	}
	if n := copier.Uncloned().Pages; (n == 1) != (level == Clone) {
		t.Errorf("%s: %d pages not cloned", where, n)
	}
}

// TestSharedKeys copies equal pages that are too large for a key, in the source or the output. They
// must share their bytes as they did in the source.
func TestSharedKeys(t *testing.T) {
	page := bytes.Repeat([]byte("12345678"), 100)
	for _, keys := range [][2]uint64{{0, 300}, {300, 0}, {300, 300}} {
		file := &memory{}
		stored := binary.LittleEndian.AppendUint64(page[:len(page):len(page)], checksum.Sum(page))
		var at [2]int64
		for i := range at {
			var err error
			if at[i], err = anchor.WriteBlob(stored, keys[0], file.Blob); err != nil {
				t.Fatal(err)
			}
		}
		r := bytes.NewReader(file.Bytes())
		src := &pagesource.Source{Blobs: pagesource.Blobs{R: r, Size: r.Size(), MaxKeySize: keys[0], MaxPage: 1 << 20}}
		to := doubles(column.Real64)
		chunk := Chunk{From: src, Level: Clone, Chunk: pagesource.Chunk{Column: to}}
		for _, i := range []int{0, 1, 0, 1, 0} {
			p := envelope.Page{NumElements: 100, HasChecksum: true, Locator: locator.At(uint64(at[i]), uint64(len(page)))}
			chunk.Pages = append(chunk.Pages, p)
		}
		set := settings(1)
		set.MaxKeySize = keys[1]
		written := &memory{}
		out := &pagesink.Output{Blob: written.Blob}
		copier := NewCopier(context.Background(), pagesink.NewSink(context.Background(), out, set, 7))
		p := &placement{copier: copier, set: set}
		if err := p.add(&pagesink.Column{}, to, &chunk); err != nil {
			t.Fatal(err)
		}
		if size, err := p.place(out); err != nil || size != int64(2*len(stored)) {
			t.Fatalf("the pages count %d bytes, want %d: %v", size, 2*len(stored), err)
		}
		chunks, err := anchor.Split(uint64(len(stored)), keys[1])
		if err != nil {
			t.Fatal(err)
		}
		if want := 2 * (len(stored) + 8*(chunks.Len()-1)); written.Len() != want { // with the offsets of the other keys
			t.Errorf("keys of %d bytes: the pages take %d bytes, want %d", keys, written.Len(), want)
		}
		if u := copier.Uncloned(); u.Pages != 5 || u.Bytes != int64(5*len(stored)) {
			t.Errorf("%+v not cloned", u)
		}
	}
}
