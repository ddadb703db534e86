package arrowtest

import (
	"path/filepath"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// Filled returns an RNTuple of the fields of a document, with the given numbers of entries in all and in a
// cluster. valueOf returns a value of a field.
func Filled(t *testing.T, valueOf func(*schema.Field) any, doc *schema.Document,
	entries, cluster int) *rntuple.Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "random.root")
	w, err := rntuple.CreateRecords(path, "random", doc, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		var r value.Record
		for _, f := range w.Schema().Fields {
			r.Names, r.Values = append(r.Names, f.Name), append(r.Values, valueOf(f))
		}
		w.Write(&r)
		if i%cluster == cluster-1 {
			w.CommitCluster()
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.Open(path, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// Seeds returns how many seeds tests try, of n: a third in short mode.
func Seeds(n uint64) uint64 {
	if testing.Short() {
		n /= 3
	}
	return n
}
