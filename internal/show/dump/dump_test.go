package dump

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/internal/test/oddity"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

func open(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// collect returns the records that File shows.
func collect(file []byte, opts Options) (list []*Record, err error) {
	err = File(context.Background(), bytes.NewReader(file), int64(len(file)), opts, func(r *Record) error {
		list = append(list, r)
		return nil
	})
	return list, err
}

// tiles makes sure that the lines of a record cover it, and returns its bytes.
func tiles(t testing.TB, file []byte, r *Record) []byte {
	t.Helper()
	var all []byte
	for _, l := range r.Lines {
		if l.At != int64(len(all)) || len(l.Bytes) == 0 {
			t.Fatalf("%s: a line of %d bytes at %#x, the one before ends at %#x", r.Title, len(l.Bytes), l.At, len(all))
		}
		if l.Path == "" != (l.Meaning == unknown || l.Meaning == unread) {
			t.Errorf("%s: line at %#x: path %q, meaning %q", r.Title, l.At, l.Path, l.Meaning)
		}
		all = append(all, l.Bytes...)
	}
	if !r.Compressed && !r.Chunked {
		if int64(len(all)) != r.Stored || !bytes.Equal(all, file[r.Offset:][:r.Stored]) {
			t.Errorf("%s: %d bytes at %#x are not those of the file", r.Title, len(all), r.Offset)
		}
	}
	return all
}

// sealed makes sure that the bytes of an envelope end with their checksum: that
// all of it is shown.
func sealed(t testing.TB, r *Record, b []byte, old bool) {
	t.Helper()
	var stored, sum uint64
	if n := len(b) - 4; old && n >= 0 {
		stored, sum = uint64(binary.LittleEndian.Uint32(b[n:])), uint64(crc32.ChecksumIEEE(b[:n]))
	} else if n := len(b) - 8; n >= 0 {
		stored, sum = binary.LittleEndian.Uint64(b[n:]), checksum.Sum(b[:n])
	}
	if stored != sum || len(b) < 8 || r.Lines[len(r.Lines)-1].Meaning != "right" {
		t.Errorf("%s: %d bytes do not end with their checksum", r.Title, len(b))
	}
}

// TestTiles dumps all records of all good and all pre-release files: every byte of
// them is shown once, and in format 1 every byte has a name.
func TestTiles(t *testing.T) {
	files, _ := filepath.Glob("../../../testdata/good/*.root")
	if len(files) < 20 {
		t.Fatal("no files")
	}
	legacy, _ := filepath.Glob("../../../../shared/testdata/legacy/*.root")
	for _, path := range append(files, legacy...) {
		if strings.Contains(path, "bare") {
			continue // no ROOT file
		}
		file := open(t, path)
		infos, err := rntuple.List(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range infos {
			list, err := collect(file, Options{NTuple: info.Path})
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			r, err := rntuple.NewReader(bytes.NewReader(file), int64(len(file)), info.Path, nil)
			if err != nil {
				continue // refused, but it can be looked at
			}
			i, err := r.Inspect(nil)
			if err != nil {
				t.Fatal(err)
			}
			envelopes, old := 0, strings.Contains(path, "/v0") || strings.Contains(path, "/rc1")
			for _, rec := range list {
				b := tiles(t, file, rec)
				if rec.Error != "" {
					t.Errorf("%s: %s: %s", path, rec.Title, rec.Error)
				}
				for _, l := range rec.Lines {
					if l.Path == "" && !strings.Contains(path, "legacy") {
						t.Errorf("%s: %s: %d bytes at %#x are unknown", path, rec.Title, len(l.Bytes), l.At)
					}
				}
				if strings.HasPrefix(rec.Title, "header") || strings.HasPrefix(rec.Title, "footer") ||
					strings.HasPrefix(rec.Title, "page list") {
					sealed(t, rec, b, old)
					envelopes++
				}
			}
			if want := 2 + i.ClusterGroups; envelopes != want && !strings.Contains(path, "/v0") {
				t.Errorf("%s: %d envelopes shown, want %d", path, envelopes, want)
			}
		}
		list, err := collect(file, Options{Container: true})
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for _, rec := range list {
			tiles(t, file, rec)
			if rec.Error != "" {
				t.Errorf("%s: %s: %s", path, rec.Title, rec.Error)
			}
		}
	}
}

// TestOddities dumps containers that are unusual in a way that does no harm: nothing is called
// damaged.
func TestOddities(t *testing.T) {
	for _, c := range oddity.Cases(t, open(t, "../../../testdata/good/special_dirs.root")) {
		list, err := collect(c.File, Options{Container: true})
		if (err != nil) != c.Hidden {
			t.Errorf("%s: %v", c.Name, err)
		}
		for _, rec := range list {
			tiles(t, c.File, rec)
			if rec.Error != "" && !c.Hidden {
				t.Errorf("%s: %s: %s", c.Name, rec.Title, rec.Error)
			}
			if last := rec.Lines[len(rec.Lines)-1]; rec.Title == "list of free segments" &&
				strings.Contains(c.Says, "zeros") && last.Path != "" {
				t.Errorf("%s: the zeros are shown as %s", c.Name, last.Path)
			}
		}
	}
}

// TestAt asks for the record of every byte of a file: they are shown once, from the
// first byte to the last.
func TestAt(t *testing.T) {
	for _, name := range []string{"special_samepage", "special_zero", "special_dirs"} {
		file := open(t, "../../../testdata/good/"+name+".root")
		for at := int64(0); at < int64(len(file)); {
			list, err := collect(file, Options{At: &at})
			if err != nil || len(list) == 0 {
				t.Fatalf("%s, byte %#x: %d records, %v", name, at, len(list), err)
			}
			for _, r := range list {
				if r.Offset != at || r.Error != "" || r.Stored == 0 {
					t.Fatalf("%s, byte %#x: %q at %#x, %d bytes, %s", name, at, r.Title, r.Offset, r.Stored, r.Error)
				}
				tiles(t, file, r)
				for _, l := range r.Lines {
					if strings.HasPrefix(r.Title, "payload") &&
						(strings.HasSuffix(l.Path, ".checksum") && l.Meaning != "right" || l.Path == "") {
						t.Errorf("%s: %s at %#x: %+v", name, r.Title, at, l)
					}
				}
				at += r.Stored
			}
		}
	}
	past := int64(1 << 20)
	if _, err := collect(open(t, "../../../testdata/good/special_zero.root"), Options{At: &past}); err == nil {
		t.Error("a byte behind the end was found")
	}
}

// TestPage compares the elements of pages with the values that the fields have.
func TestPage(t *testing.T) {
	path := "../../../testdata/good/special_zero.root"
	file := open(t, path)
	r, err := rntuple.Open(path, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, err := rntuple.ViewOf[int32](r, "i")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, n := range v.All() {
		want = append(want, fmt.Sprint(n))
	}
	clusters, err := r.Clusters()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range clusters {
		list, err := collect(file, Options{Page: &Page{Cluster: i}})
		if err != nil || len(list) != 1 {
			t.Fatalf("%d pages, %v", len(list), err)
		}
		got = append(got, list[0].Elements...)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") || len(want) == 0 {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, p := range []Page{{Column: 100}, {Cluster: len(clusters)}, {Page: 5}, {Column: -1}} {
		if _, err := collect(file, Options{Page: &p}); err == nil {
			t.Errorf("%+v was found", p)
		}
	}
}

// TestNames looks for some lines that the specification tells.
func TestNames(t *testing.T) {
	list, err := collect(open(t, "../../../testdata/good/special_zero.root"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, r := range list {
		if err := r.Print(&text); err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(r)
		var again Record
		if err == nil {
			err = json.Unmarshal(b, &again)
		}
		if err != nil || len(again.Lines) != len(r.Lines) || !bytes.Equal(again.Lines[0].Bytes, r.Lines[0].Bytes) {
			t.Errorf("%s as JSON: %v", r.Title, err)
		}
	}
	for _, line := range []string{
		"  00000564 +0004  00 02                    class version = 2\n",
		"  00000586 +0026  00 00 00 00 00 00 04 d4  seek footer = 0x4d4\n",
		"         . +0000  01 00 7e 02 00 00 00 00  head = 41811969  (header envelope of 638 bytes)\n",
		"         . +002d  67 fe ff ff ff ff ff ff  fields.size = -409  (list frame of 409 bytes)\n",
		"         . +0082  01 00                    fields[1].field.structural role = 1  (collection)\n",
		"         . +00f7  0b 00 00 00              fields[3].field.type name = 11  (length of the string)\n" +
			"         . +00fb  73 74 64 3a 3a 73 74 72  fields[3].field.type name = \"std::string\"\n" +
			"         . +0103  69 6e 67\n",
	} {
		if !strings.Contains(text.String(), line) {
			t.Errorf("there is no line\n%s", line)
		}
	}
}

// TestDamage flips every bit of a small file: what is shown still covers the
// records, with an error where there is one, and without a panic.
func TestDamage(t *testing.T) {
	file := open(t, "../../../testdata/good/special_zero.root")
	said := 0
	for i := range file {
		file[i] ^= 1 << (i % 8)
		at := int64(i)
		list, err := collect(file, []Options{{}, {Container: true}, {At: &at}}[i%3])
		if err != nil {
			said++
		}
		for _, r := range list {
			if r.Error != "" {
				said++
			}
			if len(r.Lines) > 0 {
				tiles(t, file, r)
			}
		}
		file[i] ^= 1 << (i % 8)
	}
	if said < len(file)/4 {
		t.Errorf("%d errors for %d damaged files", said, len(file))
	}
	// The place is told.
	a := bytes.Index(file, []byte("\x40\x00\x00\x42\x00\x02")) // the byte count of the anchor
	file[a+3]++
	list, err := collect(file, Options{Anchor: true})
	if err == nil || len(list) != 2 || !strings.Contains(list[1].Error, "byte count at offset 0x0") {
		t.Errorf("%v, %+v", err, list)
	}
}
