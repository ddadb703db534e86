package verify_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/verify"
)

// unheeded says in which parts of a file a byte may change without a problem, and
// why.
var unheeded = map[string]string{
	"header.version":        "of ROOT; nobody reads files by it",
	"header.free segments":  "advisory",
	"header.units":          "the version decides",
	"header.compression":    "default for what is added",
	"header.uuid":           "nobody reads it",
	"header.zeros":          "unused",
	"key.datime":            "information",
	"key.cycle":             "of a record that no directory lists",
	"listed key.directory":  "the directory may have been moved; nobody reads it",
	"blob key.length":       "decorative, see section 3.2 of the format supplement",
	"blob key.directory":    "ROOT has put several things there",
	"set key.directory":     "of a record that no directory lists",
	"compressed":            "bits without effect: the checksum is that of the uncompressed bytes",
	"key.names":             "of the file's own records: nobody reads them",
	"first record.names":    "of the file, which may be renamed",
	"directory.created":     "information",
	"directory.modified":    "information",
	"directory.version":     "one bit makes it version 1, which old files have",
	"directory.parent":      "ROOT before 6.38 has another one there",
	"directory.uuid":        "nobody reads it",
	"directory.padding":     "unused",
	"free list.first":       "where segments begin, as far as they stay free",
	"free list.last":        "where segments end, as far as they stay free",
	"streamer infos.object": "without checksum",
	"gap":                   "unused",
}

// regions returns what each byte of a file is.
func regions(t *testing.T, file []byte) []string {
	all := make([]string, len(file))
	at := 0
	put := func(n int, name string) {
		for range n {
			all[at] = name
			at++
		}
	}
	f, err := rootfile.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	h := f.Header
	for _, m := range []struct {
		n    int
		name string
	}{{4, "magic"}, {4, "version"}, {4, "begin"}, {4, "end"}, {8, "free list"}, {4, "free segments"}, {4, "names"},
		{1, "units"}, {4, "compression"},
		{8, "infos"}, {18, "uuid"}, {37, "zeros"}} {
		put(m.n, "header."+m.name)
	}
	directory := func() {
		put(2, "directory.version")
		put(4, "directory.created")
		put(4, "directory.modified")
		put(12, "directory.place")
		put(4, "directory.parent")
		put(4, "directory.keys")
		put(18, "directory.uuid")
		put(12, "directory.padding")
	}
	listed := map[int64]bool{}
	compressed := map[int64]bool{} // bytes of envelopes and anchors
	err = f.Walk(func(_ string, k rootfile.Key) error {
		listed[k.SeekKey] = true
		if k.Class != anchor.ClassName {
			return nil
		}
		object, err := f.Payload(k)
		if err != nil {
			return err
		}
		a, err := anchor.Parse(object)
		if err != nil {
			return err
		}
		mark := func(l locator.Link) {
			for i := range int64(l.Locator.Size) {
				compressed[int64(l.Locator.Offset)+i] = l.Length > l.Locator.Size
			}
		}
		b := pagesource.Blobs{R: bytes.NewReader(file), Size: int64(len(file)), MaxKeySize: a.MaxKeySize}
		mark(locator.Link{Length: uint64(k.ObjLen),
			Locator: locator.At(uint64(k.SeekKey)+uint64(k.KeyLen), uint64(k.NBytes)-uint64(k.KeyLen))})
		mark(a.Header())
		link := a.Footer()
		mark(link)
		footer, err := b.Envelope(context.Background(), "footer", link)
		if err != nil {
			return err
		}
		parsed, err := envelope.ParseFooter(footer)
		if err != nil {
			return err
		}
		for _, g := range parsed.ClusterGroups {
			mark(g.PageList)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for at < len(file) {
		begin := at
		var k rootfile.Key
		c := frame.NewReader(file[at:], "key", int64(at)).BigEndian()
		k.Wire(c)
		if k.NBytes < 0 {
			put(-int(k.NBytes), "gap")
			continue
		}
		if c.Err() != nil {
			t.Fatal(c.Err())
		}
		prefix, own := "", !listed[k.SeekKey]
		if k.Class == rootfile.BlobClassName {
			prefix = "blob "
		} else if !own {
			prefix = "listed "
		} else if k.Class == anchor.ClassName {
			prefix = "set "
		}
		put(6, prefix+"key.size")
		put(4, prefix+"key.length")
		if own {
			put(4, "key.datime")
		} else {
			put(4, prefix+"key.datime")
		}
		put(2, prefix+"key.key length")
		if own {
			put(2, "key.cycle")
		} else {
			put(2, prefix+"key.cycle")
		}
		wide := 4
		if k.Big() {
			wide = 8
		}
		put(wide, prefix+"key.place")
		put(wide, prefix+"key.directory")
		for _, s := range []string{k.Class, k.Name, k.Title} {
			put(1, prefix+"key.string")
			put(len(s), prefix+"key.names")
		}
		end := begin + int(k.NBytes)
		switch {
		case begin == 100:
			put(1, "first record.string")
			put(len(f.Root.Name), "first record.names")
			put(1, "first record.string")
			put(len(f.Root.Title), "first record.names")
			directory()
		case k.Class == "TDirectory" && !own:
			directory()
		case int64(begin) == h.SeekFree:
			for at < end {
				put(6, "free list.first")
				put(4, "free list.last")
			}
		case int64(begin) == h.SeekInfo:
			put(end-at, "streamer infos.object")
		default:
			put(end-at, prefix+"object "+k.Class)
		}
	}
	for i := range all {
		if compressed[int64(i)] {
			all[i] = "compressed"
		}
	}
	return all
}

// TestSweep flips a bit of every byte of some small files. What is not noticed
// must have a reason, and must not keep the file from being read.
func TestSweep(t *testing.T) {
	files := map[string][]byte{"by hand": func() []byte {
		d := newDraft()
		d.sets = append(d.sets, newSet("s", [2]uint64{0, 3}))
		return d.file(t)
	}()}
	type event struct {
		Run   uint32
		Hits  [][]float32
		Names []string
		Best  *float64
	}
	path := filepath.Join(t.TempDir(), "cycles.root")
	clock := &rntuple.FileOptions{Clock: func() time.Time { return time.Unix(1e9, 0).UTC() }}
	for i := range 3 {
		create := rntuple.CreateFile
		if i > 0 {
			create = rntuple.UpdateFile
		}
		file, err := create(path, clock)
		if err != nil {
			t.Fatal(err)
		}
		w, err := rntuple.NewWriter[event](file, []string{"n", "n", "dir/m"}[i],
			&rntuple.WriteOptions{Compression: compress.Settings(505)})
		if err != nil {
			t.Fatal(err)
		}
		best := 0.5
		for j := range 20 {
			if err := w.Write(&event{Run: uint32(j), Hits: [][]float32{{1, 2}, {}, {3}}, Names: []string{"hello", "world"},
				Best: &best}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files["cycles"] = b
	if b, err = os.ReadFile("../../testdata/good/special_zero.root"); err != nil {
		t.Fatal(err)
	}
	files["by ROOT"] = b
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := files[name]
		if lines, _ := check(t, file, nil); len(lines) > 0 {
			t.Errorf("%s: %s", name, strings.Join(lines, "\n"))
		}
		region := regions(t, file)
		total, unnoticed := map[string]int{}, map[string]int{}
		for i := range file {
			file[i] ^= 1 << (i % 8)
			lines, _ := check(t, file, &verify.Options{Workers: 1})
			agree(t, file, damage(lines))
			total[region[i]]++
			if len(lines) == 0 {
				if unnoticed[region[i]]++; unheeded[region[i]] == "" {
					t.Errorf("%s: a change of byte %#x, of the %s, is not noticed", name, i, region[i])
				}
			}
			file[i] ^= 1 << (i % 8)
		}
		sum := 0
		var text strings.Builder
		for _, r := range slices.Sorted(maps.Keys(unnoticed)) {
			fmt.Fprintf(&text, "\n%5d of %4d: %s (%s)", unnoticed[r], total[r], r, unheeded[r])
			sum += unnoticed[r]
		}
		t.Logf("%s: changes of %d of %d bytes are not noticed:%s", name, sum, len(file), text.String())
	}
}

// TestCut cuts a file at every place.
func TestCut(t *testing.T) {
	file := newDraft().file(t)
	for n := range file {
		if lines, _ := check(t, file[:n], nil); len(lines) == 0 {
			t.Errorf("nothing is wrong with %d of %d bytes", n, len(file))
		}
	}
}
