package golden

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// An Expected is an RNTuple whose values are known.
type Expected struct {
	File    string // name of the ROOT file, beside the manifest
	Ntuple  string // path of the RNTuple in it
	JSONL   string // name of the file with the values, for Compare; empty if they are not known
	Entries int64
	SHA256  string // digest of the uncompressed values, if known
	AttrSet string // the entries and values are those of this attribute set of the RNTuple
}

// Manifest reads a list of RNTuples with known values.
func Manifest(path string) ([]Expected, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []Expected
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s lists nothing", path)
	}
	return all, nil
}

// Test compares the RNTuples of a manifest with their known values, each in a
// subtest. The files are in dir, the values in the folder of the manifest.
func Test(t *testing.T, manifest, dir string) {
	all, err := Manifest(manifest)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		t.Run(e.File+":"+e.Ntuple, func(t *testing.T) {
			t.Parallel()
			r, err := rntuple.Open(filepath.Join(dir, e.File), e.Ntuple, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if e.AttrSet != "" {
				if !slices.ContainsFunc(r.AttributeSets(), func(s rntuple.AttributeSet) bool { return s.Name == e.AttrSet }) {
					t.Errorf("attribute sets %v, %q is missing", r.AttributeSets(), e.AttrSet)
				}
				return
			}
			if r.NumEntries() != e.Entries {
				t.Errorf("%d entries, want %d", r.NumEntries(), e.Entries)
			}
			if e.JSONL == "" {
				return
			}
			if err := Compare(r, filepath.Join(filepath.Dir(manifest), e.JSONL)); err != nil {
				t.Error(err)
			}
		})
	}
}
