package remotetest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/value"
)

// Good returns the folder testdata/good of the repository that the working directory is in.
func Good(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		good := filepath.Join(dir, "testdata", "good")
		if info, err := os.Stat(good); err == nil && info.IsDir() {
			return good
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	t.Fatal("found no folder testdata/good above the working directory")
	return ""
}

// GoodFiles returns the paths of the files in testdata/good.
func GoodFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(Good(t), "*.root"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	return files
}

// Values returns the entries of an RNTuple as JSON, one a line, up to the first error.
func Values(path, name string, opts *rntuple.ReadOptions) (string, error) {
	r, err := rntuple.Open(path, name, opts)
	if err != nil {
		return "", err
	}
	defer r.Close()
	view, err := rntuple.RecordsOf(r)
	if err != nil {
		return "", err
	}
	var all []byte
	for _, record := range view.All() {
		all = append(value.AppendJSON(all, record), '\n')
	}
	return string(all), view.Err()
}

// CheckValues reads all RNTuples in the files of testdata/good by URL, and makes sure that their
// names and values are those that are read locally. The URL of a file is base with its name
// appended, behind a slash.
func CheckValues(t *testing.T, base string, opts *rntuple.ReadOptions) {
	t.Helper()
	var far *remote.Options
	if opts != nil {
		far = &opts.Remote
	}
	compared := 0
	for _, path := range GoodFiles(t) {
		url := strings.TrimSuffix(base, "/") + "/" + filepath.Base(path)
		want, err := rntuple.ListFile(context.Background(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := rntuple.ListFile(context.Background(), url, far)
		if err != nil || len(got) != len(want) {
			t.Errorf("%s lists %v, %v, want %v", url, got, err, want)
			continue
		}
		for i, info := range want {
			if got[i] != info {
				t.Errorf("%s lists %v, want %v", url, got[i], info)
			}
			values, err := Values(path, info.Path, nil)
			if err != nil {
				t.Fatal(path, err)
			}
			received, err := Values(url, info.Path, opts)
			if err != nil || received != values {
				t.Errorf("%s of %s: %v; %d bytes of JSON, want %d", info.Path, url, err, len(received), len(values))
			}
			compared += len(values)
		}
	}
	if compared < 1<<20 {
		t.Errorf("only %d bytes of values were compared", compared)
	}
}
