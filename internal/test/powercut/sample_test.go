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
	"sync"
	"testing"
)

// A sample collects images for other programs to read. With RNTUPLE_IMAGES=DIR,
// TestPowerCuts writes a hundred to the folder DIR, as many of each scenario as there are, and
// the file manifest.jsonl with a line for each, such as
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
	s.images[scenario] = all[:min(len(all), sampleSize)]
}

// write writes the images and their manifest.
func (s *sample) write(t *testing.T) {
	t.Helper()
	if s.dir == "" {
		return
	}
	var lines []byte
	n := 0
	for round := 0; round < sampleSize; round++ {
		for _, scenario := range slices.Sorted(maps.Keys(s.images)) {
			if all := s.images[scenario]; round < len(all) && n < sampleSize {
				line, err := json.Marshal(s.writeOne(t, fmt.Sprintf("%02d.root", n), scenario, all[round]))
				if err != nil {
					t.Fatal(err)
				}
				lines = append(append(lines, line...), '\n')
				n++
			}
		}
	}
	if err := os.WriteFile(filepath.Join(s.dir, "manifest.jsonl"), lines, 0o666); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d images in %s", n, s.dir)
}

// writeOne writes an image, and returns its line of the manifest.
func (s *sample) writeOne(t *testing.T, name, scenario string, k kept) sampledFile {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), k.data, 0o666); err != nil {
		t.Fatal(err)
	}
	f := sampledFile{File: name, Scenario: scenario, Keys: []string{}, NTuples: []sampledTuple{}}
	for _, path := range slices.Sorted(maps.Keys(k.found)) {
		if c, ok := k.found[path].(content); ok {
			entries, sum := c.sum()
			f.NTuples = append(f.NTuples, sampledTuple{path, entries, sum})
		} else {
			f.Keys = append(f.Keys, path)
		}
	}
	return f
}
