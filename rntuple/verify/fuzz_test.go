package verify_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/verify"
)

// FuzzMetadata changes what the checksums of envelopes cover. The fuzzer chooses
// where to put which bytes, six of its own to a change: what cannot be read has
// a problem.
func FuzzMetadata(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 0, 8, 0xff, 0xff, 0xff})
	f.Add([]byte{2, 0, 8, 0xff, 0xff, 0x7f, 3, 0, 100, 1, 2, 3})
	for at := byte(0); at < 250; at += 7 {
		f.Add([]byte{0, 0, at, 1, 0, 0})
		f.Add([]byte{1, 0, at, 1, 0, 0})
		f.Add([]byte{2, 0, at, 1, 0, 0})
		f.Add([]byte{2, 1, at, 1, 0, 0})
	}
	f.Fuzz(func(t *testing.T, changes []byte) {
		d := newDraft()
		d.sets = append(d.sets, newSet("s", [2]uint64{0, 3}))
		d.raw = func(kind envelope.Type, b []byte) {
			for c := changes; len(c) >= 6; c = c[6:] {
				if envelope.Type(c[0]%3+1) == kind {
					copy(b[int(binary.BigEndian.Uint16(c[1:]))%len(b):], c[3:6])
				}
			}
		}
		file := d.file(t)
		lines, _ := check(t, file, &verify.Options{Workers: 1})
		if len(lines) > 0 {
			return
		}
		if err := readAll(file); err != nil {
			t.Errorf("no problem, but reading fails: %v", err)
		}
	})
}

// FuzzFile checks whatever the fuzzer comes up with.
func FuzzFile(f *testing.F) {
	names, _ := filepath.Glob("../../testdata/good/special_*.root")
	old, _ := filepath.Glob("../../../shared/testdata/legacy/*.root")
	f.Add(newDraft().file(f))
	for _, name := range append(names, old...) {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if len(b) < 20<<10 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		lines, _ := check(t, file, &verify.Options{Workers: 1})
		if err := readAll(file); err != nil && len(lines) == 0 && !errors.Is(err, rntuple.ErrUnsupported) {
			t.Errorf("no problem, but reading fails: %v", err)
		}
	})
}
