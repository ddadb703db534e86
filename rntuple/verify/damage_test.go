package verify_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/internal/test/oddity"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestDamage changes bytes that no checksum covers any more, or that one does.
func TestDamage(t *testing.T) {
	clean := newDraft().file(t)
	f, err := rootfile.Open(bytes.NewReader(clean), int64(len(clean)))
	if err != nil {
		t.Fatal(err)
	}
	key, err := f.Find("n")
	if err != nil {
		t.Fatal(err)
	}
	object, err := f.Payload(key)
	if err != nil {
		t.Fatal(err)
	}
	a, err := anchor.Parse(object)
	if err != nil {
		t.Fatal(err)
	}
	anchorAt := key.SeekKey + int64(key.KeyLen)
	header, footer := int64(a.SeekHeader), int64(a.SeekFooter)
	page := bytes.Index(clean, []byte{1, 0, 0, 0, 2, 0, 0, 0}) // of column 0
	const blobKey = 42
	for _, c := range []struct {
		name string
		at   int64
		to   []byte
		want string
	}{
		{"magic", 0, []byte("toor"), "container: header of the file at offset 0x0"},
		{"end", 12, []byte{0x7f}, "the file is truncated"},
		{"never closed", 16, make([]byte, 4), "there is no free list"},
		{"no list of keys", f.Header.SeekFree, []byte{0, 0, 0, 1}, fmt.Sprintf("free list at offset %#x", f.Header.SeekFree)},
		{"key in the list", f.Root.SeekKeys + 60, []byte{0xff}, "byte 13 is"},
		{"key", key.SeekKey + 10, []byte{0xff},
			fmt.Sprintf(`ROOT::RNTuple "n" at offset %#x: corrupt data: its key differs from the one that the directory lists: byte 10`, key.SeekKey)},
		{"length of the record", key.SeekKey, []byte{0, 1}, "byte 1 is 0x01, expected 0x00"},
		{"anchor", anchorAt + 20, []byte{0xff},
			fmt.Sprintf(`anchor: RNTuple "n" at offset %#x: anchor.checksum`, key.SeekKey)},
		{"header", header + 30, []byte{0xff}, fmt.Sprintf(`envelope: RNTuple "n", header at offset %#x: header.checksum`,
			header)},
		{"footer", footer + 30, []byte{0xff}, fmt.Sprintf(`envelope: RNTuple "n", footer at offset %#x: footer.checksum`,
			footer)},
		{"page", int64(page), []byte{9},
			fmt.Sprintf(`pages: RNTuple "n", cluster 0, column 0, field "x", page 0 at offset %#x: checksum mismatch`, page)},
		{"checksum of a page", int64(page) + 8, []byte{clean[page+8] ^ 1}, `column 0, field "x", page 0 at offset`},
		{"key of a page", int64(page) - blobKey, []byte{0, 0, 0, 0},
			fmt.Sprintf("column 0, page 0 at offset %#x: corrupt data: the 16 bytes", page)},
		{"class of a page", int64(page) - 7, []byte("X"), "are not in a record"},
		{"longer record", int64(page) - blobKey, []byte{0, 0, 0, 92},
			fmt.Sprintf("record at offset %#x: corrupt data: of 92 bytes reaches over the one at", page-blobKey)},
		{"gap over records", int64(page) - blobKey, []byte{0xff, 0xff, 0xff, 0}, "gap at offset"},
	} {
		file := bytes.Clone(clean)
		copy(file[c.at:], c.to)
		lines, _ := check(t, file, nil)
		if !strings.Contains(strings.Join(lines, "\n"), c.want) {
			t.Errorf("%s: no problem %q, but\n%s", c.name, c.want, strings.Join(lines, "\n"))
		}
	}
}

// One RNTuple that is damaged does not keep the others from being checked, and
// one page not the next.
func TestGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "many.root")
	file, err := rntuple.CreateFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		w, err := rntuple.NewWriter[struct{ X, Y int32 }](file, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		for cluster := range 3 {
			for i := range 5 {
				if err := w.Write(&struct{ X, Y int32 }{int32(i), int32(100*cluster + i)}); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Checkpoint(); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if lines, s := check(t, b, nil); len(lines) > 0 || s.RNTuples < 3 {
		t.Errorf("%+v, %q", s, lines)
	}
	f, err := rootfile.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		key, err := f.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		object, err := f.Payload(key)
		if err != nil {
			t.Fatal(err)
		}
		a, err := anchor.Parse(object)
		if err != nil {
			t.Fatal(err)
		}
		b[a.SeekFooter+a.NBytesFooter-1] ^= 1
	}
	lines, _ := check(t, b, nil)
	for _, name := range []string{"a", "b", "c"} {
		if !strings.Contains(strings.Join(lines, "\n"), fmt.Sprintf("envelope: RNTuple %q, footer at offset", name)) {
			t.Errorf("nothing is said of RNTuple %s: %q", name, lines)
		}
	}
}

// A small file that claims a lot takes neither much time nor much memory.
func TestClaims(t *testing.T) {
	claims := map[string]func(*draft){
		"elements": func(d *draft) {
			d.lists = func(l []envelope.PageList) { l[0].Pages[0].Columns[colX].Pages[0].NumElements = 1<<31 - 1 }
		},
		"entries":     func(d *draft) { d.lists = func(l []envelope.PageList) { l[0].Clusters[0].NumEntries = 1<<56 - 1 } },
		"first entry": func(d *draft) { d.lists = func(l []envelope.PageList) { l[0].Clusters[0].FirstEntry = 1<<64 - 1 } },
		"offset": func(d *draft) {
			d.lists = func(l []envelope.PageList) { l[0].Pages[0].Columns[colX].ElementOffset = 1<<63 - 1 }
		},
		"size": func(d *draft) {
			d.lists = func(l []envelope.PageList) { l[0].Pages[0].Columns[colX].Pages[0].Locator.Size = 1<<31 - 1 }
		},
		"envelope":     func(d *draft) { d.anchor = func(a *anchor.Anchor) { a.LenHeader = 1<<63 - 1 } },
		"stored":       func(d *draft) { d.anchor = func(a *anchor.Anchor) { a.NBytesHeader = 1<<63 - 1 } },
		"groups":       func(d *draft) { d.links = func(f *envelope.Footer) { f.ClusterGroups[0].NumClusters = 1<<32 - 1 } },
		"span":         func(d *draft) { d.links = func(f *envelope.Footer) { f.ClusterGroups[0].EntrySpan = 1<<64 - 1 } },
		"array":        func(d *draft) { d.header.Fields[8].ArraySize = 1 << 40 },
		"larger array": func(d *draft) { d.header.Fields[8].ArraySize = 1<<64 - 1 },
		"first element": func(d *draft) {
			d.header.Columns[colX].Flags, d.header.Columns[colX].FirstElement = envelope.ColumnDeferred, -1<<63
		},
		"offsets": func(d *draft) { copy(d.page(0, colV).bytes, bytes.Repeat([]byte{0xff}, 16)) },
		"many pages": func(d *draft) {
			d.lists = func(l []envelope.PageList) {
				p := &l[0].Pages[0].Columns[colX].Pages
				for range 20000 {
					*p = append(*p, (*p)[0])
				}
			}
		},
		"many sets": func(d *draft) {
			d.sets = append(d.sets, newSet("s"))
			d.links = func(f *envelope.Footer) {
				for i := range 5000 {
					s := f.AttributeSets[0]
					s.Name = fmt.Sprint(i)
					f.AttributeSets = append(f.AttributeSets, s)
				}
			}
		},
	}
	for name, claim := range claims {
		d := newDraft()
		claim(d)
		file := d.file(t)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		lines, _ := check(t, file, nil)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 2<<20+100*uint64(len(file)) {
			t.Errorf("%s: %d bytes are allocated for a file of %d", name, n, len(file))
		}
		if len(lines) == 0 {
			t.Errorf("%s: no problem", name)
		}
	}
}

// TestFreeSpace fills free space with all kinds of bytes: records that are no longer in use,
// whose gaps a writer that stopped has not marked, and what is no record. None is a problem.
func TestFreeSpace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "free.root")
	w, err := rntuple.Create[struct{ X int32 }](path, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int32(20) {
		w.Write(&struct{ X int32 }{i})
		if err := w.Checkpoint(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	clean, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := rootfile.Open(bytes.NewReader(clean), int64(len(clean)))
	if err != nil {
		t.Fatal(err)
	}
	var l rootfile.FreeList
	c := frame.NewReader(clean[f.Header.SeekFree:][:f.Header.NBytesFree], "free list", 0).BigEndian()
	if l.Wire(c); c.Err() != nil || len(l.Segments) < 3 {
		t.Fatal(l.Segments, c.Err())
	}
	for _, fill := range [][]byte{{0}, {0xff}, {0x7f, 1, 2}, clean[f.Root.SeekKeys:][:f.Root.NBytesKeys]} {
		file := bytes.Clone(clean)
		for _, s := range l.Segments[:len(l.Segments)-1] {
			copy(file[s.First:s.Last+1], bytes.Repeat(fill, len(file)))
		}
		if lines, s := check(t, file, nil); len(lines) > 0 || len(s.Skipped) > 0 {
			t.Errorf("filled with % .20x: %q, %+v", fill, lines, s)
		}
	}
}

// TestOddities checks files that are unusual in a way that does no harm.
func TestOddities(t *testing.T) {
	path := filepath.Join(t.TempDir(), "odd.root")
	file, err := rntuple.CreateFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dir/m", "n", "m"} {
		w, err := rntuple.NewWriter[struct{ X int32 }](file, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Write(&struct{ X int32 }{1}), w.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range oddity.Cases(t, b) {
		lines, s := check(t, c.File, nil)
		text := strings.Join(lines, "\n")
		switch {
		case c.Hidden != (s.Problems > 0):
			t.Errorf("%s: %d problems:\n%s", c.Name, s.Problems, text)
		case !c.Hidden && (s.Oddities > 0) != (c.Says != ""), !strings.Contains(text, c.Says):
			t.Errorf("%s: %d oddities, want %q:\n%s", c.Name, s.Oddities, c.Says, text)
		case !c.Hidden && s.RNTuples != 3:
			t.Errorf("%s: %+v", c.Name, s)
		}
		agree(t, c.File, damage(lines))
	}
}

// A file that was not closed, of which the end of the header is not the end of the file, may
// lack objects.
func TestNotClosed(t *testing.T) {
	file := newDraft().file(t)
	copy(file[16:], make([]byte, 4)) // the position of the free list
	if lines, s := check(t, append(file, "more"...), nil); s.Problems == 0 {
		t.Error(lines)
	}
}
