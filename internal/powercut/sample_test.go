package powercut

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A sample collects images for other programs to read. With RNTUPLE_IMAGES=DIR,
// TestPowerCuts writes about a hundred to the folder DIR, as many of each scenario, and the
// file manifest.jsonl with a line for each, such as
//
//	{"file":"03.root","scenario":"append","keys":["h;1"],"ntuples":[{"path":"sub/b;2","entries":40,"sum":1245}]}
//
// The RNTuples are all that the file has, with their cycles; sum is that of the field ID, an
// std::int64_t, and -1 for RNTuples that ROOT has written. The keys are those of all other
// objects.
type sample struct {
	dir    string
	mu     sync.Mutex
	images map[string][]kept // by scenario
}

type kept struct {
	hash  uint64
	data  []byte
	found state
}

type sampledFile struct {
	File     string         `json:"file"`
	Scenario string         `json:"scenario"`
	Keys     []string       `json:"keys"`
	NTuples  []sampledTuple `json:"ntuples"`
}

type sampledTuple struct {
	Path    string `json:"path"`
	Entries int64  `json:"entries"`
	Sum     int64  `json:"sum"`
}

// sampleSize is the number of images.
const sampleSize = 100

func newSample(t *testing.T) *sample {
	return &sample{dir: os.Getenv("RNTUPLE_IMAGES"), images: map[string][]kept{}}
}

// add takes an image, or one that was taken before, by chance: by its hash.
func (s *sample) add(scenario string, data []byte, found state) {
	if s.dir == "" {
		return
	}
	h := fnv.New64a()
	h.Write(data)
	s.mu.Lock()
	defer s.mu.Unlock()
	all := append(s.images[scenario], kept{h.Sum64(), data, found})
	slices.SortFunc(all, func(a, b kept) int { return cmp.Compare(a.hash, b.hash) })
	all = slices.CompactFunc(all, func(a, b kept) bool { return a.hash == b.hash })
	s.images[scenario] = all[:min(len(all), (sampleSize+len(scenarios)-1)/len(scenarios))]
}

// write writes the images and their manifest.
func (s *sample) write(t *testing.T) {
	t.Helper()
	if s.dir == "" {
		return
	}
	var lines []byte
	n := 0
	for _, scenario := range slices.Sorted(maps.Keys(s.images)) {
		for _, k := range s.images[scenario] {
			f := sampledFile{File: fmt.Sprintf("%02d.root", n), Scenario: scenario, Keys: []string{}, NTuples: []sampledTuple{}}
			n++
			for _, path := range slices.Sorted(maps.Keys(k.found)) {
				if c, ok := k.found[path].(content); ok {
					entries, sum := c.sum()
					f.NTuples = append(f.NTuples, sampledTuple{path, entries, sum})
				} else {
					f.Keys = append(f.Keys, path)
				}
			}
			line, err := json.Marshal(f)
			if err == nil {
				err = os.WriteFile(filepath.Join(s.dir, f.File), k.data, 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
			lines = append(append(lines, line...), '\n')
		}
	}
	if err := os.WriteFile(filepath.Join(s.dir, "manifest.jsonl"), lines, 0o666); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d images in %s", strings.Count(string(lines), "\n"), s.dir)
}
