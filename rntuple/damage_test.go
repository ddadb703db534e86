package rntuple_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/value"
)

// small builds a file with a bit of everything.
func small(t testing.TB) []byte {
	b := newBuilder(t)
	scalar(b, "double", column.Real64, column.Real16)
	s := b.regular()
	v := s.field(-1, "v", "std::vector<std::string>", envelope.RoleCollection)
	s.column(v, column.SplitIndex64)
	str := s.field(v, "_0", "std::string", envelope.RolePlain)
	s.column(str, column.Index32)
	s.column(str, column.Char)
	b.cluster(2, chunk(0, page(b, column.Real64, 0.1, 0.2)), suppressed,
		chunk(0, page[uint64](b, column.SplitIndex64, 1, 3)), chunk(0, page[uint32](b, column.Index32, 1, 2, 3)), chunk(0, page[int8](b, column.Char, 1, 2, 3)))
	b.cluster(1, suppressed, chunk(2, page[float32](b, column.Real16, 0.5)),
		chunk(2, page[uint64](b, column.SplitIndex64, 0)), chunk(3), chunk(3))
	return b.bytes(edits{})
}

// readAll reads a file as text, of all entries or at most a thousand.
func readAll(file []byte) (string, error) {
	r, err := rntuple.NewReader(bytes.NewReader(file), int64(len(file)), "", rntuple.MaxEntrySize(1<<20), rntuple.MaxPageSize(1<<20))
	if err != nil {
		return "", err
	}
	v, err := rntuple.RecordsOf(r)
	if err != nil {
		return "", err
	}
	var text []byte
	for i, record := range v.All() {
		if i == 1000 {
			break
		}
		text = append(value.AppendJSON(text, record), '\n')
	}
	return string(text), v.Err()
}

// TestDamage flips every bit of a small file, and some of one of ROOT's, and
// cuts both at every place: what can be read at all must be right.
func TestDamage(t *testing.T) {
	files := map[string][]byte{"by hand": small(t)}
	if b, err := os.ReadFile("../testdata/good/special_zero.root"); err == nil {
		files["by ROOT"] = b
	} else {
		t.Error(err)
	}
	for name, file := range files {
		want, err := readAll(file)
		if err != nil {
			t.Fatal(err)
		}
		bits := 8
		if name == "by ROOT" {
			bits = 1
		}
		for i := range file {
			for bit := range bits {
				file[i] ^= 1 << ((bit + i) % 8)
				if got, err := readAll(file); err == nil && got != want {
					t.Errorf("%s: with bit %d of byte %#x flipped, we read\n%s\nwant\n%s", name, bit, i, got, want)
				} else if err != nil {
					sound(t, err)
				}
				file[i] ^= 1 << ((bit + i) % 8)
			}
			if got, err := readAll(file[:i]); err == nil && got != want {
				t.Errorf("%s: cut after %d bytes, we read\n%s\nwant\n%s", name, i, got, want)
			}
		}
	}
}

// sound makes sure that an error is one of those that the package documents.
func sound(t *testing.T, err error) {
	t.Helper()
	for _, kind := range []error{rntuple.ErrCorrupt, rntuple.ErrChecksum, rntuple.ErrUnsupported, rntuple.ErrNotFound, rntuple.ErrRange} {
		if errors.Is(err, kind) {
			return
		}
	}
	if !strings.Contains(err.Error(), "several RNTuples") {
		t.Errorf("error of an unknown kind: %v", err)
	}
}

// reseal returns file with edited envelopes at its end, for which all checksums
// are right again, so that damage gets past them. Only the first RNTuple of the
// file is edited.
func reseal(t testing.TB, file []byte, edit func(kind envelope.Type, b []byte)) []byte {
	container, err := rootfile.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Skip(err)
	}
	var key rootfile.Key
	err = container.Walk(func(_ string, k rootfile.Key) error {
		if k.Class == anchor.ClassName {
			key = k
			return io.EOF
		}
		return nil
	})
	if err != io.EOF {
		t.Skip("no RNTuple")
	}
	object, err := container.Payload(key)
	if err != nil {
		t.Skip(err)
	}
	a, err := anchor.Parse(object)
	if err != nil {
		t.Skip(err)
	}
	b := newBuilder(t)
	b.name, b.file, b.maxKey = key.Name, bytes.Clone(file), 0

	load := func(l locator.Link) []byte {
		stored := make([]byte, l.Locator.Size)
		if err := anchor.ReadBlob(bytes.NewReader(file), stored, int64(l.Locator.Offset), a.MaxKeySize); err != nil {
			t.Skip(err)
		}
		plain := make([]byte, l.Length)
		if err := compress.Decompress(plain, stored); err != nil {
			t.Skip(err)
		}
		return plain
	}
	sum := uint64(0)
	seal := func(kind envelope.Type, p []byte) locator.Link {
		edit(kind, p[8:len(p)-8])
		if kind != envelope.TypeHeader { // it comes after the feature flags, which only footers have
			at := 8
			if kind == envelope.TypeFooter {
				for ; at < len(p)-24 && int64(binary.LittleEndian.Uint64(p[at:])) < 0; at += 8 {
				}
				at += 8
			}
			binary.LittleEndian.PutUint64(p[at:], sum)
		}
		binary.LittleEndian.PutUint64(p[len(p)-8:], checksum.Sum(p[:len(p)-8]))
		return locator.Link{Length: uint64(len(p)), Locator: locator.At(b.blob(p), uint64(len(p)))}
	}
	header := load(locator.Link{Length: a.LenHeader, Locator: locator.At(a.SeekHeader, a.NBytesHeader)})
	h := seal(envelope.TypeHeader, header)
	sum = envelope.Checksum(header)
	footer, err := envelope.ParseFooter(load(locator.Link{Length: a.LenFooter, Locator: locator.At(a.SeekFooter, a.NBytesFooter)}))
	if err != nil {
		t.Skip(err)
	}
	for i := range footer.ClusterGroups {
		g := &footer.ClusterGroups[i]
		g.PageList = seal(envelope.TypePageList, load(g.PageList))
	}
	p, err := footer.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	f := seal(envelope.TypeFooter, p)
	a.SeekHeader, a.NBytesHeader, a.LenHeader = h.Locator.Offset, h.Length, h.Length
	a.SeekFooter, a.NBytesFooter, a.LenFooter = f.Locator.Offset, f.Length, f.Length
	object, err = a.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b.container(object)
}

// FuzzMetadata changes bytes of the envelopes of good files. The fuzzer chooses
// the file, and where to put which bytes: six of its own to a change.
func FuzzMetadata(f *testing.F) {
	names, _ := filepath.Glob("../testdata/good/*.root")
	more, _ := filepath.Glob("../../shared/testdata/root/*.root")
	files := [][]byte{small(f)}
	for _, name := range append(names, more...) {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if len(b) < 60<<10 {
			files = append(files, b)
		}
	}
	for i := range files {
		f.Add(uint8(i), []byte{})
		f.Add(uint8(i), []byte{1, 0, 8, 0xff, 0xff, 0xff})
		f.Add(uint8(i), []byte{2, 0, 8, 0xff, 0xff, 0x7f, 3, 0, 100, 1, 2, 3})
	}
	f.Fuzz(func(t *testing.T, which uint8, changes []byte) {
		file := reseal(t, files[int(which)%len(files)], func(kind envelope.Type, b []byte) {
			for c := changes; len(c) >= 6; c = c[6:] {
				if at := int(binary.BigEndian.Uint16(c[1:])); envelope.Type(c[0]%3+1) == kind && len(b) > 0 {
					copy(b[at%len(b):], c[3:6])
				}
			}
		})
		if _, err := readAll(file); err != nil {
			sound(t, err)
		}
	})
}

// FuzzOpen reads whatever the fuzzer comes up with.
func FuzzOpen(f *testing.F) {
	f.Add(small(f))
	names, _ := filepath.Glob("../testdata/good/*.root")
	old, _ := filepath.Glob("../../shared/testdata/legacy/*.root")
	for _, name := range append(names, old...) {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if _, err := readAll(file); err != nil {
			sound(t, err)
		}
	})
}
