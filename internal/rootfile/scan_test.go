package rootfile

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func scanned(t testing.TB, file []byte) (records []Record) {
	t.Helper()
	err := Scan(t.Context(), bytes.NewReader(file), int64(len(file)), func(r Record) error {
		records = append(records, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// TestScan scans files that ROOT has written: all keys that directories list are
// found, and records do not overlap. If a key is destroyed, all others are still
// found.
func TestScan(t *testing.T) {
	files, err := filepath.Glob("../../testdata/good/*.root")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Open(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		sound := scanned(t, file)
		found, end := map[int64]bool{}, int64(0)
		for _, r := range sound {
			// In one file, ROOT leaves some bytes of a gap after a record.
			if r.SeekKey < end || !r.Whole && !strings.Contains(path, "special_dirs") {
				t.Errorf("%s: %s at %#x, whole %v; the one before ends at %#x", path, r.Class, r.SeekKey, r.Whole, end)
			}
			found[r.SeekKey], end = true, r.SeekKey+int64(r.NBytes)
		}
		if end != f.Header.End {
			t.Errorf("%s: the last record ends at %#x, want %#x", path, end, f.Header.End)
		}
		f.Walk(func(_ string, k Key) error {
			if !found[k.SeekKey] {
				t.Errorf("%s: %s %q at %#x was not found", path, k.Class, k.Name, k.SeekKey)
			}
			return nil
		})
		for _, i := range []int{0, len(sound) / 2, len(sound) - 1} {
			bad := bytes.Clone(file)
			clear(bad[sound[i].SeekKey:][:sound[i].KeyLen])
			if got := scanned(t, bad); len(got) != len(sound)-1 {
				t.Errorf("%s: without key %d there are %d records, want %d", path, i, len(got), len(sound)-1)
			}
			bad = bytes.Clone(file)
			bad[sound[i].SeekKey+2] ^= 0x10 // its length
			if got := scanned(t, bad); len(got) != len(sound) || got[i].Whole {
				t.Errorf("%s: with a wrong length of key %d there are %d records, want %d", path, i, len(got), len(sound))
			}
		}
	}
}

// TestRecordPayload has a payload of 30 bytes behind a key of 64 bytes.
func TestRecordPayload(t *testing.T) {
	r := Record{Key: Key{SeekKey: 100, KeyLen: 64, NBytes: 94}}
	if offset, n := r.Payload(); offset != 164 || n != 30 {
		t.Errorf("%d bytes at %d, want 30 at 164", n, offset)
	}
}

// TestScanHostile scans keys and gaps that lead nowhere, close together.
func TestScanHostile(t *testing.T) {
	file := make([]byte, 300_000)
	for at := begin; at+100 < len(file); at += 40 {
		k := Key{Version: KeyVersion, NBytes: int32(len(file)), SeekKey: int64(at), Class: "x"}
		k.KeyLen = uint16(k.Size())
		b, err := encoded(&k)
		if err != nil {
			t.Fatal(err)
		}
		copy(file[at:], b)
	}
	reads := counting{bytes.NewReader(file), 0}
	n := 0
	err := Scan(t.Context(), &reads, int64(len(file)), func(Record) error { n++; return nil })
	if err != nil || n < 7000 || reads.n > int64(200*len(file)) {
		t.Errorf("%d records, %d bytes read of %d, %v", n, reads.n, len(file), err)
	}
	stop := errors.New("stop")
	if err := Scan(t.Context(), &reads, int64(len(file)), func(Record) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Scan(done, &reads, int64(len(file)), func(Record) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// counting counts the bytes that are read.
type counting struct {
	r *bytes.Reader
	n int64
}

func (c *counting) ReadAt(b []byte, at int64) (int, error) {
	c.n += int64(len(b))
	return c.r.ReadAt(b, at)
}

func FuzzScan(f *testing.F) {
	for _, name := range []string{"special_zero", "special_dirs", "special_samepage"} {
		b, err := os.ReadFile("../../testdata/good/" + name + ".root")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		last := int64(-1)
		for _, r := range scanned(t, b) {
			if r.SeekKey <= last || r.SeekKey >= int64(len(b)) {
				t.Errorf("a record at %#x behind one at %#x, in %d bytes", r.SeekKey, last, len(b))
			}
			last = r.SeekKey
		}
	})
}
