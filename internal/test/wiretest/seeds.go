package wiretest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
)

// A Seed is the metadata of an RNTuple that ROOT wrote: its envelopes,
// decompressed.
type Seed struct {
	Name           string // of the file, and of the RNTuple
	Header, Footer []byte
	PageLists      [][]byte
}

// Seeds returns the metadata of all RNTuples in the test data of the repository
// and, if there is one, in the folder shared beside it.
func Seeds(t testing.TB) []Seed {
	t.Helper()
	root := repository(t)
	var seeds []Seed
	for _, pattern := range []string{"testdata/*.root", "testdata/good/*.root", "../shared/testdata/root/*.root"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		if len(paths) == 0 {
			t.Logf("no files %s", pattern)
		}
		for _, path := range paths {
			seeds = append(seeds, metadata(t, path)...)
		}
	}
	return seeds
}

// repository returns the folder that holds go.mod.
func repository(t testing.TB) string {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	t.Fatalf("no go.mod above %q: %v", dir, err)
	return ""
}

func metadata(t testing.TB, path string) (seeds []Seed) {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := rootfile.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	err = file.Walk(func(dir string, k rootfile.Key) error {
		if k.Class != anchor.ClassName {
			return nil
		}
		object, err := file.Payload(k)
		if err != nil {
			return err
		}
		a, err := anchor.Parse(object)
		if err != nil {
			return err
		}
		blobs := pagesource.Blobs{R: bytes.NewReader(b), Size: int64(len(b)), MaxKeySize: a.MaxKeySize}
		s := Seed{Name: filepath.Base(path) + ":" + k.Name}
		if s.Header, err = blobs.Envelope(context.Background(), "header", a.Header()); err != nil {
			return err
		}
		if s.Footer, err = blobs.Envelope(context.Background(), "footer", a.Footer()); err != nil {
			return err
		}
		footer, err := envelope.ParseFooter(s.Footer)
		if err != nil {
			return err
		}
		for _, g := range footer.ClusterGroups {
			list, err := blobs.Envelope(context.Background(), "page list", g.PageList)
			if err != nil {
				return err
			}
			s.PageLists = append(s.PageLists, list)
		}
		seeds = append(seeds, s)
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return seeds
}
