package rntarrow_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow"
	"github.com/go-rntuple/go-rntuple/bridge/rntarrow/internal/arrowtest"
	"github.com/go-rntuple/go-rntuple/bridge/rntarrow/rntparquet"
	"github.com/go-rntuple/go-rntuple/internal/test/randtest"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// kinds are the formats that an RNTuple is written as and made of again.
var kinds = []struct {
	name  string
	write func(w io.Writer, r *rntuple.Reader) (int64, error)
	read  func(b []byte) (array.RecordReader, error)
}{
	{"stream", func(w io.Writer, r *rntuple.Reader) (int64, error) {
		records, err := rntarrow.NewReader(r, &rntarrow.Options{Binary: true})
		if err != nil {
			return 0, err
		}
		return rntarrow.WriteStream(w, records, nil)
	}, func(b []byte) (array.RecordReader, error) {
		return rntarrow.NewStreamReader(bytes.NewReader(b), int64(len(b)))
	}},
	{"file", func(w io.Writer, r *rntuple.Reader) (int64, error) {
		records, err := rntarrow.NewReader(r, &rntarrow.Options{Binary: true})
		if err != nil {
			return 0, err
		}
		return rntarrow.WriteFile(w, records, nil)
	}, func(b []byte) (array.RecordReader, error) {
		return rntarrow.NewFileReader(bytes.NewReader(b), int64(len(b)))
	}},
	{"Parquet", func(w io.Writer, r *rntuple.Reader) (int64, error) {
		return rntparquet.Write(w, r, &rntparquet.Options{Options: rntarrow.Options{Binary: true}})
	}, func(b []byte) (array.RecordReader, error) {
		return rntparquet.NewReader(context.Background(), bytes.NewReader(b))
	}},
}

// example returns an RNTuple of random types and values in three clusters.
func example(t *testing.T, seed uint64) *rntuple.Reader {
	t.Helper()
	return random(t, randtest.Maker{Rand: rand.New(rand.NewPCG(seed, 3))}, 4, 2, 90, 30)
}

// random returns an RNTuple of so many fields of random types of a depth, with random values in the
// entries, of which clusters have the given number.
func random(t *testing.T, m randtest.Maker, fields, depth, entries, cluster int) *rntuple.Reader {
	t.Helper()
	doc := &schema.Document{}
	for i := range fields {
		doc.Fields = append(doc.Fields, &schema.FieldDocument{Name: fmt.Sprint("f", i), Type: m.Type(depth)})
	}
	return arrowtest.Filled(t, m.Value, doc, entries, cluster)
}

// TestDamaged cuts off files of every kind and changes bytes in them: an RNTuple is made of all
// rows, or there is an error and no file.
func TestDamaged(t *testing.T) {
	for seed := range arrowtest.Seeds(4) {
		r := example(t, seed)
		for _, k := range kinds {
			var whole bytes.Buffer
			n, err := k.write(&whole, r)
			if err != nil || n != r.NumEntries() {
				t.Fatalf("%s: %d rows: %v", k.name, n, err)
			}
			out := filepath.Join(t.TempDir(), "out.root")
			create := func(b []byte) (int64, error) {
				records, err := k.read(b)
				if err != nil {
					return 0, err
				}
				defer records.Release()
				return rntarrow.Create(out, "again", records, nil, nil)
			}
			if n, err := create(whole.Bytes()); err != nil || n != r.NumEntries() {
				t.Fatalf("%s: %d entries: %v\n%v", k.name, n, err, r.Schema().Document())
			}
			failed := func(what string, err error) {
				t.Helper()
				if err == nil {
					t.Errorf("%s, seed %d: %s: no error", k.name, seed, what)
				} else if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s, seed %d: %s: there is a file after an error", k.name, seed, what)
				}
			}
			os.Remove(out)
			places := rand.New(rand.NewPCG(seed, 4))
			for range 40 {
				at := places.IntN(whole.Len())
				_, err := create(whole.Bytes()[:at])
				failed(fmt.Sprintf("cut off at %d of %d", at, whole.Len()), err)
			}
			for range 120 {
				b := bytes.Clone(whole.Bytes())
				at := places.IntN(len(b))
				b[at] ^= byte(1 + places.IntN(255))
				if n, err := create(b); err != nil {
					failed(fmt.Sprintf("byte %d changed", at), err)
				} else if n != r.NumEntries() {
					t.Errorf("%s, seed %d: byte %d changed: %d entries, want %d", k.name, seed, at, n, r.NumEntries())
				}
				os.Remove(out)
			}
		}
	}
}

// failing yields one record batch and an error.
func failing(t *testing.T) array.RecordReader {
	r := example(t, 1)
	all, err := rntarrow.NewReader(r, &rntarrow.Options{Binary: true})
	if err != nil {
		t.Fatal(err)
	}
	return array.ReaderFromIter(all.Schema(), func(yield func(arrow.RecordBatch, error) bool) {
		defer all.Release()
		all.Next()
		if yield(all.RecordBatch(), nil) {
			yield(nil, errors.New("the disk is gone"))
		}
	})
}

// TestStreamFails writes a stream whose source fails: its reader gets an error, too.
func TestStreamFails(t *testing.T) {
	var b bytes.Buffer
	n, err := rntarrow.WriteStream(&b, failing(t), nil)
	if n == 0 || err == nil {
		t.Fatalf("%d rows, error %v", n, err)
	}
	in, err := rntarrow.NewStreamReader(&b, int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Release()
	rows := int64(0)
	for in.Next() {
		rows += in.RecordBatch().NumRows()
	}
	if rows != n || in.Err() == nil {
		t.Errorf("%d rows of %d, error %v", rows, n, in.Err())
	}
}

// TestDeepSchema reads fields that are nested too deep for those who walk them recursively.
func TestDeepSchema(t *testing.T) {
	for depth, fine := range map[int]bool{100: true, 600: false} {
		typ := arrow.DataType(arrow.PrimitiveTypes.Int32)
		for range depth {
			typ = arrow.ListOf(typ)
		}
		var b bytes.Buffer
		if err := ipc.NewWriter(&b, ipc.WithSchema(arrow.NewSchema([]arrow.Field{{Name: "a", Type: typ}},
			nil))).Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := rntarrow.NewStreamReader(&b, int64(b.Len())); (err == nil) != fine {
			t.Errorf("%d lists: %v", depth, err)
		}
	}
}
