package interop

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/value"
)

// TestObjects has ROOT write and read the objects of package rntgroot's tests
// again, and expects the same bytes and values.
func TestObjects(t *testing.T) {
	needed(t)
	dir := t.TempDir()
	const good, special = "../../testdata/good", "special_streamer.root"
	b, err := os.ReadFile(filepath.Join(good, special))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, special), b, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	script(t, "objects.sh", dir)
	for _, name := range []string{"objects.jsonl.gz", "objects_special.jsonl.gz"} {
		got, err1 := os.ReadFile(filepath.Join(dir, name))
		want, err2 := os.ReadFile(filepath.Join(good, name))
		if err1 != nil || err2 != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: ROOT reads other values than before (%v, %v)", name, err1, err2)
		}
	}
	if got, want := records(t, filepath.Join(dir, "objects.root")),
		records(t, filepath.Join(good, "objects.root")); !reflect.DeepEqual(got, want) {
		t.Error("ROOT writes other bytes than before")
	}
}

// records returns the dynamic values of all entries of an RNTuple.
func records(t *testing.T, path string) (all []value.Record) {
	t.Helper()
	r, err := rntuple.Open(path, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, err := rntuple.RecordsOf(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range v.All() {
		all = append(all, record)
	}
	if v.Err() != nil {
		t.Fatal(v.Err())
	}
	return all
}
