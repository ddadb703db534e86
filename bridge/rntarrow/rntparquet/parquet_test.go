package rntparquet_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow"
	"github.com/go-rntuple/go-rntuple/bridge/rntarrow/internal/arrowtest"
	"github.com/go-rntuple/go-rntuple/bridge/rntarrow/internal/guard"
	"github.com/go-rntuple/go-rntuple/bridge/rntarrow/rntparquet"
	"github.com/go-rntuple/go-rntuple/internal/test/randtest"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// TestParquetThereAndBack makes Parquet files of random RNTuples, and RNTuples of these: both have
// the same Arrow.
func TestParquetThereAndBack(t *testing.T) {
	for seed := range arrowtest.Seeds(60) {
		m := randtest.Maker{Rand: rand.New(rand.NewPCG(seed, 3))}
		doc := &schema.Document{}
		for i := range 3 {
			typ := m.Type(3)
			for strings.Contains(typ, "std::array<std::byte") { // which Parquet alone has a type for
				typ = m.Type(3)
			}
			doc.Fields = append(doc.Fields, &schema.FieldDocument{Name: fmt.Sprint("f", i), Type: typ})
		}
		r := arrowtest.Filled(t, m.Value, doc, 40, 15)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			var file bytes.Buffer
			o := rntparquet.Options{Options: rntarrow.Options{Binary: true, BatchSize: 4}}
			n, err := rntparquet.Write(&file, r, &o)
			if err != nil && strings.Contains(err.Error(), "must have at least one") {
				t.Skip(err)
			}
			if err != nil || n != 40 {
				t.Fatalf("%d entries, %v", n, err)
			}
			o.Structs = true
			want := rows(t, func() (arrowReader, error) { return rntarrow.NewReader(r, &o.Options) })
			got := rows(t, func() (arrowReader, error) {
				return rntparquet.NewReader(t.Context(), bytes.NewReader(file.Bytes()))
			})
			groups, err := rntparquet.RowGroups(bytes.NewReader(file.Bytes()), func(string) bool { return true })
			if err != nil || len(groups) != 3 || groups[0].Rows != 15 || groups[2].Rows != 10 || groups[1].Bytes <= 0 {
				t.Errorf("row groups %v, %v", groups, err)
			}
			var parts string
			for i := range groups {
				part := rows(t, func() (arrowReader, error) {
					return rntparquet.NewRowGroupReader(t.Context(), bytes.NewReader(file.Bytes()), i, i+1)
				})
				parts += part[strings.Index(part, "{"):]
			}
			if parts != got[strings.Index(got, "{"):] {
				t.Errorf("row groups have %.3000s\nwant\n%.3000s", parts, got)
			}
			if strings.Contains(want, "fixed_size_list") { // of which some become lists
				got, want = got[strings.Index(got, "{"):], want[strings.Index(want, "{"):]
			}
			if got != strings.ReplaceAll(want, "<item: ", "<element: ") {
				t.Errorf("%.3000s\nwant\n%.3000s", got, want)
			}
		})
	}
}

type arrowReader interface {
	Next() bool
	RecordBatch() arrow.RecordBatch
	Err() error
	Schema() *arrow.Schema
}

// rows returns the types and the rows of record batches.
func rows(t *testing.T, open func() (arrowReader, error)) string {
	t.Helper()
	r, err := open()
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range r.Schema().Fields() {
		fmt.Fprintln(&all, f.Name, f.Type, f.Nullable)
	}
	for r.Next() {
		b, err := r.RecordBatch().MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(strings.ReplaceAll(strings.Trim(string(b), "[]\n"), "\n,", "\n"))
		all.WriteString("\n")
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return all.String()
}

// TestParquetItems checks the names of the items of lists, in the schema and in the paths of the
// columns, and that row groups are those of clusters, at offsets from which they can be read.
func TestParquetItems(t *testing.T) {
	type event struct {
		Pt   []float32
		Deep [][]struct{ X []int32 }
		List []string `rntuple:"list"`
	}
	path := filepath.Join(t.TempDir(), "lists.root")
	w, err := rntuple.Create[event](path, "lists", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		w.Write(&event{Pt: make([]float32, i), Deep: [][]struct{ X []int32 }{{{[]int32{int32(i)}}}, nil},
			List: []string{fmt.Sprint(i)}})
		if i%10 == 9 {
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
	defer r.Close()
	want := rows(t, func() (arrowReader, error) { return rntarrow.NewReader(r, nil) })
	for item, paths := range map[string][]string{
		"":     {"Pt.list.element", "Deep.list.element.list.element.X.list.element", "list.list.element"},
		"item": {"Pt.list.item", "Deep.list.item.list.item.X.list.item", "list.list.item"},
	} {
		var b bytes.Buffer
		if n, err := rntparquet.Write(&b, r, &rntparquet.Options{Item: item}); err != nil || n != 30 {
			t.Fatalf("%d rows, %v", n, err)
		}
		f, err := file.NewParquetReader(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if f.NumRowGroups() != 3 || f.NumRows() != 30 {
			t.Errorf("%d row groups, %d rows", f.NumRowGroups(), f.NumRows())
		}
		for g := range f.NumRowGroups() {
			for i, path := range paths {
				chunk, err := f.MetaData().RowGroup(g).ColumnChunk(i)
				if err != nil {
					t.Fatal(err)
				}
				if got := chunk.PathInSchema().String(); got != path || f.MetaData().Schema.Column(i).Path() != path {
					t.Errorf("column %d is %s in row group %d and %s in the schema, want %s", i, got, g,
						f.MetaData().Schema.Column(i).Path(), path)
				}
			}
		}
		got := rows(t, func() (arrowReader, error) {
			return rntparquet.NewReader(t.Context(), bytes.NewReader(b.Bytes()))
		})
		if got := strings.NewReplacer("<element: ", "<item: ").Replace(got); got != want {
			t.Errorf("item %q:\n%s\nwant\n%s", item, got, want)
		}
	}
}

// TestParquetEncodings checks that the bytes of floating-point numbers are split, and that other
// columns have dictionaries.
func TestParquetEncodings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "from.root")
	type entry struct {
		F float32
		L []float64
		N int32
		S string
	}
	w, err := rntuple.Create[entry](path, "Events", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(&entry{1, []float64{2, 3}, 4, "five"}), w.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.Open(path, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b bytes.Buffer
	if _, err := rntparquet.Write(&b, r, nil); err != nil {
		t.Fatal(err)
	}
	f, err := file.NewParquetReader(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for i := range f.MetaData().Schema.NumColumns() {
		c, err := f.MetaData().RowGroup(0).ColumnChunk(i)
		if err != nil {
			t.Fatal(err)
		}
		split := slices.Contains(c.Encodings(), parquet.Encodings.ByteStreamSplit)
		got += fmt.Sprintln(c.PathInSchema(), split, c.HasDictionaryPage())
	}
	if want := "F true false\nL.list.element true false\nN false true\nS false true\n"; got != want {
		t.Errorf("%swant\n%s", got, want)
	}
}

// TestParquetStatistics checks the bounds of strings, which readers use to pass over row groups,
// where record batches share memory.
func TestParquetStatistics(t *testing.T) {
	type event struct {
		Word string
		N    int32
	}
	path := filepath.Join(t.TempDir(), "words.root")
	w, err := rntuple.Create[event](path, "words", nil)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 6))
	want := make([][2]event, 4) // least and greatest of each row group
	for group := range want {
		for i := range 50 {
			e := event{fmt.Sprintf("%c%d", 'a'+random.IntN(26), i), random.Int32()}
			w.Write(&e)
			least, greatest := &want[group][0], &want[group][1]
			if i == 0 {
				*least, *greatest = e, e
			}
			*least = event{min(least.Word, e.Word), min(least.N, e.N)}
			*greatest = event{max(greatest.Word, e.Word), max(greatest.N, e.N)}
		}
		w.CommitCluster()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.Open(path, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b bytes.Buffer
	if _, err := rntparquet.Write(&b, r,
		&rntparquet.Options{Options: rntarrow.Options{BatchSize: 7}}); err != nil {
		t.Fatal(err)
	}
	f, err := file.NewParquetReader(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for group, w := range want {
		var got [2]event
		for i := range 2 {
			chunk, err := f.MetaData().RowGroup(group).ColumnChunk(i)
			if err != nil {
				t.Fatal(err)
			}
			bounds, err := chunk.Statistics()
			if err != nil {
				t.Fatal(err)
			}
			for k, encoded := range [][]byte{bounds.EncodeMin(), bounds.EncodeMax()} {
				if i == 0 {
					got[k].Word = string(encoded)
				} else {
					got[k].N = int32(binary.LittleEndian.Uint32(encoded))
				}
			}
		}
		if got != w {
			t.Errorf("row group %d has the bounds %v, want %v", group, got, w)
		}
	}
}

// TestDurations checks that, of the types that NewReader of package rntarrow restores, durations are
// those that arrow-go does not write.
func TestDurations(t *testing.T) {
	types := []arrow.DataType{arrow.PrimitiveTypes.Date32, arrow.PrimitiveTypes.Date64, arrow.FixedWidthTypes.Float16,
		arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time64ns, arrow.FixedWidthTypes.Timestamp_s,
		arrow.FixedWidthTypes.Timestamp_ns, arrow.FixedWidthTypes.Duration_ms, &arrow.FixedSizeBinaryType{ByteWidth: 3},
		arrow.BinaryTypes.LargeBinary, arrow.BinaryTypes.LargeString}
	for _, of := range types[:len(types):len(types)] {
		types = append(types, arrow.MapOf(arrow.PrimitiveTypes.Int8, of), arrow.LargeListOf(of),
			arrow.StructOf(arrow.Field{Name: "x", Type: of}), arrow.FixedSizeListOfNonNullable(2, of))
	}
	for _, of := range types {
		s := arrow.NewSchema([]arrow.Field{{Name: "x", Type: of}}, nil)
		_, err := pqarrow.ToParquet(s, nil, pqarrow.DefaultWriterProps())
		if guard.HasDuration(of) != (err != nil) {
			t.Errorf("%v has a duration: %t, but arrow-go says %v", of, guard.HasDuration(of), err)
		}
	}
}
