package rntuple_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/test/golden"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestShared reads all values of the public files that lie beside the
// repository and compares a digest of them with that of what uproot and ROOT
// read (testdata/gen/shared_reference.py; both agree on all of it). The interop
// tests compare the values themselves.
func TestShared(t *testing.T) {
	const dir = "../../shared/testdata/root"
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the public files are not there: %v", err)
	}
	want, err := golden.Manifest("../testdata/shared.json")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.root"))
	if err != nil || len(files) != len(want) {
		t.Errorf("%d files (%v), values known of %d", len(files), err, len(want))
	}
	for _, w := range want {
		t.Run(w.File, func(t *testing.T) {
			if w.Entries > 1e6 && os.Getenv("RNTUPLE_INTEROP") == "" {
				t.Skipf("%d entries take long as text; TestShared100Million reads them as numbers", w.Entries)
			}
			t.Parallel()
			r, err := rntuple.Open(filepath.Join(dir, w.File), w.Ntuple, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if r.NumEntries() != w.Entries {
				t.Errorf("%d entries, want %d", r.NumEntries(), w.Entries)
			}
			for _, h := range r.Schema().Hidden {
				t.Errorf("field %q is hidden: %v", h.Field.Name, h.Err)
			}
			hash := sha256.New()
			err = golden.Entries(r, func(_ int64, line []byte) error {
				hash.Write(append(line, '\n'))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := hex.EncodeToString(hash.Sum(nil)); got != w.SHA256 {
				t.Errorf("the values have the digest %s, want %s: RNTUPLE_INTEROP=1 go test ./test/interop/... shows the difference", got, w.SHA256)
			}
		})
	}
}

// TestShared100Million reads the largest of the public files: by uproot, the
// first half of its entries are 2, the others 1.
func TestShared100Million(t *testing.T) {
	if testing.Short() {
		t.Skip("100 million entries take seconds")
	}
	r, err := rntuple.Open("../../shared/testdata/root/test_int_multicluster_rntuple_v1-0-0-0.root", "", nil)
	if os.IsNotExist(err) {
		t.Skipf("the public files are not there: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, err := rntuple.ViewOf[int32](r, "one_integers")
	if err != nil {
		t.Fatal(err)
	}
	const half = 50_000_000
	n := int64(0)
	for i, x := range v.All() {
		if want := int32(2 - i/half); x != want || i != n {
			t.Fatalf("entry %d is %d, want %d", i, x, want)
		}
		n++
	}
	if v.Err() != nil || n != 2*half {
		t.Errorf("%d entries, %v", n, v.Err())
	}
}
