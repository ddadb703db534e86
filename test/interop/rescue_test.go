package interop

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/rescue"
)

// TestRescue has ROOT read what was saved from damaged files, and compares it with
// what ROOT reads from the undamaged files.
func TestRescue(t *testing.T) {
	needed(t)
	dir := t.TempDir()
	number := 0
	// save damages a file, and returns both as rootViews takes them.
	save := func(file string, damage func([]byte) []byte, opts *rescue.Options) (before, after string,
		report rescue.NTuple) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		number++
		bad, out := filepath.Join(dir, "bad.root"), filepath.Join(dir, fmt.Sprint("saved", number, ".root"))
		if err := os.WriteFile(bad, damage(b), 0o644); err != nil {
			t.Fatal(err)
		}
		all, err := rescue.File(t.Context(), out, bad, opts)
		if err != nil || len(all.NTuples) != 1 || all.NTuples[0].Saved == 0 {
			t.Fatalf("%s: %v, %+v", file, err, all)
		}
		path := ":" + all.NTuples[0].Path
		return file + path, out + path, all.NTuples[0]
	}
	file := ours(t, dir)
	all, allAfter, whole := save(file, noHead, nil)
	_, firstAfter, first := save(file, noEnd, nil)
	_, someAfter, some := save(file, noCluster, &rescue.Options{KeepGoing: true})
	views := rootViews(t, all, allAfter, firstAfter, someAfter)
	for i, report := range []rescue.NTuple{whole, first, some} {
		var want []map[string]any
		for _, k := range report.Kept {
			want = append(want, views[0].Entries[k.First:k.End]...)
		}
		got := views[1+i].Entries
		if saved := []int{30, 20, 25}[i]; len(want) != saved || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: ROOT reads %d entries\n%v\nwant %d\n%v", report, len(got), got, saved, want)
		}
	}
	args := []string{"--columns"}
	for _, name := range []string{"special_late", "special_multirep_late", "special_samepage",
		"special_nochecksum", "types_zlib_groups"} {
		before, after, _ := save("../../testdata/good/"+name+".root", noHead, nil)
		args = append(args, before, after)
	}
	views = rootViews(t, args...)
	for i := 0; i < len(views); i += 2 {
		if want, got := views[i].Columns, views[i+1].Columns; !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("%s: ROOT sees the columns %v, want %v", args[1+i], got, want)
		}
	}
	before, after, _ := save("../../testdata/good/special_attributes.root", noHead, nil)
	if views := rootViews(t, "--attributes", before, after); len(views[0].Attributes) == 0 ||
		!reflect.DeepEqual(views[0].Attributes, views[1].Attributes) {
		t.Errorf("ROOT reads the attributes %v, want %v", views[1].Attributes, views[0].Attributes)
	}
}

// noHead destroys the header of the file.
func noHead(b []byte) []byte {
	clear(b[:100])
	return b
}

// noEnd truncates a file within its last page list.
func noEnd(b []byte) []byte {
	lists := pageLists(b)
	return b[:lists[len(lists)-1]+30]
}

// noCluster damages the last page of the first cluster group.
func noCluster(b []byte) []byte {
	b[pageLists(b)[0]-60]++
	return b
}

// pageLists returns where uncompressed page lists begin.
func pageLists(b []byte) (at []int) {
	key := []byte("\x05RBlob\x00\x00\x03\x00") // the end of the key, and the type of the envelope
	for i := 0; ; {
		j := bytes.Index(b[i:], key)
		if j < 0 {
			return at
		}
		i += j + len(key)
		if n := binary.LittleEndian.Uint64(b[i-2:]) >> 16; n < uint64(len(b)) {
			at = append(at, i-2)
		}
	}
}

// ours writes a file of three cluster groups of 10 entries, in clusters of 5.
func ours(t *testing.T, dir string) string {
	t.Helper()
	type event struct {
		N    int32
		List []float64
		Name string
	}
	path := filepath.Join(dir, "ours.root")
	w, err := rntuple.Create[event](path, "n", &rntuple.WriteOptions{Compression: compress.None, NoSharing: true})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 30 {
		e := event{N: int32(n), List: make([]float64, n%3), Name: string(rune('a' + n))}
		if err := w.Write(&e); err != nil {
			t.Fatal(err)
		}
		if n%5 == 4 {
			w.CommitCluster()
		}
		if n%10 == 9 {
			w.CommitClusterGroup()
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}
